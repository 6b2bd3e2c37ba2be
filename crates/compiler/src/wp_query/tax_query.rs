//! `tax_query`: clauses over the terms of posts.

use std::str::FromStr;

use mcpress_catalog::source::{Operator, Param, Relation, TaxClause, TaxQuery, Terms, is_key};

use super::{
    query::{ID, SLUG},
    reader::{Place, Reader},
    refused,
    written::Written,
};
use crate::diagnostic::nearest;

/// A clause as it should look, for hints.
const EXAMPLE: &str = "a clause such as `{taxonomy: genre, field: slug, terms: [jazz]}`";
const FIELDS: &str = "`term_id`, `slug` or `name`";

pub(super) fn tax_query(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<TaxQuery> {
    const SHAPE: &str = "a list of clauses, or `{relation: AND|OR, clauses: […]}`";
    let (relation, place, clauses) = match value {
        Written::Mapping(members) => {
            let has = |name: &str| members.iter().any(|(key, _)| key.value().is_some_and(|key| key == name));
            if has("taxonomy") {
                reader
                    .error(place, format!("expected {SHAPE}, found one clause"))
                    .with_hint("put it into a list: `- taxonomy: …`");
                return None;
            }
            let members =
                reader.members(place, members, &["relation", "clauses"], &[], "known keys are relation, clauses");
            let relation = match members.get("relation") {
                Some((place, value)) => relation(reader, place, value)?,
                None => Relation::And,
            };
            let Some((place, value)) = members.get("clauses") else {
                reader.error(place, "`clauses` is missing").with_hint(&format!("write {SHAPE}"));
                return None;
            };
            (relation, place.clone(), *value)
        }
        Written::List(_) => (Relation::And, place.clone(), value),
        _ => {
            reader.expected(place, SHAPE, value);
            return None;
        }
    };
    let items = reader.items(&place, clauses);
    let clauses: Vec<_> = items.iter().filter_map(|(place, value)| tax_clause(reader, place, value)).collect();
    (!clauses.is_empty()).then_some(TaxQuery { relation, clauses })
}

fn relation(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Relation> {
    const EXPECTED: &str = "`AND` or `OR`";
    match reader.scalar(place, EXPECTED, value)?.to_ascii_uppercase().as_str() {
        "AND" => Some(Relation::And),
        "OR" => Some(Relation::Or),
        _ => {
            reader.expected(place, EXPECTED, value);
            None
        }
    }
}

fn tax_clause(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<TaxClause> {
    const KEYS: &[&str] = &["taxonomy", "field", "terms", "operator", "include_children"];
    let Written::Mapping(members) = value else {
        reader.expected(place, EXAMPLE, value);
        return None;
    };
    let known = format!("known keys are {}", KEYS.join(", "));
    let members = reader.members(place, members, KEYS, refused::CLAUSE, &known);
    let nested = matches!(value, Written::Mapping(all) if members.is_empty() && !all.is_empty());
    if nested {
        return None;
    }
    let operator = match members.get("operator") {
        Some((place, value)) => operator(reader, place, value)?,
        None => Operator::In,
    };
    let include_children = match members.get("include_children") {
        Some((place, value)) => reader.boolean(place, value)?,
        None => true,
    };
    let (Some((taxonomy_place, taxonomy)), Some((terms_place, written_terms))) =
        (members.get("taxonomy"), members.get("terms"))
    else {
        for name in ["taxonomy", "terms"].into_iter().filter(|name| !members.contains_key(name)) {
            reader.error(place, format!("`{name}` is missing")).with_hint(EXAMPLE);
        }
        return None;
    };
    let expected = "the name of a taxonomy, such as `category` or `post_tag`";
    let name = reader.scalar(taxonomy_place, expected, taxonomy)?;
    if !is_key(name) {
        reader.expected(taxonomy_place, expected, taxonomy);
        return None;
    }
    let (field_place, field) = match members.get("field") {
        Some((place, value)) => (place, reader.scalar(place, FIELDS, value)?),
        None => (place, "term_id"),
    };
    let items = reader.one_or_list(terms_place, "a term", written_terms);
    let terms = terms(reader, field_place, field, &items)?;
    Some(TaxClause { taxonomy: name.to_owned(), terms, operator, include_children })
}

/// The terms of a clause, which are named by its `field`.
fn terms(reader: &mut Reader<'_, '_>, place: &Place, field: &str, items: &[(Place, &Written)]) -> Option<Terms> {
    let (message, hint) = match field {
        "term_id" => return Some(Terms::TermId(terms_of(reader, ID, items)?)),
        "slug" => return Some(Terms::Slug(terms_of(reader, SLUG, items)?)),
        "name" => return Some(Terms::Name(terms_of(reader, "the name of a term", items)?)),
        "term_taxonomy_id" => {
            ("the WordPress REST API does not know these ids".to_owned(), format!("name terms by {FIELDS}"))
        }
        _ => {
            let hint = match nearest(field, ["term_id", "slug", "name"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("terms are named by {FIELDS}"),
            };
            (format!("unknown field `{field}`"), hint)
        }
    };
    reader.error(place, message).with_hint(&hint);
    None
}

fn terms_of<T: FromStr>(
    reader: &mut Reader<'_, '_>,
    expected: &str,
    items: &[(Place, &Written)],
) -> Option<Vec<Param<T>>> {
    let terms: Vec<_> = items.iter().filter_map(|(place, item)| reader.param(place, expected, item)).collect();
    (!terms.is_empty()).then_some(terms)
}

fn operator(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Operator> {
    const EXPECTED: &str = "`IN`, `NOT IN` or `AND`";
    match reader.scalar(place, EXPECTED, value)?.to_ascii_uppercase().as_str() {
        "IN" => return Some(Operator::In),
        "NOT IN" => return Some(Operator::NotIn),
        "AND" => return Some(Operator::And),
        "EXISTS" | "NOT EXISTS" => {
            let hint = "name the terms that are meant; `NOT IN` with all of them stands for `NOT EXISTS`";
            reader.error(place, "the WordPress REST API cannot ask whether there is any term").with_hint(hint);
        }
        _ => reader.expected(place, EXPECTED, value),
    }
    None
}
