//! WP_Query's arguments as PHP exports them → as the content format writes them. Nothing changes its meaning here; what
//! the compiler does not take, it says itself.

use serde_json::{Map, Value};

use super::export::is_empty;

/// Arguments that say how WordPress goes about it, not which posts come of it.
const WITHOUT_EFFECT: [&str; 7] = [
    "cache_results",
    "lazy_load_term_meta",
    "no_found_rows",
    "update_menu_item_cache",
    "update_post_meta_cache",
    "update_post_term_cache",
    "comments_per_page",
];

/// The arguments, and a note on each that was left out because it changes nothing.
pub(super) fn arguments(exported: Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let mut arguments = Map::new();
    let mut notes = Vec::new();
    for (name, value) in exported {
        // An empty search is one to WordPress: it decides about sticky posts.
        if is_empty(&value) && name != "s" {
            notes.push(format!("`{name}` is empty, which asks for nothing; left out"));
        } else if WITHOUT_EFFECT.contains(&name.as_str()) {
            notes.push(format!("`{name}` has no effect on which posts come; left out"));
        } else {
            let value = if name == "tax_query" { clauses(value) } else { lists(value) };
            arguments.insert(name, value);
        }
    }
    (arguments, notes)
}

/// PHP keeps the relation of clauses and the clauses themselves in one array: `{"relation": "OR", "0": …, "1": …}`.
fn clauses(value: Value) -> Value {
    match value {
        Value::Object(mut members) if members.contains_key("relation") => {
            let relation = members.shift_remove("relation").unwrap_or_default();
            if members.is_empty() || !members.keys().all(|key| is_index(key)) {
                members.insert("relation".to_owned(), relation);
                return Value::Object(members);
            }
            let clauses: Vec<Value> = members.into_iter().map(|(_, clause)| lists(clause)).collect();
            Value::Object(Map::from_iter([
                ("relation".to_owned(), relation),
                ("clauses".to_owned(), Value::Array(clauses)),
            ]))
        }
        value => lists(value),
    }
}

/// The same with lists for objects whose keys are numbers, which is how PHP writes a list with gaps.
fn lists(value: Value) -> Value {
    match value {
        Value::Object(members) if !members.is_empty() && members.keys().all(|key| is_index(key)) => {
            members.into_iter().map(|(_, item)| lists(item)).collect()
        }
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, member)| (name, lists(member))).collect())
        }
        Value::Array(items) => items.into_iter().map(lists).collect(),
        value => value,
    }
}

fn is_index(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_shapes_of_php_become_those_of_the_content_format() {
        for (exported, expected) in [
            (json!({"post__in": {"1": 5, "3": 7}}), json!({"post__in": [5, 7]})),
            (
                json!({"tax_query": {"relation": "OR", "0": {"terms": {"2": "a"}}, "1": {"terms": "b"}}}),
                json!({"tax_query": {"relation": "OR", "clauses": [{"terms": ["a"]}, {"terms": "b"}]}}),
            ),
            (json!({"tax_query": {"relation": "OR", "x": 1}}), json!({"tax_query": {"x": 1, "relation": "OR"}})),
            (json!({"date_query": {"0": {"after": "2025"}}}), json!({"date_query": [{"after": "2025"}]})),
            (json!({"s": "", "tag": "", "post__not_in": [], "no_found_rows": true}), json!({"s": ""})),
            (json!({"meta_query": [{"key": "a"}]}), json!({"meta_query": [{"key": "a"}]})),
        ] {
            let Value::Object(members) = exported else { unreachable!() };
            assert_eq!(Value::Object(arguments(members).0), expected);
        }
    }
}
