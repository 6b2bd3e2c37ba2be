//! From the arguments of WP_Query to requests: what each post type is asked for, in which order, and which part of it.

use jiff::Timestamp;
use mcpress_catalog::source::{Order, OrderBy, PerPage};

use super::{
    super::{client::Client, error::FetchError},
    api,
    arguments::Arguments,
    dates, path,
    selection::{Builder, Selection},
    site::Site,
    slug,
    terms::Formula,
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
}

/// The order of the posts.
#[derive(Clone, Debug)]
pub(super) struct Sort {
    pub(super) by: OrderBy,
    pub(super) descending: bool,
    /// `post__in`
    pub(super) list: Vec<u64>,
    /// What is searched for.
    pub(super) search: Option<String>,
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
        let sort = Sort::new(arguments, search);
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
            let mut builder = Builder::new(post_type);
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
            selections.push(builder.finish(site, search, status)?);
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

impl Sort {
    fn new(arguments: &Arguments, search: Option<&str>) -> Self {
        let descending = arguments.order == Order::Desc;
        let list = arguments.post_in.clone();
        // What is only excluded is relevant to nothing.
        let sought = search.filter(|search| search.split_whitespace().any(|word| !word.starts_with('-')));
        let (by, descending) = match arguments.order_by {
            Some(OrderBy::Relevance) if sought.is_none() => (OrderBy::Date, descending),
            // WordPress drops the order together with what it does not know.
            Some(OrderBy::PostIn) if list.is_empty() => (OrderBy::Date, false),
            Some(OrderBy::PostIn) => (OrderBy::PostIn, false),
            Some(by) => (by, descending),
            None if sought.is_some() => (OrderBy::Relevance, descending),
            None => (OrderBy::Date, descending),
        };
        Self { by, descending, list, search: search.map(str::to_owned) }
    }
}
