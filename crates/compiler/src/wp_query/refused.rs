//! What WP_Query takes and the REST API has no form for, each with its reason and what to do in its place.

/// Names that are refused for one reason.
pub(super) struct Refusal {
    pub(super) names: &'static [&'static str],
    pub(super) reason: &'static str,
    pub(super) hint: &'static str,
}

const fn refusal(names: &'static [&'static str], reason: &'static str, hint: &'static str) -> Refusal {
    Refusal { names, reason, hint }
}

const NO_FILTER: &str = "the WordPress REST API has no filter for it";
const META_HINT: &str =
    "register the meta key on the site and read it with `fields: [meta.KEY]`, or filter in `template`";
const DATE_HINT: &str = "write a range: `date_query: {after: 2025-12-31, before: 2027-01-01}`";
const REST_NAME: &str = "this is the name of the REST API, not of WP_Query";
const GET_POSTS_NAME: &str = "this is the name of `get_posts()`, not of WP_Query";
const NO_MEANING: &str = "it tunes WP_Query inside WordPress and has no meaning from outside";

/// Keys of `query`.
pub(super) const ARGUMENTS: &[Refusal] = &[
    refusal(
        &[
            "meta_query",
            "meta_key",
            "meta_value",
            "meta_value_num",
            "meta_compare",
            "meta_compare_key",
            "meta_type",
            "meta_type_key",
        ],
        NO_FILTER,
        META_HINT,
    ),
    refusal(&["year", "monthnum", "w", "day", "hour", "minute", "second", "m"], NO_FILTER, DATE_HINT),
    refusal(&["fields"], "what is read of each post does not belong to the query", "write `fields` beside `query`"),
    refusal(&["nopaging"], "it is `posts_per_page` in other words", "write `posts_per_page: -1`"),
    refusal(&["posts_per_archive_page"], "from outside no query is an archive page", "write `posts_per_page`"),
    refusal(&["page"], "in WP_Query it is a page inside one post, which REST gives whole", "did you mean `paged`?"),
    refusal(&["title"], NO_FILTER, "look the post up by its slug with `name`, or search with `s`"),
    refusal(&["exact", "sentence"], "the search of the REST API cannot be told how to match", "search with `s` alone"),
    refusal(
        &["search_columns"],
        "sites before WordPress 6.3 would ignore it and search everywhere",
        "search with `s` alone",
    ),
    refusal(&["menu_order"], NO_FILTER, "order by it with `orderby: menu_order`"),
    refusal(
        &["comment_count", "comment_status", "ping_status"],
        NO_FILTER,
        "read it with `fields` and filter in `template`",
    ),
    refusal(
        &["has_password", "post_password"],
        "posts with a password are always left out, for REST does not give their content",
        "remove it",
    ),
    refusal(
        &["perm"],
        "what may be read follows from `auth`",
        "give `auth`, and `post_status` for more than what is published",
    ),
    refusal(&["post_mime_type"], NO_FILTER, "read `mime_type` with `fields` and filter in `template`"),
    refusal(
        &["tag_slug__in", "tag_slug__and"],
        "tags by slug have a shorter form",
        "write `tag: \"a,b\"` for one of them, `tag: \"a+b\"` for all of them",
    ),
    refusal(
        &["taxonomy", "term", "taxonomies", "terms"],
        "it is not part of WP_Query any more",
        "write `tax_query: [{taxonomy: genre, field: slug, terms: [jazz]}]`",
    ),
    refusal(
        &["attachment", "attachment_id", "subpost", "subpost_id"],
        "attachments are posts of a type of their own",
        "write `post_type: attachment`, `post_status: inherit`, and `p` or `name`",
    ),
    refusal(
        &[
            "suppress_filters",
            "cache_results",
            "update_post_meta_cache",
            "update_post_term_cache",
            "update_menu_item_cache",
            "lazy_load_term_meta",
            "no_found_rows",
            "comments_per_page",
            "cache_domain",
        ],
        NO_MEANING,
        "remove it",
    ),
    refusal(
        &[
            "feed",
            "tb",
            "embed",
            "preview",
            "error",
            "static",
            "cpage",
            "robots",
            "favicon",
            "withcomments",
            "withoutcomments",
            "calendar",
            "more",
            "sitemap",
        ],
        "it belongs to WordPress's own addresses, not to a query for posts",
        "remove it",
    ),
    refusal(&["numberposts", "showposts"], GET_POSTS_NAME, "write `posts_per_page`"),
    refusal(&["category"], GET_POSTS_NAME, "write `cat` with ids, or `category_name` with slugs"),
    refusal(&["caller_get_posts"], GET_POSTS_NAME, "write `ignore_sticky_posts`"),
    refusal(&["include"], REST_NAME, "write `post__in`"),
    refusal(&["exclude"], REST_NAME, "write `post__not_in`"),
    refusal(&["per_page"], REST_NAME, "write `posts_per_page`"),
    refusal(&["search"], REST_NAME, "write `s`"),
    refusal(&["slug"], REST_NAME, "write `name` for one post, `post_name__in` for several"),
    refusal(&["id", "ID"], REST_NAME, "write `p`"),
    refusal(&["type"], REST_NAME, "write `post_type`"),
    refusal(&["status"], REST_NAME, "write `post_status`"),
    refusal(&["parent"], REST_NAME, "write `post_parent`"),
    refusal(&["parent_exclude"], REST_NAME, "write `post_parent__not_in`"),
    refusal(&["author_exclude"], REST_NAME, "write `author__not_in`"),
    refusal(&["categories"], REST_NAME, "write `category__in`, or `cat` for children too"),
    refusal(&["categories_exclude"], REST_NAME, "write `category__not_in`"),
    refusal(&["tags"], REST_NAME, "write `tag__in`"),
    refusal(&["tags_exclude"], REST_NAME, "write `tag__not_in`"),
    refusal(&["tax_relation"], REST_NAME, "write `tax_query: {relation: OR, clauses: […]}`"),
    refusal(&["after", "before"], REST_NAME, DATE_HINT),
    refusal(
        &["modified_after", "modified_before"],
        REST_NAME,
        "write `date_query: {column: post_modified, after: 2025-12-31}`",
    ),
    refusal(&["ignore_sticky"], REST_NAME, "write `ignore_sticky_posts`"),
];

/// Values of `orderby`.
pub(super) const ORDERS: &[Refusal] = &[
    refusal(&["meta_value", "meta_value_num"], "the REST API cannot order by meta values", META_HINT),
    refusal(
        &["rand"],
        "the REST API cannot order at random",
        "order by `date`, or ask for a few and pick in `template`",
    ),
    refusal(&["comment_count"], "the REST API cannot order by the number of comments", "order by `date` or `title`"),
    refusal(&["none"], "the REST API always orders", "leave `orderby` out for the newest first"),
    refusal(
        &["post_name__in", "post_parent__in", "type"],
        "the REST API cannot order by it",
        "`post__in` keeps the order of its ids",
    ),
    refusal(&["post_date"], "WordPress has a shorter name for it", "write `date`"),
    refusal(&["post_modified"], "WordPress has a shorter name for it", "write `modified`"),
    refusal(&["post_title"], "WordPress has a shorter name for it", "write `title`"),
    refusal(&["post_name"], "WordPress has a shorter name for it", "write `name`"),
    refusal(&["post_author"], "WordPress has a shorter name for it", "write `author`"),
    refusal(&["post_parent"], "WordPress has a shorter name for it", "write `parent`"),
];

/// Keys of a clause of `tax_query`.
pub(super) const CLAUSE: &[Refusal] = &[
    refusal(
        &["relation", "clauses"],
        "clauses inside of clauses have no form in the REST API",
        "keep one level: `{relation: AND|OR, clauses: […]}`",
    ),
    refusal(&["compare"], "clauses of a `tax_query` have another name for it", "write `operator`"),
];

/// Keys of `date_query`.
pub(super) const DATES: &[Refusal] = &[
    refusal(
        &[
            "year",
            "month",
            "monthnum",
            "week",
            "w",
            "day",
            "hour",
            "minute",
            "second",
            "dayofweek",
            "dayofweek_iso",
            "dayofyear",
            "compare",
        ],
        "the REST API knows ranges of dates only",
        "write `after` and `before`; both may be a year, a month or a day",
    ),
    refusal(&["relation"], "the REST API knows one range of dates only", "write one range with `after` and `before`"),
];
