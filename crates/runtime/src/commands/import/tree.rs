//! Drafts → the files of a server's folder. The compiler is asked before anything is written: which drafts are
//! definitions, and whether the texts come back as they were.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine, engine::general_purpose::STANDARD};
use mcpress_catalog::{
    Catalog, Source,
    source::{Definition, Source as LiveSource},
};
use mcpress_compiler::{Diagnostic, Severity, compile_files};
use serde_json::{Map, Value};

use super::{
    draft::Draft,
    export::Server,
    yaml::{commented, item, yaml},
};
use crate::commands::printable;

/// By path in the content tree.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// What drafts are asked to become.
pub(super) const DEFINITIONS: &str = "resources/imported.yaml";
/// What is left of a tree without a single definition; a file of comments only is none.
pub(super) const NO_DEFINITIONS: &str = "resources/_imported.yaml";
pub(super) const PROMPTS: &str = "_prompts.yaml";
const SERVER: &str = "server.yaml";

/// Adds to each draft why it is no definition, if it is none.
///
/// # Errors
/// What is wrong beyond any draft.
pub(super) fn judge(slug: &str, server: &Server, drafts: &mut [Draft]) -> Result<(), String> {
    refuse_duplicates(drafts);
    let mut files = Files::from([(format!("{slug}/{SERVER}"), server_yaml(slug, server, &Map::new())?.into_bytes())]);
    let folder = format!("{slug}/resources/");
    for (index, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.reasons.is_empty()) {
        files.insert(format!("{folder}{index}.yaml"), yaml(&Value::Object(draft.definition.clone()))?.into_bytes());
        files.extend(content_file(slug, draft));
    }
    let Err(diagnostics) = compile_files(files) else { return Ok(()) };
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        let name = diagnostic.path.strip_prefix(&folder).and_then(|name| name.strip_suffix(".yaml"));
        let index = name.and_then(|name| name.parse::<usize>().ok());
        let draft = index.and_then(|index| drafts.get_mut(index)).ok_or_else(|| diagnostic.to_string())?;
        draft.refuse(reason(diagnostic));
    }
    Ok(())
}

/// All files of the server's folder, proved to compile and to give back every text.
///
/// # Errors
/// They do not, which is a fault of this program.
pub(super) fn files(
    slug: &str,
    server: &Server,
    drafts: &[Draft],
    prompts: &[Value],
    unknown: &Map<String, Value>,
) -> Result<Files, String> {
    let mut files = Files::from([(format!("{slug}/{SERVER}"), server_yaml(slug, server, unknown)?.into_bytes())]);
    let mut definitions = "# What an export of the WordPress plugin held, in its order.\n".to_owned();
    for draft in drafts {
        definitions.push_str(&definition(draft)?);
        if draft.reasons.is_empty() {
            files.extend(content_file(slug, draft));
        }
    }
    if !drafts.is_empty() {
        let name = if drafts.iter().any(|draft| draft.reasons.is_empty()) { DEFINITIONS } else { NO_DEFINITIONS };
        files.insert(format!("{slug}/{name}"), definitions.into_bytes());
    }
    if !prompts.is_empty() {
        let mut text =
            "# The prompts of the export. There are no prompts yet, so nothing reads this file.\n\n".to_owned();
        text.push_str(&commented(&yaml(&Value::Array(prompts.to_vec()))?));
        files.insert(format!("{slug}/{PROMPTS}"), text.into_bytes());
    }
    let compiled = compile_files(files.clone()).map_err(|diagnostics| {
        let first = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        first.map(ToString::to_string).unwrap_or_default()
    })?;
    for draft in drafts.iter().filter(|draft| draft.reasons.is_empty()) {
        let Some(text) = &draft.text else { continue };
        if served(&compiled.catalog, slug, draft).as_deref() != Some(text.as_bytes()) {
            return Err(format!("the text of {} would not come back as it is", draft.place));
        }
    }
    Ok(files)
}

/// What the catalog has for a static draft.
fn served(catalog: &Catalog, slug: &str, draft: &Draft) -> Option<Vec<u8>> {
    let (server, uri) = (catalog.server(slug)?, draft.uri.as_deref()?);
    if draft.is_template {
        let template =
            catalog.rows(server.templates).iter().find(|template| catalog.text(template.uri_template) == uri)?;
        let definition: Definition = serde_json::from_str(catalog.text(template.definition)).ok()?;
        let LiveSource::Static(template) = definition.source else { return None };
        return Some(template.source.into_bytes());
    }
    let Source::Static(contents) = catalog.resource(server, uri)?.source else { return None };
    let contents: Value = serde_json::from_str(catalog.text(contents)).ok()?;
    match (contents[0]["text"].as_str(), contents[0]["blob"].as_str()) {
        (Some(text), _) => Some(text.as_bytes().to_vec()),
        (None, blob) => STANDARD.decode(blob?).ok(),
    }
}

fn content_file(slug: &str, draft: &Draft) -> Option<(String, Vec<u8>)> {
    Some((format!("{slug}/{}", draft.file.as_ref()?), draft.text.clone()?.into_bytes()))
}

fn server_yaml(slug: &str, server: &Server, unknown: &Map<String, Value>) -> Result<String, String> {
    let known = [
        ("name", &server.name),
        ("title", &server.title),
        ("description", &server.description),
        ("version", &server.version),
        ("instructions", &server.instructions),
    ];
    let mut members: Map<String, Value> =
        known.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into()))).collect();
    // Every imported entry has a URI of its own, so this concerns files that are added later.
    if slug.starts_with(|first: char| first.is_ascii_digit()) {
        members.insert("uri_prefix".to_owned(), format!("x-{slug}://").into());
    }
    let mut text = match members.is_empty() {
        true => "# The export said nothing about the server.\n".to_owned(),
        false => yaml(&Value::Object(members))?,
    };
    if !unknown.is_empty() {
        text.push_str("\n# not carried over, because it has no meaning here:\n");
        text.push_str(&commented(&yaml(&Value::Object(unknown.clone()))?));
    }
    Ok(text)
}

/// A draft as an item of a list, commented out where something speaks against it.
fn definition(draft: &Draft) -> Result<String, String> {
    let mut text = "\n".to_owned();
    for reason in &draft.reasons {
        text.push_str(&format!("# not carried over: {}\n", printable(reason)));
    }
    let definition = item(&Value::Object(draft.definition.clone()))?;
    text.push_str(&if draft.reasons.is_empty() { definition } else { commented(&definition) });
    if !draft.unknown.is_empty() {
        text.push_str("# members of the export that have no meaning here:\n");
        text.push_str(&commented(&yaml(&Value::Object(draft.unknown.clone()))?));
    }
    Ok(text)
}

fn refuse_duplicates(drafts: &mut [Draft]) {
    let mut seen = BTreeMap::new();
    let mut duplicates = BTreeSet::new();
    for (index, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.reasons.is_empty()) {
        let key = (draft.is_template, draft.uri.clone());
        if let Some(first) = seen.insert(key.clone(), draft.place.clone()) {
            duplicates.insert((index, first.clone()));
            seen.insert(key, first);
        }
    }
    for (index, first) in duplicates {
        drafts[index].refuse(format!("its URI is that of {first}, which comes first"));
    }
}

fn reason(diagnostic: &Diagnostic) -> String {
    let Diagnostic { field, message, hint, .. } = diagnostic;
    let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
    let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{field}{message}{hint}")
}
