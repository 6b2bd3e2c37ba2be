//! `mcpress import getmcp`: a content tree of what the WordPress plugin GetMCP exported.
//!
//! `export` reads the file (`json`), `draft` and `query` say what the tree would hold, `tree` asks the compiler about
//! it, and `write` puts it into place. Nothing of the export decides where something is written but through `names`.

mod draft;
mod export;
mod json;
mod names;
mod query;
mod tree;
mod write;
mod yaml;

use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use mcpress_compiler::{compile_files, is_reserved};

use self::{
    draft::{Draft, Drafting},
    export::Export,
};
use super::{DIFFERENT, FAILED, failure, load, printable, unless_unread};

/// Imports an export. Ends with 0 if all of it was carried over.
pub(crate) fn getmcp(file: &Path, out: &Path, site: Option<&str>) -> io::Result<ExitCode> {
    let shown = file.display();
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(failure(format_args!("cannot read `{shown}`: {error}"))),
    };
    let export = match Export::read(&bytes) {
        Ok(export) => export,
        Err(message) => return Ok(failure(format_args!("{shown}: {message}"))),
    };
    match import(&export, out, site) {
        Ok(report) => {
            unless_unread(report.print())?;
            Ok(match load(out) {
                None => FAILED.into(),
                Some(_) if report.left.is_empty() => ExitCode::SUCCESS,
                Some(_) => DIFFERENT.into(),
            })
        }
        Err(message) => Ok(failure(message)),
    }
}

/// Members that a database keeps about its rows.
const BOOKKEEPING: [&str; 3] = ["id", "created_at", "updated_at"];

/// What came of an import.
#[derive(Default)]
struct Report {
    heading: String,
    /// What was carried over.
    carried: Vec<String>,
    /// What was not, and why.
    left: Vec<String>,
    /// What is not quite as it was.
    notes: Vec<String>,
}

fn import(export: &Export, out: &Path, site: Option<&str>) -> Result<Report, String> {
    let slug = slug(export)?;
    write::check(out, &slug)?;
    check_site(export, site)?;
    let mut drafting = Drafting { site, files: names::Files::default() };
    let mut drafts: Vec<Draft> = export.resources.iter().flat_map(|resource| drafting.drafts(resource)).collect();
    let mut unknown = export.unknown.clone();
    unknown.extend(export.server.unknown.clone().into_iter().map(|(name, value)| (format!("server.{name}"), value)));
    tree::judge(&slug, &export.server, &mut drafts)?;
    let files = tree::files(&slug, &export.server, &drafts, &export.prompts, &unknown)?;
    write::write(out, &slug, &files)?;
    Ok(report(export, out, &slug, &drafts))
}

fn slug(export: &Export) -> Result<String, String> {
    let server = &export.server;
    let slug = server.slug.as_deref().or(server.name.as_deref()).and_then(names::slug);
    slug.ok_or_else(|| {
        "no slug can be made of the server's `slug` or `name`\n  \
         hint: give the member `server` of the file a `slug` of lower-case letters, digits and hyphens"
            .to_owned()
    })
}

/// A site that is given can be asked, and queries need one, which is known before anything is written.
fn check_site(export: &Export, site: Option<&str>) -> Result<(), String> {
    let Some(site) = site else {
        let asks = |resource: &&export::Resource| resource.data_source_type.as_deref() == Some("wp_query");
        return match export.resources.iter().find(asks) {
            None => Ok(()),
            Some(first) => Err(format!(
                "{} is a `wp_query`, and an export does not say which site it is asked of\n  \
                 hint: give the address of the site's home page with --site, such as `--site https://example.com`",
                first.place
            )),
        };
    };
    let definition = serde_json::json!({ "uri": "x:x", "wp_query": { "site": site } });
    let files = [
        ("x/server.yaml".to_owned(), Vec::new()),
        ("x/resources/x.yaml".to_owned(), yaml::yaml(&definition)?.into_bytes()),
    ];
    compile_files(files.into()).map(drop).map_err(|diagnostics| {
        let first = diagnostics.first();
        let message = first.map(|first| first.message.as_str()).unwrap_or_default();
        let hint = first.and_then(|first| first.hint.as_deref()).unwrap_or_default();
        format!("--site `{}`: {message}\n  hint: {hint}", printable(site))
    })
}

fn report(export: &Export, out: &Path, slug: &str, drafts: &[Draft]) -> Report {
    let mut report = Report::default();
    let shown = |draft: &Draft| match &draft.uri {
        Some(uri) => format!("`{}` ({})", printable(uri), draft.place),
        None => draft.place.clone(),
    };
    for draft in drafts {
        if draft.reasons.is_empty() {
            let file = draft.file.as_ref().map(|file| format!(", {file}")).unwrap_or_default();
            report.carried.push(format!("{}: {}{file}", shown(draft), draft.kind));
        }
        report.left.extend(draft.reasons.iter().map(|reason| format!("{}: {}", shown(draft), printable(reason))));
        report.notes.extend(draft.notes.iter().map(|note| format!("{}: {}", shown(draft), printable(note))));
    }
    let carried = report.carried.len();
    report.heading =
        format!("{}: {carried} of {} definitions carried over", super::shown(&out.join(slug)), drafts.len());
    let twice = export.resources.iter().flat_map(|resource| &resource.twice).chain(&export.twice);
    report
        .left
        .extend(twice.map(|member| format!("{}: given more than once, and the last one counts", printable(member))));
    // What the export says of itself is no content.
    report.notes.extend(export.unknown.keys().map(|name| format!("{}: kept as a comment", printable(name))));
    let of_resources = export.resources.iter().map(|resource| (resource.place.as_str(), &resource.unknown));
    for (place, unknown) in of_resources.chain([("server", &export.server.unknown)]) {
        for name in unknown.keys() {
            let bookkeeping = BOOKKEEPING.contains(&name.as_str());
            let list = if bookkeeping { &mut report.notes } else { &mut report.left };
            list.push(format!("{place}.{}: unknown, kept as a comment", printable(name)));
        }
    }
    for (index, prompt) in export.prompts.iter().enumerate() {
        let name = prompt["name"].as_str().map(|name| format!(" `{}`", printable(name))).unwrap_or_default();
        let kept = format!("there are no prompts yet, kept in {}", tree::PROMPTS);
        report.left.push(format!("prompts[{index}]{name}: {kept}"));
    }
    if let Some(given) = export.server.slug.as_deref().filter(|given| *given != slug) {
        let why = if is_reserved(given) { "is a name that Windows keeps for itself" } else { "is no slug" };
        report.notes.push(format!("`{}` {why}, so the server is `{slug}`", printable(given)));
    }
    report
}

impl Report {
    fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", self.heading)?;
        let parts = [("carried over", &self.carried), ("not carried over", &self.left), ("to know", &self.notes)];
        for (title, lines) in parts.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            writeln!(out, "\n{title}:")?;
            for line in lines {
                writeln!(out, "  {line}")?;
            }
        }
        out.flush()
    }
}
