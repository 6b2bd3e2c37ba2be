//! `resources/*`: lists and static contents are slices of the blob, everything else is made at the read.

use std::collections::BTreeMap;

use bytes::Bytes;
use mcpress_catalog::{
    Source, Span,
    result::{self, Payload, ResourceContents},
    source,
};
use minijinja::{context, value::merge_maps};
use serde_json::json;

use super::{Server, Success, era::Rejection, pagination, params::Params, site::Live};
use crate::jsonrpc::{Error, INTERNAL_ERROR};

/// Characters of a template's argument. A client chooses it, and what it chose may go to an upstream.
const MAX_ARGUMENT: usize = 256;

/// What a URI stands for.
enum Found<'a> {
    /// The finished `contents`.
    Static(Span),
    /// Something to be resolved, with the values of its template's variables.
    Live(&'a Live, BTreeMap<String, String>),
}

/// `resources/read`.
pub(super) async fn read(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let (ttl_ms, content) = contents(server, &params.uri()?).await?;
    Ok(Success { ttl_ms, member: r#""contents":"#, content, end: Bytes::from_static(b"}}") })
}

/// The `contents` array of a URI, and how long a client may keep it.
pub(super) async fn contents(server: Server<'_>, uri: &str) -> Result<(u64, Bytes), Error> {
    let (ttl_ms, found) = find(server, uri).ok_or_else(|| not_found(uri))?;
    let contents = match found {
        Found::Static(contents) => server.site.catalog.bytes(contents),
        Found::Live(live, arguments) => resolve(server, live, uri, arguments).await?,
    };
    Ok((ttl_ms, contents))
}

/// `resources/subscribe` and `unsubscribe`: no resource ever changes, so there is nothing to send or to stop.
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
    Ok(Success { ttl_ms: server.entry.ttl_ms, member, content, end })
}

fn not_found(uri: &str) -> Error {
    Error::invalid_params(format!("Resource not found: {uri}")).with_data(json!({ "uri": uri }))
}

/// What a URI stands for, and how long a client may keep it.
fn find<'a>(server: Server<'a>, uri: &str) -> Option<(u64, Found<'a>)> {
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
            && (allowed.is_empty() || allowed.contains(value))
            && live.patterns.get(name).is_none_or(|pattern| pattern.is_match(value))
    })
}

/// Makes the `contents` of a resource that is not static.
async fn resolve(
    server: Server<'_>,
    live: &Live,
    uri: &str,
    arguments: BTreeMap<String, String>,
) -> Result<Bytes, Error> {
    let definition = &live.definition;
    match &definition.source {
        source::Source::Static(_) => {
            let text = render(server, live, uri, arguments)?;
            let contents = ResourceContents {
                uri,
                mime_type: definition.mime_type.as_deref(),
                payload: Payload::Text(&text),
                meta: definition.meta.as_ref(),
            };
            Ok(result::contents(&contents).into())
        }
        source::Source::Url(_) => Err(unavailable("url")),
        source::Source::WpQuery(_) => Err(unavailable("wp_query")),
    }
}

fn unavailable(source: &str) -> Error {
    Error::new(INTERNAL_ERROR, format!("not available in this build: resources with a `{source}` source"))
}

/// Renders a template that was compiled in. What goes wrong in it is for the log; a client learns only that it did.
fn render(server: Server<'_>, live: &Live, uri: &str, arguments: BTreeMap<String, String>) -> Result<String, Error> {
    let resource = live.context.get_attr("resource").unwrap_or_default();
    let context = context! {
        args => arguments,
        resource => merge_maps([context! { uri }, resource]),
        ..live.context.clone()
    };
    let rendered = server.site.templates.get_template(&live.template).and_then(|template| template.render(context));
    rendered.map_err(|error| {
        let (template, line) = (error.name().unwrap_or(&live.template), error.line().unwrap_or_default());
        tracing::warn!(defined = live.definition.place, at = format!("{template}:{line}"), %error, "template failed");
        Error::new(INTERNAL_ERROR, "the template of this resource failed")
    })
}
