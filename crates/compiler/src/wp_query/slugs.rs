//! `category_name` and `tag`: slugs in one text.

use mcpress_catalog::source::{Param, Relation, Slug, Slugs};

use super::{
    query::SLUG,
    reader::{Place, Reader},
    written::Written,
};

/// `category_name`: with a comma between slugs one of them, with a `+` all of them.
pub(super) fn category_slugs(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Slugs> {
    let text = slug_text(reader, place, value)?;
    let relation = if text.contains('+') { Relation::And } else { Relation::Or };
    let slugs: Vec<&str> = text.split([',', '+']).map(str::trim).collect();
    all_slugs(reader, place, relation, &slugs)
}

/// `tag`: as `category_name`, and a blank is a comma beside a comma, else a `+`.
pub(super) fn tag_slugs(reader: &mut Reader<'_, '_>, place: &Place, value: &Written) -> Option<Slugs> {
    let text = slug_text(reader, place, value)?;
    let blank = |character: char| character.is_ascii_whitespace();
    let slugs: Vec<&str> = match text.contains(',') {
        true => text.split(',').map(str::trim).flat_map(|part| part.split(blank)).collect(),
        false if text.contains('+') => text.split('+').map(str::trim).collect(),
        false => text.trim().split(blank).filter(|part| !part.is_empty()).collect(),
    };
    let relation = if text.contains(',') || slugs.len() == 1 { Relation::Or } else { Relation::And };
    all_slugs(reader, place, relation, &slugs)
}

fn slug_text<'w>(reader: &mut Reader<'_, '_>, place: &Place, value: &'w Written) -> Option<&'w str> {
    let text = match value {
        Written::List(_) => {
            reader
                .error(place, "expected a slug, or several in one text, found a list")
                .with_hint("`\"a,b\"` asks for one of them, `\"a+b\"` for all of them");
            return None;
        }
        _ => reader.scalar(place, "a slug, or several in one text", value)?,
    };
    if text.contains(',') && text.contains('+') {
        reader
            .error(place, "a comma (one of them) and a `+` (all of them) in one text")
            .with_hint("write a `tax_query` with two clauses");
        return None;
    }
    Some(text)
}

fn all_slugs(reader: &mut Reader<'_, '_>, place: &Place, relation: Relation, slugs: &[&str]) -> Option<Slugs> {
    if slugs.is_empty() {
        reader.expected(place, SLUG, &Written::Scalar(String::new()));
    }
    let typed: Vec<Param<Slug>> = slugs.iter().filter_map(|slug| reader.typed(place, SLUG, slug)).collect();
    (!typed.is_empty()).then_some(Slugs { relation, slugs: typed })
}
