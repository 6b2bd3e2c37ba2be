//! From the arguments of WP_Query to requests: what each post type is asked for, in which order, and which part of it.

use std::sync::Arc;

use jiff::Timestamp;
use mcpress_catalog::source::{Order, OrderBy, PerPage};
use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    api,
    arguments::Arguments,
    dates::{self, Bound},
    path::{self, Page},
    site::{Parameters, PostType, Site, join, pair},
    slug,
    terms::{Check, Formula, Selected},
};

/// Longer searches are dropped by WordPress, which then gives everything.
const MAX_SEARCH: usize = 1600;

/// What has to be done for a query.
pub(super) struct Plan {
    /// One for each post type that can hold posts.
    pub(super) selections: Vec<Selection>,
    pub(super) sort: Sort,
    /// Posts to pass over.
    pub(super) start: u64,
    /// Posts that are wanted, if not all, and that are given at most.
    pub(super) wanted: Option<u64>,
    pub(super) limit: u64,
    /// The posts that may not be put in front, if sticky ones are.
    pub(super) sticky: Option<Vec<u64>>,
    /// What was searched for.
    pub(super) search: Option<String>,
}

/// Posts of one type.
pub(super) struct Selection {
    pub(super) post_type: Arc<PostType>,
    pub(super) parameters: Parameters,
    /// The status alone, for posts that are asked for by id.
    pub(super) status: Parameters,
    pub(super) filter: Filter,
}

/// What REST cannot say is looked up in the posts.
#[derive(Default)]
pub(super) struct Filter {
    terms: Option<Check>,
    dates: Vec<Bound>,
}

/// The order of the posts.
#[derive(Clone, Debug)]
pub(super) struct Sort {
    pub(super) by: OrderBy,
    pub(super) descending: bool,
    /// `post__in`
    pub(super) list: Vec<u64>,
}

impl Plan {
    /// Looks up what the requests need to know.
    pub(super) async fn new(
        site: &Site,
        client: &Client,
        arguments: &Arguments,
        max_items: u64,
    ) -> Result<Self, FetchError> {
        let singular = arguments.is_singular();
        let formula = if singular {
            Formula::default()
        } else {
            Formula::new(site, client, arguments.relation, &arguments.clauses).await?
        };
        let page = match (&arguments.pagename, &arguments.name, arguments.page_id) {
            (Some(page), None, None) => Some(path::page(site, client, page, &arguments.post_type, arguments).await?),
            _ => None,
        };
        let search = arguments.search.as_deref().filter(|search| !search.trim().is_empty());
        if let Some(search) = search {
            check_search(site, search)?;
        }
        let types = match &page {
            Some(Some(page)) if arguments.post_type.is_empty() || page.post_type == "attachment" => {
                vec![page.post_type.clone()]
            }
            _ => types(site, client, arguments, &formula).await?,
        };
        let sort = Sort::new(arguments, search.is_some());
        let bounds = match &arguments.dates {
            // `page_id` drops these conditions.
            Some(dates) if arguments.page_id.is_none() => {
                dates::bounds(dates, &site.time_zone(client).await?, Timestamp::now())
            }
            _ => Vec::new(),
        };
        let author = match &arguments.author_name {
            Some(name) => Some(site.user(client, &slug::for_query(last_part(name))).await?),
            None => None,
        };
        let mut selections = Vec::new();
        for name in &types {
            let post_type = site.post_type(client, name).await?;
            let mut builder =
                Builder { post_type: &post_type, parameters: Parameters::new(), filter: Filter::default() };
            let Some(status) = builder.status(arguments) else { continue };
            let possible = builder.ids(arguments, page.as_ref().map(Option::as_ref))
                && builder.parents(arguments)
                && builder.authors(site, arguments, author)?
                && builder.sticky(arguments)
                && builder.terms(&formula);
            if !possible {
                continue;
            }
            if !bounds.is_empty() {
                builder.dates(&bounds, &site.time_zone(client).await?);
            }
            builder.parameters.extend(search.map(|search| pair("search", search)));
            let Builder { mut parameters, filter, .. } = builder;
            parameters.extend(status.clone());
            let selection = Selection { post_type, parameters, status, filter };
            selection.check(site)?;
            selections.push(selection);
        }
        let is_home = !singular
            && arguments.search.is_none()
            && !arguments.has_author
            && arguments.author_name.is_none()
            && !formula.is_positive;
        let (start, wanted, first_page) = match arguments.per_page {
            _ if singular => (0, None, false),
            PerPage::All => (0, None, true),
            PerPage::Count(count) => {
                let count = u64::from(count.get());
                let start = arguments.offset.unwrap_or((arguments.paged - 1).saturating_mul(count));
                (start, Some(count), arguments.paged <= 1)
            }
        };
        let moves = is_home && first_page && !arguments.ignore_sticky_posts && arguments.sticky.is_none();
        Ok(Self {
            sticky: (moves && types.iter().any(|name| name == "post")).then(|| arguments.post_not_in.clone()),
            selections,
            sort,
            start,
            wanted,
            limit: match wanted {
                Some(wanted) if !arguments.per_page_is_chosen => wanted,
                Some(wanted) => wanted.min(max_items),
                None => max_items,
            },
            search: search.map(str::to_owned),
        })
    }
}

/// The post types that are asked.
async fn types(
    site: &Site,
    client: &Client,
    arguments: &Arguments,
    formula: &Formula,
) -> Result<Vec<String>, FetchError> {
    if !arguments.post_type.is_empty() {
        let mut types = arguments.post_type.clone();
        types.sort_unstable();
        types.dedup();
        return Ok(types);
    }
    if arguments.is_singular() {
        let is_page = arguments.p.is_none() && arguments.name.is_none();
        return Ok(vec![if is_page { "page" } else { "post" }.to_owned()]);
    }
    if arguments.search.is_none() && !formula.of_custom_taxonomy {
        return Ok(vec!["post".to_owned()]);
    }
    let mut types = site.searched_types(client).await?;
    types.push("attachment".to_owned());
    if formula.of_custom_taxonomy {
        types.retain(|name| formula.types.contains(name));
    }
    types.dedup();
    Ok(types)
}

/// WordPress takes what looks like a tag or a percent-encoded byte out of a search over REST.
fn check_search(site: &Site, search: &str) -> Result<(), FetchError> {
    if search.len() > MAX_SEARCH {
        return Err(FetchError::not_found());
    }
    let octet = |at: usize| {
        search.as_bytes().get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if search.contains('<') || search.match_indices('%').any(|(at, _)| octet(at)) {
        let search = api::excerpt(search);
        return Err(FetchError::upstream(&site.api.host(), format_args!("cannot be searched for `{search}`")));
    }
    Ok(())
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Gathers what is asked of the posts of one type. A method that says `false` has found that there can be none.
struct Builder<'a> {
    post_type: &'a PostType,
    parameters: Parameters,
    filter: Filter,
}

impl Builder<'_> {
    fn add(&mut self, name: &str, value: impl ToString) {
        self.parameters.push(pair(name, value));
    }

    fn takes(&self, parameter: &str) -> bool {
        self.post_type.parameters.contains(parameter)
    }

    /// `None` if there can be none: media have statuses of their own.
    fn status(&self, arguments: &Arguments) -> Option<Parameters> {
        let media = self.post_type.name == "attachment";
        let asked: Vec<&str> = arguments.post_status.iter().map(String::as_str).collect();
        if asked.is_empty() {
            return (!media || arguments.is_singular()).then(Parameters::new);
        }
        let possible = |status: &&str| media == (*status == "inherit") || matches!(*status, "private" | "trash");
        let asked: Vec<&str> = asked.into_iter().filter(possible).collect();
        match asked.as_slice() {
            [] => None,
            ["publish"] | ["inherit"] => Some(Parameters::new()),
            _ => Some(vec![pair("status", asked.join(","))]),
        }
    }

    fn ids(&mut self, arguments: &Arguments, page: Option<Option<&Page>>) -> bool {
        if let Some(id) = arguments.page_id {
            self.add("include", id);
            return true;
        }
        let names: Vec<String> = match &arguments.name {
            Some(name) => vec![slug::for_query(name.trim())],
            None if page.is_some() => Vec::new(),
            None => arguments.post_name_in.iter().map(|name| slug::for_query(name)).collect(),
        };
        if !names.is_empty() {
            // A slug that comes to nothing would ask for everything.
            let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            if names.is_empty() {
                return false;
            }
            self.add("slug", names.join(","));
        }
        let mut include = match arguments.p {
            Some(id) => vec![id],
            None => arguments.post_in.clone(),
        };
        if let Some(page) = page {
            let Some(page) = page else { return false };
            let listed =
                if include.is_empty() { !arguments.post_not_in.contains(&page.id) } else { include.contains(&page.id) };
            // Media at the end of a path are asked for as with `p`, which drops these conditions.
            if !listed && page.post_type != "attachment" {
                return false;
            }
            include = vec![page.id];
        }
        if !include.is_empty() {
            self.add("include", join(&include));
        } else if !arguments.post_not_in.is_empty() {
            self.add("exclude", join(&arguments.post_not_in));
        }
        true
    }

    /// The first of the three arguments counts. Types without a tree have everything at the top.
    fn parents(&mut self, arguments: &Arguments) -> bool {
        if arguments.page_id.is_some() {
            return true;
        }
        let wanted = arguments.post_parent.map_or_else(|| arguments.post_parent_in.clone(), |parent| vec![parent]);
        let excluded = &arguments.post_parent_not_in;
        if !self.takes("parent") {
            return if wanted.is_empty() { !excluded.contains(&0) } else { wanted.contains(&0) };
        }
        if !wanted.is_empty() {
            self.add("parent", join(&wanted));
        } else if !excluded.is_empty() {
            self.add("parent_exclude", join(excluded));
        }
        true
    }

    /// `author` is what `author_name` was found to be, if it was given.
    fn authors(&mut self, site: &Site, arguments: &Arguments, author: Option<Option<u64>>) -> Result<bool, FetchError> {
        let (included, excluded) = (&arguments.author_in, &arguments.author_not_in);
        if author.is_none() && included.is_empty() && excluded.is_empty() {
            return Ok(true);
        }
        if !self.takes("author") {
            // Of the types that nobody named, those that can be asked.
            if arguments.post_type.is_empty() {
                return Ok(false);
            }
            let what = format_args!("does not say who wrote its posts of the type `{}`", self.post_type.name);
            return Err(FetchError::upstream(&site.api.host(), what));
        }
        match author {
            Some(None) => return Ok(false),
            Some(Some(id)) => {
                let listed = if excluded.is_empty() {
                    included.is_empty() || included.contains(&id)
                } else {
                    !excluded.contains(&id)
                };
                self.add("author", id);
                return Ok(listed);
            }
            None if excluded.is_empty() => self.add("author", join(included)),
            None => self.add("author_exclude", join(excluded)),
        }
        Ok(true)
    }

    fn sticky(&mut self, arguments: &Arguments) -> bool {
        match arguments.sticky {
            Some(sticky) if self.takes("sticky") => self.add("sticky", sticky),
            Some(true) => return false,
            _ => {}
        }
        true
    }

    fn terms(&mut self, formula: &Formula) -> bool {
        match formula.select(self.post_type) {
            Selected::None => false,
            Selected::Some(parameters, check) => {
                self.parameters.extend(parameters);
                self.filter.terms = check;
                true
            }
        }
    }

    fn dates(&mut self, bounds: &[Bound], time_zone: &jiff::tz::TimeZone) {
        for bound in bounds {
            let (parameter, again) = bound.parameter(time_zone);
            self.parameters.extend(parameter);
            if again {
                self.filter.dates.push(bound.clone());
            }
        }
    }
}

impl Selection {
    /// What a site does not know it ignores, and then gives everything.
    fn check(&self, site: &Site) -> Result<(), FetchError> {
        for (name, _) in &self.parameters {
            let name = name.split('[').next().unwrap_or_default();
            if !self.post_type.parameters.contains(name) {
                let host = site.api.host();
                let route = &self.post_type.route;
                return Err(FetchError::upstream(&host, format_args!("has no parameter `{name}` for `{route}`")));
            }
        }
        Ok(())
    }
}

impl Filter {
    /// True if it lets everything through.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_none() && self.dates.is_empty()
    }

    /// The members of a post that it needs.
    pub(super) fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<&str> = self.dates.iter().map(Bound::field).collect();
        fields.extend(self.terms.iter().flat_map(Check::fields));
        fields
    }

    /// True if a post is one of those.
    pub(super) fn admits(&self, post: &Value) -> bool {
        self.terms.as_ref().is_none_or(|check| check.admits(post)) && self.dates.iter().all(|bound| bound.admits(post))
    }
}

impl Sort {
    fn new(arguments: &Arguments, search: bool) -> Self {
        let descending = arguments.order == Order::Desc;
        let list = arguments.post_in.clone();
        let (by, descending) = match arguments.order_by {
            Some(OrderBy::Relevance) if !search => (OrderBy::Date, descending),
            // WordPress drops the order together with what it does not know.
            Some(OrderBy::PostIn) if list.is_empty() => (OrderBy::Date, false),
            Some(OrderBy::PostIn) => (OrderBy::PostIn, false),
            Some(by) => (by, descending),
            None if search => (OrderBy::Relevance, descending),
            None => (OrderBy::Date, descending),
        };
        Self { by, descending, list }
    }
}
