//! `resources/*`: lists and static contents are slices of the blob, everything else is made at the read.

use std::collections::BTreeMap;

use bytes::Bytes;
use mcpress_catalog::{
    Encoded, Source, Span,
    result::{self, Payload, ResourceContents},
    table::Table,
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
    coding::Coded,
    fetch::{self, Errand, FetchError, Fetched},
    jsonrpc::{Error, INTERNAL_ERROR},
    outcome::Outcome,
    record::{Record, loggable},
    trace::Trace,
};

/// Characters of a template's argument. A client chooses it, and what it chose may go to an upstream.
const MAX_ARGUMENT: usize = 256;

/// What a URI stands for.
pub(super) enum Found<'a> {
    /// The finished `contents`.
    Static(Span, Encoded),
    /// Something to be resolved, with the values of its template's variables.
    Live(&'a Live, BTreeMap<String, String>),
}

/// `resources/read`.
pub(super) async fn read(
    server: Server<'_>,
    params: &Params<'_>,
    record: &mut Record<'_>,
) -> Result<Success, Rejection> {
    let uri = params.uri()?;
    record.reads(&uri);
    let Contents { ttl_ms, json, coded, meta } = contents(server, &uri, &record.trace).await?;
    Ok(Success { ttl_ms, meta, member: r#""contents":"#, content: json, coded, end: Bytes::from_static(b"}}") })
}

/// What a read gives.
pub(super) struct Contents {
    /// How long a client may keep it.
    ttl_ms: u64,
    /// The `contents` array, as JSON.
    pub(super) json: Bytes,
    coded: Coded,
    /// What is to be said of it in `_meta` of the result: members as JSON, or nothing.
    meta: String,
}

/// A read of what is not static.
#[derive(Clone, Copy)]
struct Read<'a> {
    server: Server<'a>,
    live: &'a Live,
    uri: &'a str,
    trace: &'a Trace,
}

/// The contents of a URI.
pub(super) async fn contents(server: Server<'_>, uri: &str, trace: &Trace) -> Result<Contents, Error> {
    let (ttl_ms, found) = find(server, uri).ok_or_else(|| not_found(uri))?;
    match found {
        Found::Static(contents, encoded) => Ok(Contents {
            ttl_ms,
            json: server.site.catalog.bytes(contents),
            coded: finished(server, encoded),
            meta: String::new(),
        }),
        Found::Live(live, arguments) => {
            let (json, meta) = resolve(Read { server, live, uri, trace }, arguments).await?;
            let coded = if server.site.catalog.compression { Coded::Now } else { Coded::No };
            Ok(Contents { ttl_ms, json, coded, meta })
        }
    }
}

fn finished(server: Server<'_>, Encoded { deflate, zstd, crc32 }: Encoded) -> Coded {
    if deflate.is_empty() && zstd.is_empty() {
        return Coded::No;
    }
    let catalog = &server.site.catalog;
    Coded::Finished { deflate: catalog.bytes(deflate), zstd: catalog.bytes(zstd), crc32 }
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
    let rows = server.site.catalog.rows(server.entry.resources);
    let items = Items { list: "resources", len: rows.len(), pages: server.entry.resource_pages };
    page(server, params, items, r#""resources":["#, |index| Some(rows.get(index)?.item))
}

/// `resources/templates/list`.
pub(super) fn list_templates(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let rows = server.site.catalog.rows(server.entry.templates);
    let items = Items { list: "templates", len: rows.len(), pages: server.entry.template_pages };
    page(server, params, items, r#""resourceTemplates":["#, |index| Some(rows.get(index)?.item))
}

/// A list, as cursors and codings know it.
struct Items {
    list: &'static str,
    len: usize,
    pages: Table<Encoded>,
}

/// A page, from the first of its items to the last, without a look at those between.
fn page(
    server: Server<'_>,
    params: &Params<'_>,
    Items { list, len, pages }: Items,
    member: &'static str,
    item: impl Fn(usize) -> Option<Span>,
) -> Result<Success, Rejection> {
    let page = pagination::page(server, list, len, params.cursor()?.as_deref())?;
    let first = item(page.start).unwrap_or_default();
    let last = page.end.checked_sub(1).and_then(item).unwrap_or(first);
    let end = match page.next {
        // In the alphabet of base64url nothing has to be escaped.
        Some(cursor) => format!(r#"],"nextCursor":"{cursor}"}}}}"#).into(),
        None => Bytes::from_static(b"]}}"),
    };
    let catalog = &server.site.catalog;
    let content = catalog.bytes(Span(first.0, last.1));
    let coded = finished(server, catalog.rows(pages).get(page.number).unwrap_or_default());
    Ok(Success { ttl_ms: server.entry.ttl_ms, meta: String::new(), member, content, coded, end })
}

fn not_found(uri: &str) -> Error {
    let error = Error::invalid_params(format!("Resource not found: {uri}")).with_data(json!({ "uri": uri }));
    error.counts_as(Outcome::NotFound)
}

/// What a URI stands for, and how long a client may keep it.
pub(super) fn find<'a>(server: Server<'a>, uri: &str) -> Option<(u64, Found<'a>)> {
    if let Some(resource) = server.site.catalog.resource(server.entry, uri) {
        let found = match resource.source {
            Source::Static(contents) => Found::Static(contents, resource.encoded),
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
async fn resolve(read: Read<'_>, arguments: BTreeMap<String, String>) -> Result<(Bytes, String), Error> {
    let Read { server, live, uri, trace } = read;
    let fetcher = || server.site.shared.fetcher.on(Errand { server: server.slug(), trace: trace.clone() });
    let fetched = match &live.origin {
        Origin::Template { context, name } => {
            let rendered = rendered(server, live, (context, name), uri, arguments);
            return Ok((rendered.map_err(|error| template_failed(read, name, &error))?, String::new()));
        }
        Origin::Url(url) => fetcher().fetch(url, &arguments).await,
        Origin::WpQuery(query) => fetcher().query(query, &arguments).await,
        Origin::Missing(names) => {
            let message = format!("missing in the environment: {}", names.join(", "));
            return Err(Error::new(INTERNAL_ERROR, message));
        }
    };
    let fetched = fetched.map_err(|error| failed(read, &error))?;
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

/// A client learns in one sentence what failed; why is for the log, where it stands with the id of the request.
fn failed(read: Read<'_>, error: &FetchError) -> Error {
    if error.is_not_found() {
        return not_found(read.uri);
    }
    let message = error.to_string();
    log(read, "fetch failed", &message, error.cause().as_deref());
    read.error(message).counts_as(Outcome::FetchFailed)
}

/// What goes wrong in a template is for the log; a client learns only that it did.
fn template_failed(read: Read<'_>, name: &str, error: &minijinja::Error) -> Error {
    let (template, line) = (error.name().unwrap_or(name), error.line().unwrap_or_default());
    log(read, "template failed", &format!("{template}:{line}"), Some(&error.to_string()));
    read.error("the template of this resource failed".to_owned())
}

/// Writes one line of the log for a read that failed, unless there are too many of them.
fn log(Read { server, live, uri, trace }: Read<'_>, what: &'static str, error: &str, cause: Option<&str>) {
    let Some(left_out) = server.site.shared.failures.admit() else { return };
    tracing::warn!(
        request_id = trace.request_id(),
        server = server.slug().0.as_deref(),
        uri = loggable(uri),
        defined = live.definition.place,
        error,
        cause,
        left_out = Some(left_out).filter(|count| *count > 0),
        "{what}"
    );
}

impl Read<'_> {
    /// Tells the client by what the log knows its request.
    fn error(self, message: String) -> Error {
        Error::new(INTERNAL_ERROR, message).with_data(json!({ "requestId": self.trace.request_id() }))
    }
}

/// The `contents` that a template which was compiled in makes, and which is called `name` among all templates.
pub(super) fn rendered(
    server: Server<'_>,
    live: &Live,
    (seen, name): (&Value, &str),
    uri: &str,
    arguments: BTreeMap<String, String>,
) -> Result<Bytes, minijinja::Error> {
    let resource = seen.get_attr("resource").unwrap_or_default();
    let context = context! {
        args => arguments,
        resource => merge_maps([context! { uri }, resource]),
        ..seen.clone()
    };
    let text = server.site.templates.get_template(name)?.render(context)?;
    Ok(contents_of(live, uri, live.definition.mime_type.as_deref(), Payload::Text(&text)))
}
