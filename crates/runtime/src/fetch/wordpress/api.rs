//! Requests to a site's REST API, and what its answers say.

use std::fmt::Display;

use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::{FutureExt, future::BoxFuture};
use mcpress_catalog::source::StatusRange;
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LINK},
};
use serde_json::Value;

use super::{
    super::{
        client::{self, Client, Limits, Request, Response, Validators},
        error::FetchError,
    },
    slug,
};

/// A failing answer is read too: it may say why.
const READ: [StatusRange; 2] = [StatusRange { first: 200, last: 299 }, StatusRange { first: 400, last: 599 }];

/// Characters of what a site sent that are shown to people.
const EXCERPT: usize = 80;

/// How a site is asked.
pub(super) struct Api {
    /// The address of its home page.
    pub(super) site: Url,
    /// For the site's own origin, as the password.
    pub(super) headers: HeaderMap,
    pub(super) authorization: Option<HeaderValue>,
    pub(super) limits: Limits,
}

/// An answer in JSON.
pub(super) struct Answer {
    pub(super) json: Value,
    headers: HeaderMap,
}

impl Api {
    /// The site's host, for messages.
    pub(super) fn host(&self) -> String {
        client::host(&self.site)
    }

    /// Asks for JSON.
    pub(super) async fn get(&self, client: &Client, url: Url) -> Result<Answer, FetchError> {
        let response = self.send(client, Method::GET, url).await?;
        let host = client::host(&response.url);
        let json = json(&response.body);
        if !response.status.is_success() {
            return Err(self.failed(&host, response.status.as_u16(), json.ok().as_ref()));
        }
        match json {
            Ok(json) => Ok(Answer { json, headers: response.headers }),
            Err(error) => Err(FetchError::upstream(&host, not_json(&response)).because(error)),
        }
    }

    /// Where the home page says that the REST API is.
    pub(super) async fn linked_root(&self, client: &Client) -> Result<Option<Url>, FetchError> {
        let response = self.send(client, Method::HEAD, self.site.clone()).await?;
        let links = response.headers.get_all(LINK).iter().filter_map(|header| header.to_str().ok());
        let linked = links.flat_map(|header| header.split(',')).find_map(|link| {
            let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
            let is_api = parameters.contains("\"https://api.w.org/\"") || parameters.contains("=https://api.w.org/");
            is_api.then_some(target)
        });
        Ok(linked.and_then(|target| response.url.join(target).ok()))
    }

    /// On the heap, since a query has many requests in it, and each is a large future.
    fn send<'a>(&self, client: &'a Client, method: Method, url: Url) -> BoxFuture<'a, Result<Response, FetchError>> {
        client.send(self.request(method, url)).boxed()
    }

    fn request(&self, method: Method, url: Url) -> Request {
        let mut headers = HeaderMap::new();
        if url.origin() == self.site.origin() {
            headers = self.headers.clone();
            if let Some(authorization) = &self.authorization {
                headers.insert(AUTHORIZATION, authorization.clone());
            }
        }
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        Request {
            method,
            url,
            headers,
            body: None,
            limits: self.limits,
            accept_status: READ.to_vec(),
            validators: Validators::default(),
        }
    }

    /// What a status says, with WordPress's own code where the answer has one.
    fn failed(&self, host: &str, status: u16, json: Option<&Value>) -> FetchError {
        let error = FetchError::status(host, status);
        let Some(json) = json else { return error };
        // What is wrong with a parameter says more than that something is.
        let details = json.pointer("/data/details").and_then(Value::as_object);
        let json = details.and_then(|details| details.values().next()).unwrap_or(json);
        let Some(code) = json["code"].as_str() else { return error };
        let reason = json["message"].as_str().map(|message| format!(" ({})", excerpt(message))).unwrap_or_default();
        let refused = status == 401 || json.pointer("/data/status").and_then(Value::as_u64) == Some(401);
        let hint = match &self.authorization {
            Some(_) if refused => {
                "; either the password is wrong, or the server does not hand on the `Authorization` header"
            }
            _ => "",
        };
        error.reword(|error| format!("{error}: `{}`{reason}{hint}", excerpt(code)))
    }
}

impl Answer {
    /// How many there are in all, if the server says so.
    pub(super) fn total(&self) -> Option<u64> {
        self.headers.get("x-wp-total")?.to_str().ok()?.trim().parse().ok()
    }
}

/// The header of an application password.
pub(super) fn authorization(username: &str, password: &str) -> Option<HeaderValue> {
    let credentials = STANDARD.encode(format!("{username}:{password}"));
    let mut header = HeaderValue::try_from(format!("Basic {credentials}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// A header of the definition.
pub(super) fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::try_from(name).ok()?, value))
}

/// Hosts put a byte order mark or empty lines before the JSON, and caches comments behind it.
fn json(body: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(without_comments(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)))
}

/// No JSON ends as a comment does.
fn without_comments(mut body: &[u8]) -> &[u8] {
    loop {
        body = body.trim_ascii_end();
        let start = body.windows(4).rposition(|window| window == b"<!--").filter(|_| body.ends_with(b"-->"));
        match start.and_then(|start| body.get(..start)) {
            Some(before) => body = before,
            None => return body,
        }
    }
}

fn not_json(response: &Response) -> String {
    let content_type = response.headers.get(CONTENT_TYPE).and_then(|header| header.to_str().ok());
    let essence = content_type.and_then(|header| header.split(';').next()).unwrap_or("no media type").trim();
    // A page says more behind its head.
    let text = String::from_utf8_lossy(&response.body);
    let text = text.split_once("<body").map_or(&*text, |(_, body)| body.split_once('>').map_or(body, |(_, rest)| rest));
    match excerpt(&slug::without_tags(&text.replace('<', " <"))) {
        excerpt if excerpt.is_empty() => format!("sent nothing where JSON was expected ({essence})"),
        excerpt => format!("sent what is no JSON ({essence}): `{excerpt}`"),
    }
}

/// The beginning of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    // Of an address, not what may be secret.
    let public = |word: &'_ str| {
        if word.contains("://") { word.split('?').next().unwrap_or_default().to_owned() } else { word.to_owned() }
    };
    let line = text.split_whitespace().map(public).collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|character| !character.is_control()).collect();
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Says where an error happened.
pub(super) fn at(place: impl Display) -> impl FnOnce(FetchError) -> FetchError {
    move |error| error.reword(|error| format!("{place}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_json_as_hosts_send_it() {
        for body in ["[1]", "\u{feff}[1]", "\r\n\n \t[1] \n", "[1]\n<!-- Cached page -->\n", "[1]<!-- a --><!-- b -->"]
        {
            assert_eq!(json(body.as_bytes()).unwrap(), serde_json::json!([1]), "{body}");
        }
        for body in
            ["", "[1", "<b>Notice</b>[1]", "[1][2]", "[1] x", "<!-- x -->", "[1] x <!-- x -->", "[1]<b>x</b><!-- x -->"]
        {
            assert!(json(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn shows_a_line() {
        assert_eq!(excerpt(" a\n\t b\u{7} "), "a b");
        assert_eq!(excerpt(&"ü".repeat(200)), format!("{}…", "ü".repeat(80)));
    }
}
