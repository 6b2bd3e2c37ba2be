//! `wp_query.query`: WP_Query's arguments, checked and typed.
//!
//! Values are as loose as WordPress's: ids may be texts, booleans `1` and `0`, and what WordPress divides at commas is
//! divided here. In an entry with `uri_template`, `{name}` in a value stands for an argument, save in `post_status`, in
//! booleans, and in the words of `tax_query` and `date_query` that are not terms or dates: those say what may be seen,
//! and their author says it.

use std::collections::BTreeMap;

use mcpress_catalog::source::{OrderBy, Param, PostType, Query, SignedId, is_key};

use super::{
    date_query::date_query,
    reader::{Place, Reader},
    refused,
    slugs::{category_slugs, tag_slugs},
    tax_query::tax_query,
    written::Written,
};
use crate::diagnostic::nearest;

pub(super) const ID: &str = "an id (a whole number from 1)";
const PARENT: &str = "an id, or 0 for posts at the top";
pub(super) const SLUG: &str = "a slug";

/// The arguments that are known.
pub(super) const ARGUMENTS: &[&str] = &[
    "post_type",
    "post_status",
    "p",
    "name",
    "page_id",
    "pagename",
    "posts_per_page",
    "paged",
    "offset",
    "order",
    "orderby",
    "s",
    "post__in",
    "post__not_in",
    "post_name__in",
    "post_parent",
    "post_parent__in",
    "post_parent__not_in",
    "author",
    "author_name",
    "author__in",
    "author__not_in",
    "cat",
    "category_name",
    "category__in",
    "category__and",
    "category__not_in",
    "tag",
    "tag_id",
    "tag__in",
    "tag__and",
    "tag__not_in",
    "tax_query",
    "date_query",
    "ignore_sticky_posts",
    "sticky",
];
/// The arguments that ask for one post.
const SINGLE: [&str; 4] = ["p", "page_id", "name", "pagename"];

type Places<'w> = BTreeMap<&'w str, (Place, &'w Written)>;

/// Types the arguments. What is wrong is reported and left out.
pub(super) fn lower<'w>(written: &'w Written, place: &Place, reader: &mut Reader<'_, '_>) -> (Query, Places<'w>) {
    let mut query = Query::default();
    let Written::Mapping(members) = written else {
        reader.expected(place, "a mapping of WP_Query's arguments", written);
        return (query, BTreeMap::new());
    };
    let otherwise = "arguments are called as in WP_Query; a taxonomy of the site's own goes into `tax_query`";
    let places = reader.members(place, members, ARGUMENTS, refused::ARGUMENTS, otherwise);
    for (name, (place, value)) in &places {
        let (place, value) = (place, *value);
        match *name {
            "post_type" => query.post_type = post_types(reader, place, value),
            "post_status" => query.post_status = statuses(reader, place, value),
            "p" => query.p = reader.param(place, ID, value),
            "name" => query.name = reader.param(place, SLUG, value),
            "page_id" => query.page_id = reader.param(place, ID, value),
            "pagename" => query.pagename = reader.param(place, "the path of a page", value),
            "posts_per_page" => {
                query.posts_per_page = reader.param(place, "a whole number from 1, or `-1` for all", value);
            }
            "paged" => query.paged = reader.param(place, "a whole number from 1", value),
            "offset" => query.offset = reader.param(place, "a whole number from 0", value),
            "order" => query.order = reader.param(place, "`ASC` or `DESC`", value),
            "orderby" => query.order_by = order_by(reader, place, value),
            "s" => query.search = reader.param(place, "text", value),
            "post__in" => query.post_in = reader.list(place, ID, value),
            "post__not_in" => query.post_not_in = reader.list(place, ID, value),
            "post_name__in" => query.post_name_in = reader.list(place, SLUG, value),
            "post_parent" => query.post_parent = reader.param(place, PARENT, value),
            "post_parent__in" => query.post_parent_in = reader.list(place, PARENT, value),
            "post_parent__not_in" => query.post_parent_not_in = reader.list(place, PARENT, value),
            "author" => query.author = signed_ids(reader, place, value, "author__in"),
            "author_name" => query.author_name = reader.param(place, "an author's slug (`user_nicename`)", value),
            "author__in" => query.author_in = reader.list(place, ID, value),
            "author__not_in" => query.author_not_in = reader.list(place, ID, value),
            "cat" => query.cat = signed_ids(reader, place, value, "category__in"),
            "category_name" => query.category_name = category_slugs(reader, place, value),
            "category__in" => query.category_in = reader.list(place, ID, value),
            "category__and" => query.category_and = reader.list(place, ID, value),
            "category__not_in" => query.category_not_in = reader.list(place, ID, value),
            "tag" => query.tag = tag_slugs(reader, place, value),
            "tag_id" => query.tag_id = reader.param(place, ID, value),
            "tag__in" => query.tag_in = reader.list(place, ID, value),
            "tag__and" => query.tag_and = reader.list(place, ID, value),
            "tag__not_in" => query.tag_not_in = reader.list(place, ID, value),
            "tax_query" => query.tax_query = tax_query(reader, place, value),
            "date_query" => query.date_query = date_query(reader, place, value),
            "ignore_sticky_posts" => query.ignore_sticky_posts = reader.boolean(place, value).unwrap_or_default(),
            "sticky" => query.sticky = reader.boolean(place, value),
            _ => {}
        }
    }
    check_together(&query, &places, reader);
    (query, places)
}

/// Reports arguments that cannot stand together.
fn check_together(query: &Query, places: &Places<'_>, reader: &mut Reader<'_, '_>) {
    let mut single = SINGLE.iter().filter_map(|name| Some((name, &places.get(name)?.0)));
    if let (Some((first, _)), Some((second, place))) = (single.next(), single.next()) {
        let message = format!("`{first}` and `{second}` both ask for one post");
        reader.error(place, message).with_hint("keep one of them");
    }
    if let (Some(Param::Value(OrderBy::PostIn)), Some((place, _)), None) =
        (&query.order_by, places.get("orderby"), places.get("post__in"))
    {
        reader.error(place, "there is no `post__in` whose order it could keep").with_hint("give `post__in`");
    }
    let sticky_type = |post_type: &Param<PostType>| match post_type {
        Param::Value(PostType(name)) => name == "post",
        Param::Template(_) => true,
    };
    if let Some((place, _)) = places.get("sticky")
        && !query.post_type.iter().all(sticky_type)
    {
        reader.error(place, "only posts of the type `post` can be sticky").with_hint("leave `sticky` out");
    }
}

fn post_types(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Vec<Param<PostType>> {
    const EXPECTED: &str = "the name of a post type, such as `post`";
    let mut types = Vec::new();
    for (place, item) in reader.one_or_list(place, EXPECTED, value) {
        if matches!(item, Written::Scalar(text) if text == "any") {
            let hint = "name the types, such as `[post, page]`";
            reader.error(&place, "the WordPress REST API has no route for all types at once").with_hint(hint);
            continue;
        }
        if let Written::Scalar(text) = item
            && text.contains(',')
        {
            let hint = format!("write a list: `[{text}]`");
            reader.error(&place, format!("expected {EXPECTED}, found `{text}`")).with_hint(&hint);
            continue;
        }
        types.extend(reader.param(&place, EXPECTED, item));
    }
    types
}

fn statuses(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Vec<String> {
    const KNOWN: [&str; 8] = ["publish", "future", "draft", "pending", "private", "trash", "inherit", "any"];
    const EXPECTED: &str = "a status, such as `publish`";
    let mut statuses = Vec::new();
    for (place, item) in reader.one_or_list(place, EXPECTED, value) {
        let Some(text) = reader.scalar(&place, EXPECTED, item) else { continue };
        for status in text.split(',').map(str::trim) {
            match nearest(status, KNOWN) {
                Some(near) if near != status => {
                    reader
                        .error(&place, format!("unknown status `{status}`"))
                        .with_hint(&format!("did you mean `{near}`?"));
                }
                _ if is_key(status) => statuses.push(status.to_owned()),
                _ => reader.expected(&place, EXPECTED, item),
            }
        }
    }
    statuses
}

fn order_by(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Param<OrderBy>> {
    const ONE: &str = "the REST API orders by one thing";
    let text = match value {
        Written::Scalar(text) => text.trim(),
        Written::Mapping(_) | Written::List(_) if value.unquoted_placeholder().is_none() => {
            reader.error(place, ONE).with_hint("keep one, such as `orderby: title` with `order: ASC` beside it");
            return None;
        }
        _ => {
            reader.expected(place, "the name of an order", value);
            return None;
        }
    };
    if reader.is_template(place, text)? {
        return Some(Param::Template(text.to_owned()));
    }
    if let Ok(order) = text.parse() {
        return Some(Param::Value(order));
    }
    let base = text.split('(').next().unwrap_or(text).to_ascii_lowercase();
    if let Some(refusal) = refused::ORDERS.iter().find(|refusal| refusal.names.contains(&base.as_str())) {
        reader.error(place, refusal.reason).with_hint(refusal.hint);
    } else if text.contains([' ', ',']) {
        reader.error(place, ONE).with_hint("keep one of them");
    } else {
        let hint = match nearest(text, OrderBy::NAMES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", OrderBy::NAMES.join(", ")),
        };
        reader.error(place, format!("unknown order `{text}`")).with_hint(&hint);
    }
    None
}

/// `author` and `cat`, which WordPress divides at commas.
fn signed_ids(reader: &mut Reader<'_, '_>, place: &Place, value: &Written, list_name: &str) -> Vec<SignedId> {
    const EXPECTED: &str = "ids with commas between, such as `\"1,2,-3\"`";
    if let Written::List(_) = value {
        let hint = format!("write one text, or give the list to `{list_name}`");
        reader.error(place, format!("expected {EXPECTED}, found a list")).with_hint(&hint);
        return Vec::new();
    }
    let Some(text) = reader.scalar(place, EXPECTED, value) else { return Vec::new() };
    let signed = |part: &str| {
        let id = part.strip_prefix('-');
        Some(SignedId { excluded: id.is_some(), id: reader.typed(place, EXPECTED, id.unwrap_or(part))? })
    };
    text.split(',').map(str::trim).filter_map(signed).collect()
}
