//! Runs a plan: the posts that it is about, in order.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use futures_util::{StreamExt, TryStreamExt, stream};
use mcpress_catalog::source::OrderBy;
use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    plan::{Plan, Sort},
    relevance,
    selection::Selection,
    site::{AT_A_TIME, Listed, MAX_LISTED, PAGE, Parameters, Site, join, pair},
    slug, sticky,
};

/// What a query has found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// As REST gives them, without those that have a password.
    pub(super) posts: Vec<Value>,
    /// How many there are on all pages.
    pub(super) total: u64,
    /// How many were asked for and not given; one, where a site does not say how many there are.
    pub(super) left_out: u64,
}

/// Posts of one type, and which of the plan's selections they belong to.
type Head = (usize, Value);

/// Asks for the posts of a plan, with these parameters for what they hold.
pub(super) async fn find(
    site: &Site,
    client: &Client,
    plan: &Plan,
    content: &[(String, String)],
) -> Result<Found, FetchError> {
    let listed = async {
        match plan.selections.as_slice() {
            [] => Ok((Vec::new(), 0)),
            [selection] if selection.filter.is_empty() => match page(site, client, plan, selection, content).await? {
                Some(page) => Ok(page),
                None => gather(site, client, plan, content).await,
            },
            _ => gather(site, client, plan, content).await,
        }
    };
    let sticky = async {
        match &plan.sticky {
            Some(excluded) => Ok(Some((sticky::posts(site, client, content).await?, excluded))),
            None => Ok(None),
        }
    };
    let ((mut posts, total), sticky) = tokio::try_join!(listed, sticky)?;
    let wanted = plan.wanted.unwrap_or(u64::MAX).min(total.saturating_sub(plan.start));
    let left_out = wanted.saturating_sub(plan.limit);
    if let Some((first, excluded)) = sticky {
        sticky::to_front(&mut posts, first, excluded);
        // Of all posts, those in front are a part; they do not come on top of the limit.
        if left_out > 0 {
            posts.truncate(usize::try_from(plan.limit).unwrap_or(usize::MAX));
        }
    }
    posts.retain(|post| !is_protected(post));
    Ok(Found { posts, total, left_out })
}

/// The part of the list that is wanted, and the length of the list; `None` if equal posts may have changed places
/// between two requests.
async fn page(
    site: &Site,
    client: &Client,
    plan: &Plan,
    selection: &Selection,
    content: &[(String, String)],
) -> Result<Option<(Vec<Value>, u64)>, FetchError> {
    let parameters = [&selection.parameters, content, &sorted(selection, &plan.sort)].concat();
    let route = &selection.post_type.route;
    let listed = site.list(client, route, &parameters, plan.start, plan.limit).await?;
    if listed.pages > 1 && !are_distinct(&listed.items) {
        return Ok(None);
    }
    let known = plan.start + listed.items.len() as u64;
    let total = match listed.total {
        Some(total) => total,
        // Past the end, WordPress says that there are none at all.
        None if plan.start > 0 && listed.items.is_empty() => {
            let parameters = [selection.parameters.as_slice(), &[pair("_fields", "id")]].concat();
            let first = site.list(client, route, &parameters, 0, 1).await?;
            first.total.unwrap_or(first.items.len() as u64)
        }
        // Then it counts whether there is more.
        None if plan.wanted.is_none_or(|wanted| wanted > plan.limit) && known >= plan.limit => {
            let more = site.list(client, route, &parameters, known, 1).await?;
            known + more.items.len() as u64
        }
        None => known,
    };
    Ok(Some((listed.items, total)))
}

/// Takes the part that is wanted out of the merged and filtered lists of all selections, and asks for its posts by id.
async fn gather(
    site: &Site,
    client: &Client,
    plan: &Plan,
    content: &[(String, String)],
) -> Result<(Vec<Value>, u64), FetchError> {
    let mut lists = Vec::new();
    let mut total = 0;
    for selection in &plan.selections {
        let (list, length) = list(site, client, plan, selection).await?;
        lists.push(list);
        total += length;
    }
    let places = match (&plan.sort.search, plan.sort.by) {
        // Ascending, the older ones come first among those that are as relevant.
        (Some(search), OrderBy::Relevance) if lists.len() > 1 && plan.sort.descending => {
            places(site, client, plan, search).await?
        }
        _ => HashMap::new(),
    };
    let heads = merge(lists, &plan.sort, &places);
    let start = usize::try_from(plan.start).unwrap_or(usize::MAX);
    let limit = usize::try_from(plan.limit).unwrap_or(usize::MAX);
    let heads: Vec<Head> = heads.into_iter().skip(start).take(limit).collect();
    let posts = by_id(site, client, plan, &heads, content).await?;
    Ok((posts, total))
}

/// The list of one selection, with what is needed to sort and to filter it, and its length.
async fn list(
    site: &Site,
    client: &Client,
    plan: &Plan,
    selection: &Selection,
) -> Result<(Vec<Value>, u64), FetchError> {
    let key = key_field(plan.sort.by);
    let fields: Vec<&str> = ["id", key].into_iter().chain(selection.filter.fields()).collect();
    let fields = [pair("_fields", fields.join(","))];
    let route = &selection.post_type.route;
    let ask = async |order: Parameters, count: u64| {
        let parameters = [selection.parameters.as_slice(), &fields, &order].concat();
        let listed = site.list(client, route, &parameters, 0, count).await?;
        match listed.total {
            Some(total) if total > MAX_LISTED && count >= MAX_LISTED => {
                let what = format_args!("would have to list {total} posts for this query; {MAX_LISTED} are the most");
                Err(FetchError::upstream(&site.api.host(), what))
            }
            _ => Ok(listed),
        }
    };
    let all = !selection.filter.is_empty();
    let needed = if all { MAX_LISTED } else { plan.start.saturating_add(plan.limit).min(MAX_LISTED) };
    let mut listed = ask(sorted(selection, &plan.sort), needed).await?;
    if listed.pages > 1 && !are_distinct(&listed.items) {
        // No two posts have the same id, so that nothing can change places.
        listed = ask(vec![pair("orderby", "id"), pair("order", "desc")], MAX_LISTED).await?;
        listed.items.sort_by(|left, right| plan.sort.compare(left, right));
    }
    listed.items.retain(|post| selection.filter.admits(post));
    let length = listed.items.len() as u64;
    let total = if all { length } else { listed.total.unwrap_or(length) };
    Ok((listed.items, total))
}

/// The places of all posts that a search finds, of whatever type.
async fn places(site: &Site, client: &Client, plan: &Plan, search: &str) -> Result<HashMap<u64, usize>, FetchError> {
    let mut parameters = vec![pair("search", search), pair("_fields", "id"), pair("per_page", PAGE)];
    let searched = site.searched_types(client).await?;
    let types = plan.selections.iter().map(|selection| &selection.post_type.name);
    parameters.extend(types.filter(|name| searched.contains(name)).map(|name| pair("subtype[]", name)));
    let mut places = HashMap::new();
    for page in 1..=MAX_LISTED / PAGE {
        let parameters = [parameters.as_slice(), &[pair("page", page)]].concat();
        let answer = site.get(client, "/wp/v2/search", &parameters).await?;
        let found = super::site::ids(&answer.json);
        for id in &found {
            let place = places.len();
            places.entry(*id).or_insert(place);
        }
        let is_last = answer.total().map_or(found.len() < PAGE as usize, |total| total <= page * PAGE);
        if is_last {
            break;
        }
    }
    Ok(places)
}

/// The posts of these heads, in their order.
async fn by_id(
    site: &Site,
    client: &Client,
    plan: &Plan,
    heads: &[Head],
    content: &[(String, String)],
) -> Result<Vec<Value>, FetchError> {
    let mut requests = Vec::new();
    for (number, selection) in plan.selections.iter().enumerate() {
        let own = heads.iter().filter(|(head, _)| *head == number);
        let ids: Vec<u64> = own.filter_map(|(_, head)| head["id"].as_u64()).collect();
        for ids in ids.chunks(PAGE as usize) {
            requests.push((selection, [&selection.status, content, &[pair("include", join(ids))]].concat()));
        }
    }
    let mut asked = Vec::new();
    for (selection, parameters) in &requests {
        asked.push(site.list(client, &selection.post_type.route, parameters, 0, PAGE));
    }
    let found: Vec<Listed> = stream::iter(asked).buffered(AT_A_TIME).try_collect().await?;
    let found = found.into_iter().flat_map(|listed| listed.items);
    let id = |post: &Value| post["id"].as_u64();
    let mut found: HashMap<Option<u64>, Value> = found.map(|post| (id(&post), post)).collect();
    Ok(heads.iter().filter_map(|(_, head)| found.remove(&id(head))).collect())
}

/// Lists that are in order become one that is.
fn merge(lists: Vec<Vec<Value>>, sort: &Sort, places: &HashMap<u64, usize>) -> Vec<Head> {
    let place = |post: &Value| post["id"].as_u64().and_then(|id| places.get(&id)).copied().unwrap_or(usize::MAX);
    let compare = |left: &Value, right: &Value| match sort.by {
        OrderBy::Relevance if sort.descending => place(left).cmp(&place(right)),
        _ => sort.compare(left, right),
    };
    let mut merged: Vec<Head> = Vec::new();
    for (number, list) in lists.into_iter().enumerate() {
        let mut older = std::mem::take(&mut merged).into_iter().peekable();
        for post in list {
            while let Some(head) = older.next_if(|(_, head)| compare(head, &post) != Ordering::Greater) {
                merged.push(head);
            }
            merged.push((number, post));
        }
        merged.extend(older);
    }
    merged
}

fn sorted(selection: &Selection, sort: &Sort) -> Parameters {
    let order = pair("order", if sort.descending { "desc" } else { "asc" });
    let by = match sort.by {
        OrderBy::Date => "date",
        OrderBy::Modified => "modified",
        OrderBy::Id => "id",
        OrderBy::Author => "author",
        OrderBy::Title => "title",
        OrderBy::Name => "slug",
        OrderBy::Parent => "parent",
        OrderBy::PostIn => "include",
        OrderBy::Relevance => "relevance",
        OrderBy::MenuOrder => "menu_order",
    };
    // A type without this order has nothing to be ordered by.
    let by = if selection.post_type.orders.contains(by) { by } else { "date" };
    vec![pair("orderby", by), order]
}

/// The member of a post that it is sorted by.
fn key_field(by: OrderBy) -> &'static str {
    match by {
        OrderBy::Date => "date",
        OrderBy::Modified => "modified",
        OrderBy::Id | OrderBy::PostIn => "id",
        OrderBy::Relevance => "date,title",
        OrderBy::Author => "author",
        OrderBy::Title => "title",
        OrderBy::Name => "slug",
        OrderBy::Parent => "parent",
        OrderBy::MenuOrder => "menu_order",
    }
}

impl Sort {
    fn compare(&self, left: &Value, right: &Value) -> Ordering {
        let field = key_field(self.by);
        let number = |post: &Value| post[field].as_i64().unwrap_or_default();
        let text = |post: &Value| post[field].as_str().unwrap_or_default().to_owned();
        let title = |post: &Value| {
            let rendered = post["title"]["rendered"].as_str().unwrap_or_default();
            html_escape::decode_html_entities(rendered).into_owned()
        };
        let place = |post: &Value| self.list.iter().position(|id| post["id"].as_u64() == Some(*id));
        let ordering = match self.by {
            OrderBy::Relevance => {
                let rank = |post: &Value| self.search.as_deref().map(|search| relevance::rank(search, &title(post)));
                let by_rank = rank(left).cmp(&rank(right));
                let date = |post: &Value| post["date"].as_str().unwrap_or_default().to_owned();
                let by_date = date(left).cmp(&date(right));
                return by_rank.then(if self.descending { by_date.reverse() } else { by_date });
            }
            OrderBy::Date | OrderBy::Modified => text(left).cmp(&text(right)),
            OrderBy::Id | OrderBy::Author | OrderBy::Parent | OrderBy::MenuOrder => number(left).cmp(&number(right)),
            OrderBy::Title => slug::collate(&title(left), &title(right)),
            OrderBy::Name => slug::collate(&text(left), &text(right)),
            OrderBy::PostIn => place(left).cmp(&place(right)),
        };
        if self.descending { ordering.reverse() } else { ordering }
    }
}

fn are_distinct(posts: &[Value]) -> bool {
    let mut seen = HashSet::new();
    posts.iter().all(|post| seen.insert(post["id"].as_u64()))
}

/// A type without content says it of its excerpts.
fn is_protected(post: &Value) -> bool {
    ["content", "excerpt"].iter().any(|member| post[*member]["protected"] == Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use mcpress_catalog::source::OrderBy;
    use serde_json::json;

    use super::*;

    #[test]
    fn merges_lists_in_order() {
        let post = |id: u64, date: &str| json!({ "id": id, "date": date });
        let lists = vec![
            vec![post(1, "2024-03"), post(2, "2024-01")],
            vec![post(3, "2024-04"), post(4, "2024-02"), post(5, "2023-01")],
            vec![],
        ];
        let ids = |sort: &Sort, places: &HashMap<u64, usize>| {
            let merged = merge(lists.clone(), sort, places);
            merged.iter().map(|(_, post)| post["id"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let by_date = Sort { by: OrderBy::Date, descending: true, list: Vec::new(), search: None };
        assert_eq!(ids(&by_date, &HashMap::new()), [3, 1, 4, 2, 5]);
        let by_relevance = Sort { by: OrderBy::Relevance, descending: true, list: Vec::new(), search: None };
        assert_eq!(ids(&by_relevance, &[(1, 0), (3, 1), (2, 2), (4, 3)].into()), [1, 3, 2, 4, 5]);
    }
}
