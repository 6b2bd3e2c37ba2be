//! The JSON Schema of `query` and `fields` of a `wp_query`, which are read value by value and not by a struct.

use mcpress_catalog::source::{OrderBy, PostField};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::fields::OTHER_NAMES;
use crate::schema::TEXT;

/// `query`, a mapping of WP_Query's arguments.
pub(super) fn query(_: &mut SchemaGenerator) -> Schema {
    let properties = arguments().into_iter().map(|(name, schema, description)| {
        let mut described = Map::from_iter([("description".to_owned(), description.into())]);
        described.extend(schema.as_object().cloned().unwrap_or_default());
        (name.to_owned(), described.into())
    });
    json_schema!({ "type": "object", "properties": Map::from_iter(properties), "additionalProperties": false })
}

/// `fields`, a list whose items are names of fields, or `{output_name: field}`.
pub(super) fn fields(_: &mut SchemaGenerator) -> Schema {
    let others = OTHER_NAMES.map(|(name, _)| name).join("|");
    let name = json!({
        "type": "string",
        "pattern": format!(r"^(?!({others})$)([A-Za-z][^.]*|(meta|acf)\..+)$"),
        "errorMessage": "a field is a top-level member of what REST gives, `meta.KEY` or `acf.KEY`",
        "examples": PostField::NAMES,
    });
    let renamed = json!({ "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": name });
    json_schema!({ "type": "array", "items": { "anyOf": [name, renamed] }, "minItems": 1 })
}

/// The arguments, each with its values and what an editor says of it.
fn arguments() -> [(&'static str, Value, &'static str); 36] {
    [
        ("post_type", one_or_list(&post_type()), "The name of a post type, or a list of them. Default: `post`."),
        ("post_status", one_or_list(&status()), "A status, or a list; all but `publish` need `auth`."),
        ("p", id(), "The post of this id."),
        ("name", slug(), "The post of this slug."),
        ("page_id", id(), "The page of this id."),
        ("pagename", slug(), "The page of this path, such as `about/team`."),
        ("posts_per_page", per_page(), "How many posts; `-1` for all, up to `max_items`. Default: 10."),
        ("paged", id(), "Which page of the posts, from 1."),
        ("offset", number(), "How many posts to pass over; it wins over `paged`."),
        ("order", words(&["ASC", "DESC"], true), "`ASC` or `DESC`. Default: `DESC`."),
        ("orderby", order_by(), "What the posts are ordered by. Default: `date`."),
        ("s", json!({ "type": TEXT }), "What to search for."),
        ("post__in", list(&id()), "Only the posts of these ids."),
        ("post__not_in", list(&id()), "None of the posts of these ids."),
        ("post_name__in", list(&slug()), "Only the posts of these slugs."),
        ("post_parent", number(), "Only children of this post; 0 for posts at the top."),
        ("post_parent__in", list(&number()), "Only children of these posts; 0 for posts at the top."),
        ("post_parent__not_in", list(&number()), "No children of these posts."),
        ("author", signed_ids(), "Ids of authors with commas between; those with a `-` are left out."),
        ("author_name", slug(), "An author's slug (`user_nicename`)."),
        ("author__in", list(&id()), "Only posts of these authors, by id."),
        ("author__not_in", list(&id()), "No posts of these authors, by id."),
        (
            "cat",
            signed_ids(),
            "Ids of categories, children included, with commas between; those with a `-` are left out.",
        ),
        ("category_name", slugs(), "Slugs of categories, children included: `a,b` for one of them, `a+b` for all."),
        ("category__in", list(&id()), "Posts of one of these categories, by id, children not included."),
        ("category__and", list(&id()), "Posts of all of these categories, by id, children not included."),
        ("category__not_in", list(&id()), "Posts of none of these categories, by id, children not included."),
        ("tag", slugs(), "Slugs of tags: `a,b` for one of them, `a+b` for all."),
        ("tag_id", id(), "Posts with the tag of this id."),
        ("tag__in", list(&id()), "Posts with one of these tags, by id."),
        ("tag__and", list(&id()), "Posts with all of these tags, by id."),
        ("tag__not_in", list(&id()), "Posts with none of these tags, by id."),
        (
            "tax_query",
            tax_query(),
            "Clauses over terms of any taxonomy: a list, or `{relation: AND|OR, clauses: […]}`.",
        ),
        ("date_query", date_query(), "One range of dates: `{after: 2025-12-31, before: 2027-01-01}`."),
        ("ignore_sticky_posts", boolean(), "Whether sticky posts stay in their place instead of coming first."),
        ("sticky", boolean(), "`true` for sticky posts only, `false` for all others."),
    ]
}

/// An argument of the entry in a text.
const PLACEHOLDER: &str = r"\{[A-Za-z0-9_.%]+\}";

fn id() -> Value {
    let pattern = format!("^0*[1-9][0-9]*$|{PLACEHOLDER}");
    json!({ "type": ["integer", "string"], "minimum": 1, "pattern": pattern, "errorMessage": "expected an id (a whole number from 1)" })
}

fn number() -> Value {
    json!({ "type": ["integer", "string"], "minimum": 0, "pattern": format!("^[0-9]+$|{PLACEHOLDER}") })
}

fn per_page() -> Value {
    let pattern = format!("^(-1|0*[1-9][0-9]*)$|{PLACEHOLDER}");
    json!({ "type": ["integer", "string"], "minimum": -1, "not": { "const": 0 }, "pattern": pattern })
}

fn signed_ids() -> Value {
    let id = format!(r"\s*-?(0*[1-9][0-9]*|{PLACEHOLDER})\s*");
    json!({ "type": ["integer", "string"], "not": { "const": 0 }, "pattern": format!("^{id}(,{id})*$") })
}

fn post_type() -> Value {
    let pattern = format!(r"^(?!any$)[a-z0-9_\-]+$|{PLACEHOLDER}");
    json!({ "type": TEXT, "pattern": pattern, "examples": ["post", "page"] })
}

fn status() -> Value {
    let examples = ["publish", "future", "draft", "pending", "private", "trash", "inherit", "any"];
    json!({ "type": TEXT, "pattern": r"^\s*[a-z0-9_\-]+\s*(,\s*[a-z0-9_\-]+\s*)*$", "examples": examples })
}

fn slug() -> Value {
    json!({ "type": TEXT, "pattern": format!(r"^[^,+]*[^,+\s][^,+]*$|{PLACEHOLDER}"), "errorMessage": "expected a slug" })
}

/// Commas between slugs, or `+`, and never both.
fn slugs() -> Value {
    json!({ "type": TEXT, "pattern": r"^([^+]*[^+,\s][^+]*|[^,]*[^+,\s][^,]*)$" })
}

fn boolean() -> Value {
    json!({ "enum": [true, false, 1, 0, "true", "false", "1", "0"] })
}

fn order_by() -> Value {
    let pattern = format!(r"^\s*({})\s*$|{PLACEHOLDER}", OrderBy::NAMES.join("|"));
    json!({ "type": "string", "pattern": pattern, "examples": OrderBy::NAMES, "errorMessage": format!("expected one of {}", OrderBy::NAMES.join(", ")) })
}

/// Words whose case means nothing.
fn words(words: &[&str], or_placeholder: bool) -> Value {
    let any_case = |character: char| match character {
        ' ' => " ".to_owned(),
        letter => format!("[{letter}{}]", letter.to_ascii_lowercase()),
    };
    let patterns: Vec<String> = words.iter().map(|word| word.chars().map(any_case).collect()).collect();
    let mut pattern = format!("^({})$", patterns.join("|"));
    if or_placeholder {
        pattern = format!("{pattern}|{PLACEHOLDER}");
    }
    json!({ "type": "string", "pattern": pattern, "examples": words, "errorMessage": format!("expected one of {}", words.join(", ")) })
}

/// A list that is not empty.
fn list(item: &Value) -> Value {
    json!({ "type": "array", "items": item, "minItems": 1 })
}

fn one_or_list(item: &Value) -> Value {
    json!({ "anyOf": [item, list(item)] })
}

fn tax_query() -> Value {
    let clause = json!({
        "type": "object",
        "required": ["taxonomy", "terms"],
        "properties": {
            "taxonomy": {
                "description": "The name of a taxonomy: `category`, `post_tag`, or one of the site's own.",
                "type": TEXT,
                "pattern": r"^[a-z0-9_\-]+$",
                "examples": ["category", "post_tag"],
            },
            "field": { "description": "What `terms` are named by. Default: `term_id`.", "enum": ["term_id", "slug", "name"] },
            "terms": { "description": "A term, or a list of them.", "anyOf": [{ "type": TEXT }, list(&json!({ "type": TEXT }))] },
            "operator": words(&["IN", "NOT IN", "AND"], false),
            "include_children": boolean(),
        },
        "additionalProperties": false,
    });
    let combined = json!({
        "type": "object",
        "required": ["clauses"],
        "properties": { "relation": words(&["AND", "OR"], false), "clauses": list(&clause) },
        "additionalProperties": false,
    });
    json!({ "anyOf": [list(&clause), combined] })
}

fn date_query() -> Value {
    let text = r"^[0-9]{4}(-[0-9]{2}(-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?)?)?$";
    let ago = "^[0-9]{1,6} (hour|day|week|month|year)s? ago$";
    let date = json!({
        "anyOf": [
            {
                "type": ["integer", "string"],
                "minimum": 1,
                "maximum": 9999,
                "pattern": format!("{text}|{ago}|{PLACEHOLDER}"),
                "examples": ["2026-07-28", "2026-07-28 12:00", "3 weeks ago"],
                "errorMessage": "expected a date such as `2026`, `2026-07`, `2026-07-28`, `2026-07-28 12:00` or `3 weeks ago`",
            },
            {
                "type": "object",
                "required": ["year"],
                "properties": { "year": date_part(9999), "month": date_part(12), "day": date_part(31) },
                "dependencies": { "day": ["month"] },
                "additionalProperties": false,
            },
        ],
    });
    let described = |description: &str| {
        let mut date = date.clone();
        date["description"] = description.into();
        date
    };
    let range = json!({
        "type": "object",
        "anyOf": [{ "required": ["after"] }, { "required": ["before"] }],
        "properties": {
            "after": described("Only posts after this date, which is in the site's time zone."),
            "before": described("Only posts before this date, which is in the site's time zone."),
            "inclusive": boolean(),
            "column": { "description": "Default: `post_date`.", "enum": ["post_date", "post_modified"] },
        },
        "additionalProperties": false,
    });
    json!({ "anyOf": [range, { "type": "array", "items": range, "minItems": 1, "maxItems": 1 }] })
}

fn date_part(last: u16) -> Value {
    json!({ "type": ["integer", "string"], "minimum": 1, "maximum": last, "pattern": "^[0-9]+$" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wp_query::query::ARGUMENTS;

    #[test]
    fn the_schema_has_every_argument_that_is_read() {
        assert_eq!(arguments().map(|(name, ..)| name), ARGUMENTS);
    }
}
