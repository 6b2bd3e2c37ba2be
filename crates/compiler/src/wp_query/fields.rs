//! `wp_query.fields`: what each item carries, and under which name.

use mcpress_catalog::source::{OutputField, PostField};

use super::{
    reader::{Place, Reader},
    written::Written,
};
use crate::{
    diagnostic::nearest,
    scope::Scope,
    yaml::{Field, Mark},
};

/// Members of REST's answer that are given as they are. Any other is too, unless it looks like a slip.
const REST_NAMES: [&str; 26] = [
    "alt_text",
    "block_types",
    "caption",
    "class_list",
    "comment_status",
    "date_gmt",
    "description",
    "featured_media",
    "format",
    "generated_slug",
    "guid",
    "media_details",
    "media_type",
    "menu_order",
    "meta",
    "mime_type",
    "modified_gmt",
    "parent",
    "password",
    "permalink_template",
    "ping_status",
    "post",
    "source_url",
    "sticky",
    "template",
    "acf",
];
/// What WordPress's own code calls some fields.
pub(super) const OTHER_NAMES: [(&str, &str); 14] = [
    ("ID", "id"),
    ("post_id", "id"),
    ("post_title", "title"),
    ("post_content", "content"),
    ("post_excerpt", "excerpt"),
    ("post_date", "date"),
    ("post_modified", "modified"),
    ("post_name", "slug"),
    ("post_status", "status"),
    ("post_type", "type"),
    ("post_author", "author"),
    ("permalink", "link"),
    ("url", "link"),
    ("thumbnail", "featured_image"),
];

/// Fields under their own names.
pub(super) fn named(fields: impl IntoIterator<Item = PostField>) -> Vec<OutputField> {
    let name = |field: &PostField| {
        let index = PostField::NAMES.iter().position(|name| name.parse().as_ref() == Ok(field));
        index.map(|index| PostField::NAMES[index].to_owned()).unwrap_or_default()
    };
    fields.into_iter().map(|field| OutputField { name: name(&field), field }).collect()
}

pub(super) fn lower(fields: &[Field<Written>], mark: Mark, scope: &mut Scope<'_>) -> Vec<OutputField> {
    let reader = &mut Reader { scope };
    if fields.is_empty() {
        let place = Place { field: "wp_query.fields".to_owned(), mark };
        reader
            .error(&place, "the list is empty")
            .with_hint("leave it out for id, title, link, date, modified, excerpt");
    }
    let mut lowered: Vec<OutputField> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let Some((written, mark)) = field.given() else { continue };
        let place = Place { field: format!("wp_query.fields[{index}]"), mark };
        let Some(field) = output_field(reader, &place, written) else { continue };
        if lowered.iter().any(|other| other.name == field.name) {
            let hint = format!("give it a name of its own: `{{other_name: {}}}`", field.name);
            reader.error(&place, format!("the name `{}` is given twice", field.name)).with_hint(&hint);
            continue;
        }
        lowered.push(field);
    }
    lowered
}

fn output_field(reader: &mut Reader<'_, '_>, place: &Place, written: &Written) -> Option<OutputField> {
    const EXPECTED: &str = "the name of a field, or `{name: field}`";
    let (name, place, value) = match written {
        Written::Scalar(text) => (text, place.clone(), text),
        Written::Mapping(members) => match members.as_slice() {
            [(name, Field::Given(Written::Scalar(value), mark))] => {
                (name.value()?, Place { mark: *mark, ..place.clone() }, value)
            }
            _ => {
                let message = format!("expected {EXPECTED}, found a mapping");
                reader.error(place, message).with_hint("write one field for each item of the list");
                return None;
            }
        },
        _ => {
            reader.expected(place, EXPECTED, written);
            return None;
        }
    };
    Some(OutputField { name: name.clone(), field: post_field(reader, &place, value)? })
}

fn post_field(reader: &mut Reader<'_, '_>, place: &Place, name: &str) -> Option<PostField> {
    let (message, hint) = if let Some((_, right)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
        (format!("unknown field `{name}`"), format!("REST calls it `{right}`; `{{{name}: {right}}}` renames it"))
    } else {
        match name.parse() {
            Ok(PostField::Other(_)) if !REST_NAMES.contains(&name) => match nearest(name, PostField::NAMES) {
                Some(near) => (format!("unknown field `{name}`"), format!("did you mean `{near}`?")),
                None => return Some(PostField::Other(name.to_owned())),
            },
            Ok(field) => return Some(field),
            Err(()) => (
                format!("`{name}` is no field"),
                "a field is a top-level member of what REST gives, `meta.KEY` or `acf.KEY`; `title`, `excerpt` and \
                 `content` are texts already"
                    .to_owned(),
            ),
        }
    };
    reader.error(place, message).with_hint(&hint);
    None
}
