//! `resources/*`: lists and static contents are slices of the blob, everything else is made at the read.

use std::collections::BTreeMap;

use bytes::Bytes;
use mcpress_catalog::{
    Source, Span,
    result::{self, Payload, ResourceContents},
};
use minijinja::{Value, context, value::merge_maps};
use percent_encoding::percent_decode_str;
use serde_json::json;

use super::{
    Server, Success,
    era::Rejection,
    pagination,
    params::Params,
    site::{Live, Origin},
};
use crate::{
    fetch::{self, FetchError, Fetched},
    jsonrpc::{Error, INTERNAL_ERROR},
};

/// Characters of a template's argument. A client chooses it, and what it chose may go to an upstream.
const MAX_ARGUMENT: usize = 256;

/// What a URI stands for.
pub(super) enum Found<'a> {
    /// The finished `contents`.
    Static(Span),
    /// Something to be resolved, with the values of its template's variables.
    Live(&'a Live, BTreeMap<String, String>),
}

/// `resources/read`.
pub(super) async fn read(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let Contents { ttl_ms, json, meta } = contents(server, &params.uri()?).await?;
    Ok(Success { ttl_ms, meta, member: r#""contents":"#, content: json, end: Bytes::from_static(b"}}") })
}

/// What a read gives.
pub(super) struct Contents {
    /// How long a client may keep it.
    ttl_ms: u64,
    /// The `contents` array, as JSON.
    pub(super) json: Bytes,
    /// What is to be said of it in `_meta` of the result: members as JSON, or nothing.
    meta: String,
}

/// The contents of a URI.
pub(super) async fn contents(server: Server<'_>, uri: &str) -> Result<Contents, Error> {
    let (ttl_ms, found) = find(server, uri).ok_or_else(|| not_found(uri))?;
    match found {
        Found::Static(contents) => {
            Ok(Contents { ttl_ms, json: server.site.catalog.bytes(contents), meta: String::new() })
        }
        Found::Live(live, arguments) => {
            let (json, meta) = resolve(server, live, uri, arguments).await?;
            Ok(Contents { ttl_ms, json, meta })
        }
    }
}

/// `resources/subscribe` and `unsubscribe`: the revisions that have them send what changes over a stream that this
/// server does not have, so there is nothing to send or to stop.
pub(super) fn subscribe(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let uri = params.uri()?;
    match find(server, &uri) {
        Some(_) => Ok(Success::empty()),
        None => Err(not_found(&uri).into()),
    }
}

/// `resources/list`.
pub(super) fn list(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let items = server.entry.resources.iter().map(|resource| resource.item);
    page(server, params, "resources", r#""resources":["#, items)
}

/// `resources/templates/list`.
pub(super) fn list_templates(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let items = server.entry.templates.iter().map(|template| template.item);
    page(server, params, "templates", r#""resourceTemplates":["#, items)
}

fn page(
    server: Server<'_>,
    params: &Params<'_>,
    list: &str,
    member: &'static str,
    mut items: impl ExactSizeIterator<Item = Span>,
) -> Result<Success, Rejection> {
    let page = pagination::page(server, list, items.len(), params.cursor()?.as_deref())?;
    let mut page_items = items.by_ref().skip(page.start).take(page.end - page.start);
    let first = page_items.next().unwrap_or_default();
    let last = page_items.last().unwrap_or(first);
    let end = match page.next {
        // In the alphabet of base64url nothing has to be escaped.
        Some(cursor) => format!(r#"],"nextCursor":"{cursor}"}}}}"#).into(),
        None => Bytes::from_static(b"]}}"),
    };
    let content = server.site.catalog.bytes(Span(first.0, last.1));
    Ok(Success { ttl_ms: server.entry.ttl_ms, meta: String::new(), member, content, end })
}

fn not_found(uri: &str) -> Error {
    Error::invalid_params(format!("Resource not found: {uri}")).with_data(json!({ "uri": uri }))
}

/// What a URI stands for, and how long a client may keep it.
pub(super) fn find<'a>(server: Server<'a>, uri: &str) -> Option<(u64, Found<'a>)> {
    if let Some(resource) = server.site.catalog.resource(server.entry, uri) {
        let found = match resource.source {
            Source::Static(contents) => Found::Static(contents),
            Source::Live(definition) => Found::Live(server.prepared.live(definition)?, BTreeMap::new()),
        };
        return Some((resource.ttl_ms, found));
    }
    server.prepared.templates.iter().find_map(|template| {
        let arguments = template.uri_template.match_uri(uri).filter(|arguments| accepts(&template.live, arguments))?;
        Some((template.ttl_ms, Found::Live(&template.live, arguments)))
    })
}

/// Whether all arguments are what their definition wants.
fn accepts(live: &Live, arguments: &BTreeMap<String, String>) -> bool {
    arguments.iter().all(|(name, value)| {
        let allowed = live.definition.arguments.get(name).map_or(&[][..], |argument| &argument.values);
        value.chars().count() <= MAX_ARGUMENT
            && !value.contains(char::is_control)
            && !climbs(value)
            && (allowed.is_empty() || allowed.contains(value))
            && live.patterns.get(name).is_none_or(|pattern| pattern.is_match(value))
    })
}

/// Whether a value could lead out of the folder of a path that it becomes a part of, also once an upstream decodes it.
fn climbs(value: &str) -> bool {
    let value = percent_decode_str(value).decode_utf8_lossy();
    value.contains('\\') || value.split('/').any(|segment| segment == "..")
}

/// Makes the `contents` of a resource that is not static, and what is to be said of it in `_meta` of the result.
async fn resolve(
    server: Server<'_>,
    live: &Live,
    uri: &str,
    arguments: BTreeMap<String, String>,
) -> Result<(Bytes, String), Error> {
    let fetched = match &live.origin {
        Origin::Template { context, name } => {
            return Ok((rendered(server, live, (context, name), uri, arguments)?, String::new()));
        }
        Origin::Url(url) => server.site.shared.fetcher.fetch(url, &arguments).await,
        Origin::WpQuery(query) => server.site.shared.fetcher.query(query, &arguments).await,
        Origin::Missing(names) => {
            let message = format!("missing in the environment: {}", names.join(", "));
            return Err(Error::new(INTERNAL_ERROR, message));
        }
    };
    let fetched = fetched.map_err(|error| failed(server, live, uri, &error))?;
    let payload = match &fetched.payload {
        fetch::Payload::Text(text) => Payload::Text(text),
        fetch::Payload::Blob(bytes) => Payload::Blob(bytes),
    };
    Ok((contents_of(live, uri, Some(&fetched.mime_type), payload), meta(&fetched)))
}

fn contents_of(live: &Live, uri: &str, mime_type: Option<&str>, payload: Payload<'_>) -> Bytes {
    let contents = ResourceContents { uri, mime_type, payload, meta: live.definition.meta.as_ref() };
    result::contents(&contents).into()
}

/// What a client should know of fetched contents, as members of `_meta`.
fn meta(fetched: &Fetched) -> String {
    let stale = fetched.stale.as_ref().map(|stale| {
        let stale = json!({ "ageSeconds": stale.age.as_secs(), "reason": stale.error.to_string() });
        format!(r#""mcpress/stale":{stale}"#)
    });
    let left_out = fetched.left_out.map(|count| format!(r#""mcpress/leftOut":{count}"#));
    stale.into_iter().chain(left_out).collect::<Vec<_>>().join(",")
}

/// A client learns in one sentence what failed; why is for the log, where it finds it by the name of the failure.
fn failed(server: Server<'_>, live: &Live, uri: &str, error: &FetchError) -> Error {
    if error.is_not_found() {
        return not_found(uri);
    }
    let failure = server.site.name_failure();
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let cause = causes.map(ToString::to_string).reduce(|causes, cause| format!("{causes}: {cause}"));
    tracing::warn!(failure, defined = live.definition.place, %error, cause, "fetch failed");
    Error::new(INTERNAL_ERROR, error.to_string()).with_data(json!({ "failure": failure }))
}

/// The `contents` that a template which was compiled in makes.
pub(super) fn rendered(
    server: Server<'_>,
    live: &Live,
    template: (&Value, &str),
    uri: &str,
    arguments: BTreeMap<String, String>,
) -> Result<Bytes, Error> {
    let text = render(server, live, template, uri, arguments)?;
    Ok(contents_of(live, uri, live.definition.mime_type.as_deref(), Payload::Text(&text)))
}

/// Renders a template that was compiled in. What goes wrong in it is for the log; a client learns only that it did.
fn render(
    server: Server<'_>,
    live: &Live,
    (seen, name): (&Value, &str),
    uri: &str,
    arguments: BTreeMap<String, String>,
) -> Result<String, Error> {
    let resource = seen.get_attr("resource").unwrap_or_default();
    let context = context! {
        args => arguments,
        resource => merge_maps([context! { uri }, resource]),
        ..seen.clone()
    };
    let rendered = server.site.templates.get_template(name).and_then(|template| template.render(context));
    rendered.map_err(|error| {
        let (template, line) = (error.name().unwrap_or(name), error.line().unwrap_or_default());
        tracing::warn!(defined = live.definition.place, at = format!("{template}:{line}"), %error, "template failed");
        Error::new(INTERNAL_ERROR, "the template of this resource failed")
    })
}
