//! `url` entries: what is asked, and what the answer becomes.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use mcpress_catalog::{
    env,
    source::{self, Cache, Definition, Href, HrefError, Html, Method, StatusRange},
};
use minijinja::{Environment, Value, context, value::Serde};
use reqwest::{
    Url as Address,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::value::RawValue;

use super::{
    EntryError, Fetched, Payload,
    client::{self, Limits, Request, Response, Validators},
    decode::{self, ContentType},
    error::FetchError,
    html,
    template::Template,
};

/// A `url` entry that is ready to be fetched: the environment is filled in, and its template compiled.
pub struct Url {
    /// By which the cache knows it.
    pub(super) number: u64,
    href: Href,
    method: reqwest::Method,
    headers: HeaderMap,
    body: Option<Bytes>,
    pub(super) limits: Limits,
    accept_status: Vec<StatusRange>,
    pub(super) cache: Option<Cache>,
    transform: Transform,
}

/// What becomes of an answer.
struct Transform {
    mime_type: Option<String>,
    select: Option<String>,
    html: Html,
    template: Option<Template>,
    vars: Value,
}

impl Url {
    pub(super) fn new(
        number: u64,
        definition: &Definition,
        url: &source::Url,
        environment: &Environment<'static>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EntryError> {
        let mut missing = Vec::new();
        let literal = |name: &str| lookup(name).map(|value| value.replace('{', "%7B").replace('}', "%7D"));
        let href = fill(&url.href, literal, &mut missing)?;
        let mut fill = |text: &str| fill(text, &lookup, &mut missing);
        // A value from the environment is no template, and no error may quote it.
        let from_environment = url.href.contains('$');
        let body = url.body.as_deref().map(&mut fill).transpose()?;
        let mut headers = HeaderMap::new();
        for (name, value) in &url.fetch.headers {
            let invalid = || EntryError::Invalid(format!("the header `{name}` holds what no header may"));
            let header = HeaderName::try_from(name).map_err(|_| invalid())?;
            let mut value = HeaderValue::try_from(fill(value)?).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.append(header, value);
        }
        if !missing.is_empty() {
            return Err(EntryError::Missing(missing));
        }
        let arguments: Vec<&str> = definition.arguments.keys().map(String::as_str).collect();
        let invalid_href = |error: HrefError| match from_environment {
            true => EntryError::Invalid("`href` is no address once the environment is filled in".to_owned()),
            false => EntryError::Invalid(format!("`href`: {error}")),
        };
        Ok(Self {
            number,
            href: Href::parse(&href, &arguments).map_err(invalid_href)?,
            method: match url.method {
                Method::Get => reqwest::Method::GET,
                Method::Post => reqwest::Method::POST,
            },
            headers,
            body: body.map(Bytes::from),
            limits: Limits::new(&url.fetch),
            accept_status: url.accept_status.clone(),
            cache: url.fetch.cache,
            transform: Transform::new(definition, url, environment)?,
        })
    }

    /// The request for these arguments.
    pub(super) fn request(
        &self,
        arguments: &BTreeMap<String, String>,
        validators: Validators,
    ) -> Result<Request, FetchError> {
        let href = self.href.expand(arguments).ok_or_else(FetchError::not_found)?;
        // `Href` has parsed it with other arguments in these places.
        let url = Address::parse(&href).map_err(|error| FetchError::failed("`href` is no address").because(error))?;
        Ok(Request {
            method: self.method.clone(),
            url,
            headers: self.headers.clone(),
            body: self.body.clone(),
            limits: self.limits,
            accept_status: self.accept_status.clone(),
            validators,
        })
    }

    /// Makes the contents. May take long: it reads what anybody wrote.
    pub(super) fn contents(
        &self,
        response: &Response,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Fetched, FetchError> {
        self.transform.apply(response, arguments)
    }
}

impl Transform {
    fn new(definition: &Definition, url: &source::Url, environment: &Environment<'static>) -> Result<Self, EntryError> {
        let template = url.template.as_ref().map(|template| Template::new(template, environment)).transpose()?;
        Ok(Self {
            mime_type: definition.mime_type.clone(),
            select: url.select.clone(),
            html: url.html,
            template,
            vars: Value::from(Serde(definition.context.get("vars"))),
        })
    }

    fn apply(&self, response: &Response, arguments: &BTreeMap<String, String>) -> Result<Fetched, FetchError> {
        let header = response.headers.get(CONTENT_TYPE).map(|header| String::from_utf8_lossy(header.as_bytes()));
        let content_type = ContentType::parse(&header.unwrap_or_default());
        let Some(text) = decode::text(&response.body, &content_type) else {
            if self.select.is_some() || self.template.is_some() {
                return Err(FetchError::upstream(&client::host(&response.url), "did not answer with text"));
            }
            let blob = Payload::Blob(response.body.clone());
            return Ok(self.fetched(blob, &content_type.essence, "application/octet-stream"));
        };
        let (text, mime_type) = match &self.select {
            Some(pointer) => select(pointer, &text, response)?,
            None => self.convert(text, &content_type, response)?,
        };
        let Some(template) = &self.template else {
            return Ok(self.fetched(Payload::Text(text.into()), &mime_type, "text/plain"));
        };
        let json = serde_json::from_str::<serde_json::Value>(&text).ok();
        let context = context! {
            text,
            json => json.as_ref().map_or(Value::UNDEFINED, |json| Value::from(Serde(json))),
            status => response.status.as_u16(),
            headers => headers(&response.headers),
            args => arguments,
            vars => self.vars.clone(),
        };
        let text = template.render(context)?;
        Ok(self.fetched(Payload::Text(text.into()), "", "text/plain"))
    }

    /// What `html` makes of a text, and its media type.
    fn convert(
        &self,
        text: String,
        content_type: &ContentType,
        response: &Response,
    ) -> Result<(String, String), FetchError> {
        let mime_type = match self.html {
            Html::Markdown if content_type.is_html() => "text/markdown",
            Html::Text if content_type.is_html() => "text/plain",
            _ => return Ok((text, content_type.essence.clone())),
        };
        // Links such as `#top` would carry the query along, and with it what is secret in it.
        let mut base = response.url.clone();
        base.set_query(None);
        let converted = html::convert_to(self.html, &text, base.as_str()).map_err(|error| {
            FetchError::upstream(&client::host(&response.url), "sent HTML that cannot be converted").because(error)
        })?;
        Ok((converted, mime_type.to_owned()))
    }

    /// The definition's media type wins over the upstream's.
    fn fetched(&self, payload: Payload, upstream: &str, default: &str) -> Fetched {
        let upstream = if upstream.is_empty() { default } else { upstream };
        let mime_type = self.mime_type.clone().unwrap_or_else(|| upstream.to_owned());
        Fetched { payload, mime_type, stale: None, left_out: None }
    }
}

/// What a JSON Pointer finds, and its media type: a text as it is, anything else as JSON, written as it came.
fn select(pointer: &str, text: &str, response: &Response) -> Result<(String, String), FetchError> {
    let host = client::host(&response.url);
    let no_json = |error| FetchError::upstream(&host, "did not answer with JSON").because(error);
    let mut found: &RawValue = serde_json::from_str(text).map_err(no_json)?;
    for token in pointer.split('/').skip(1) {
        let member = member(found, &token.replace("~1", "/").replace("~0", "~")).map_err(no_json)?;
        found = member.ok_or_else(|| FetchError::upstream(&host, format_args!("sent JSON without `{pointer}`")))?;
    }
    Ok(match serde_json::from_str(found.get()) {
        Ok(text) => (text, "text/plain".to_owned()),
        Err(_) => (found.get().to_owned(), "application/json".to_owned()),
    })
}

/// A member of an object, or an element of an array.
fn member<'a>(value: &'a RawValue, token: &str) -> serde_json::Result<Option<&'a RawValue>> {
    let json = value.get();
    if json.starts_with('{') {
        let mut members: HashMap<String, &RawValue> = serde_json::from_str(json)?;
        return Ok(members.remove(token));
    }
    // RFC 6901: an index has no zeros in front.
    let index = token.parse::<usize>().ok().filter(|index| index.to_string() == token);
    match index {
        Some(index) if json.starts_with('[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(json)?;
            Ok(elements.get(index).copied())
        }
        _ => Ok(None),
    }
}

/// Headers by name; those of one name are joined as RFC 9110, section 5.3 allows.
fn headers(headers: &HeaderMap) -> BTreeMap<&str, String> {
    let mut joined: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let line = joined.entry(name.as_str()).or_default();
        line.push_str(if line.is_empty() { "" } else { ", " });
        line.push_str(&value);
    }
    joined
}

/// Fills in the environment; what it lacks goes on the list.
pub(super) fn fill(
    text: &str,
    lookup: impl Fn(&str) -> Option<String>,
    missing: &mut Vec<String>,
) -> Result<String, EntryError> {
    let pieces = env::parse(text).map_err(|error| EntryError::Invalid(error.to_string()))?;
    Ok(env::fill(&pieces, lookup).unwrap_or_else(|names| {
        missing.extend(names.into_iter().map(str::to_owned));
        String::new()
    }))
}
