//! Where redirects may lead, and what goes with them.

use mcpress_catalog::access::is_safe;
use reqwest::{
    Method, StatusCode, Url,
    header::{self, HeaderName, HeaderValue},
};

use super::{
    address,
    client::{Request, host},
    error::FetchError,
};

/// Where a redirect leads, if the answer is one.
pub(super) fn location(response: &reqwest::Response) -> Option<&[u8]> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    response.headers().get(header::LOCATION).filter(|_| is_redirect).map(HeaderValue::as_bytes)
}

/// Makes the request that follows a redirect, by the rules of RFC 9110, section 15.4, and of the
/// [Fetch standard](https://fetch.spec.whatwg.org/#http-redirect-fetch).
pub(super) fn follow(request: &mut Request, status: StatusCode, location: &[u8]) -> Result<(), FetchError> {
    let from = host(&request.url);
    let target = std::str::from_utf8(location).ok().and_then(|location| request.url.join(location).ok());
    let Some(target) = target.filter(Url::has_host) else {
        return Err(FetchError::upstream(&from, "redirects to what is no address"));
    };
    let refuse =
        |reason: &str| Err(FetchError::refused(format_args!("{from} redirects to {}: {reason}", name(&target))));
    match (request.url.scheme(), target.scheme()) {
        ("https", "http") => return refuse("https never becomes http"),
        (_, "http" | "https") => {}
        _ => return refuse("it is neither http nor https"),
    }
    let becomes_get = match status.as_u16() {
        301 | 302 => request.method == Method::POST,
        303 => request.method != Method::HEAD,
        _ => false,
    };
    if becomes_get {
        request.method = Method::GET;
        request.body = None;
        for name in OF_THE_BODY {
            request.headers.remove(name);
        }
    }
    if request.url.origin() != target.origin() {
        if request.body.is_some() {
            return refuse("the body of the request stays with its origin");
        }
        // Not even a redirect back brings them back: the other side would choose what they are good for.
        request.headers.clear();
    }
    request.url = target;
    check_address(request, Some(&from))
}

/// Headers that speak of a body.
const OF_THE_BODY: [HeaderName; 5] = [
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LOCATION,
];

/// Refuses an address in the URL itself, which no resolver ever sees, and http where it is not safe; `from` is who
/// redirected there.
pub(super) fn check_address(request: &Request, from: Option<&str>) -> Result<(), FetchError> {
    let (url, limits) = (&request.url, request.limits);
    let checked = if limits.only_safe && !is_safe(url.scheme(), url.host_str().unwrap_or_default()) {
        Err("http is for this machine only".to_owned())
    } else if limits.allow_private_network {
        Ok(())
    } else {
        address::check_url(url).map_err(|refused| refused.to_string())
    };
    checked.map_err(|refused| match from {
        Some(from) => FetchError::refused(format_args!("{from} redirects to {}: {refused}", name(url))),
        None => FetchError::refused(refused),
    })
}

/// A URL without what may be secret in it.
fn name(url: &Url) -> String {
    let path: String = url.path().chars().take(100).collect();
    format!("{}://{}{path}", url.scheme(), host(url))
}
