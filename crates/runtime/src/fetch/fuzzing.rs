//! What the fuzz targets reach into: what becomes of an answer, and where a redirect may lead, without sockets. Compiled
//! for them only.

use std::sync::Arc;

use mcpress_catalog::source::{Fetch, Html};
use reqwest::{
    Method, StatusCode, Url,
    header::{HeaderMap, HeaderValue},
};

use super::{
    Fetcher, address,
    client::{Limits, Request, Validators},
    decode::{self, ContentType},
    html, redirect,
};

/// The text of a body with this `Content-Type`, if it is text.
pub fn text(body: &[u8], content_type: &str) -> Option<String> {
    decode::text(body, &ContentType::parse(content_type))
}

/// A page as Markdown or text.
///
/// # Errors
/// What the converter says.
pub fn convert(format: Html, page: &str, base: &str) -> Result<String, String> {
    html::convert_to(format, page, base)
}

/// Whether an address in a URL is one that anybody may ask.
pub fn is_public(url: &Url) -> bool {
    address::check_url(url).is_ok()
}

/// What follows a redirect.
#[derive(Debug)]
pub struct Followed {
    /// What is asked next.
    pub url: Url,
    /// How.
    pub method: Method,
    /// Whether it is told what only the first origin may know.
    pub has_secrets: bool,
    /// Whether it is sent the body.
    pub has_body: bool,
}

/// Follows a redirect of a request that has secrets, and a body unless it is a `GET`; `None` if it is refused.
pub fn follow(url: Url, method: Method, status: u16, location: &[u8], allow_private_network: bool) -> Option<Followed> {
    let body = (method != Method::GET).then(|| "body".into());
    let headers = HeaderMap::from_iter([("x-api-key".parse().ok()?, HeaderValue::from_static("secret"))]);
    let limits = Limits::new(&Fetch { allow_private_network, ..Fetch::default() });
    let (accept_status, validators) = (Vec::new(), Validators::default());
    let mut request = Request { method, url, headers, body, limits, accept_status, validators };
    redirect::follow(&mut request, StatusCode::from_u16(status).ok()?, location).ok()?;
    let (has_secrets, has_body) = (!request.headers.is_empty(), request.body.is_some());
    Some(Followed { url: request.url, method: request.method, has_secrets, has_body })
}

impl Fetcher {
    /// A fetcher with the same connections that knows nothing yet of any site.
    #[must_use]
    pub fn forgetful(&self) -> Self {
        Self { sites: Arc::default(), ..self.clone() }
    }
}
