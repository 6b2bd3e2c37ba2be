//! The address of a fetch: checked by the compiler with stand-ins for the environment, and again by the server once
//! the environment is filled in.

use std::{collections::BTreeMap, fmt};

use fluent_uri::{Uri, component::Host};
use url::Url;

use crate::uri_template::Template;

/// An http or https address, or an RFC 6570 template of one whose variables can change neither the server that is
/// asked nor the shape of the path.
#[derive(Clone, Debug)]
pub struct Href(Template);

/// Why a text is no address that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HrefError {
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub hint: &'static str,
}

impl std::error::Error for HrefError {}

impl fmt::Display for HrefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Href {
    /// Reads an address in which the environment is filled in. Its variables must be arguments.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse<S: AsRef<str>>(href: &str, arguments: &[S]) -> Result<Self, HrefError> {
        let template = Template::parse(href).map_err(|error| {
            fault(error.message, "percent-encode what no address may hold; variables follow RFC 6570 up to level 3")
        })?;
        for variable in template.variables() {
            if !arguments.iter().any(|argument| argument.as_ref() == variable) {
                let hint = "only variables of `uri_template` can stand in the address";
                return Err(fault(format!("`{{{variable}}}` is no argument of this entry"), hint));
            }
        }
        if template.has_reserved() {
            let hint = "write `{name}`, `{/name}` or `{?name}`, which encode what an argument holds";
            return Err(fault("an argument could change the rest of the address through `{+…}` or `{#…}`", hint));
        }
        if template.variables().next().is_some() && !has_path(template.prefix()) {
            let hint = "a variable may stand behind the first `/` that follows the host";
            return Err(fault("an argument could change the server that is asked", hint));
        }
        let example = template.variables().map(|variable| (variable.to_owned(), "1".to_owned())).collect();
        check(&template.expand(&example))?;
        Ok(Self(template))
    }

    /// The address for these arguments, if they leave its path in shape: no argument may be a `.` or `..` on the way.
    pub fn expand(&self, arguments: &BTreeMap<String, String>) -> Option<String> {
        let href = self.0.expand(arguments);
        (!has_dot_segments(&href)).then_some(href)
    }
}

/// Checks the address of a site: like that of a fetch, without a query.
///
/// # Errors
/// What is wrong with it.
pub fn check_site(site: &str) -> Result<(), HrefError> {
    if site.contains(['{', '}']) {
        return Err(fault(
            "the address of a site has no variables but `${NAME}`",
            "an argument cannot choose the site",
        ));
    }
    Href::parse::<&str>(site, &[])?;
    let path = site.split('?').next().unwrap_or_default().trim_end_matches('/');
    if path.len() < site.trim_end_matches('/').len() {
        return Err(fault("the address of a site has no query", "write where its home page is; the REST API is found"));
    }
    if path.ends_with("/wp-json") || path.contains("/wp-json/") {
        return Err(fault("this is the address of the REST API", "write where the home page is, without `/wp-json`"));
    }
    Ok(())
}

fn check(href: &str) -> Result<(), HrefError> {
    let absolute = "write it in full, such as `https://example.com/data.json`";
    let uri = Uri::parse(href).map_err(|_| fault("not an absolute address", absolute))?;
    if !["http", "https"].iter().any(|scheme| uri.scheme().as_str().eq_ignore_ascii_case(scheme)) {
        return Err(fault(format!("expected http or https, found `{}`", uri.scheme()), absolute));
    }
    let authority = uri.authority().ok_or_else(|| fault("the address has no host", absolute))?;
    if authority.has_userinfo() {
        let hint = "send it as a header: `headers: {Authorization: \"Basic ${…}\"}`";
        return Err(fault("a user name in the address", hint));
    }
    if matches!(authority.host_parsed(), Host::RegName(name) if name.is_empty()) {
        return Err(fault("the address has no host", absolute));
    }
    if authority.port_to_u16().is_err() {
        return Err(fault("the port is no number up to 65535", absolute));
    }
    if uri.has_fragment() {
        return Err(fault("a fragment (`#…`) is never sent to a server", "leave it out"));
    }
    if has_dot_segments(href) {
        return Err(fault("the path holds a `.` or `..`", "write the path as it is without them"));
    }
    // RFC 3986 lets a host be nearly anything; what is asked is what the parser of the web makes of it.
    if let Err(error) = Url::parse(href) {
        let hint = "write the host as DNS knows it, such as `example.com`";
        return Err(fault(format!("no address on the web: {error}"), hint));
    }
    Ok(())
}

/// True if a text that begins an address reaches beyond the host.
fn has_path(prefix: &str) -> bool {
    prefix.split_once("://").is_some_and(|(_, rest)| rest.find(['/', '?', '#']).is_some_and(|end| end > 0))
}

fn has_dot_segments(href: &str) -> bool {
    let path = href.split(['?', '#']).next().unwrap_or_default();
    path.split('/').any(|segment| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | ".."))
}

fn fault(message: impl Into<String>, hint: &'static str) -> HrefError {
    HrefError { message: message.into(), hint }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn takes_addresses_whose_server_is_fixed() {
        for href in [
            "https://example.com",
            "HTTPS://example.com:8443/a?b=c",
            "http://[::1]:8080/",
            "http://127.0.0.1/ü",
            "https://example.com/{x}",
            "https://example.com/a{/x,y}",
            "https://example.com/a{?x,y}",
            "https://example.com/a?b=1{&x}",
            "https://example.com/?b={x}",
            "https://example.com?b={x}",
        ] {
            assert!(Href::parse(href, &["x", "y"]).is_ok(), "{href}");
        }
    }

    #[test]
    fn refuses_the_others() {
        for (href, message) in [
            ("", "not an absolute address"),
            ("/a/b", "not an absolute address"),
            ("ftp://example.com/", "expected http or https, found `ftp`"),
            ("file:///etc/passwd", "expected http or https, found `file`"),
            ("https:example.com", "the address has no host"),
            ("https:///a", "the address has no host"),
            ("https://:80/a", "the address has no host"),
            ("https://example.com:99999/", "the port is no number up to 65535"),
            ("https://me:secret@example.com/", "a user name in the address"),
            ("https://example.com/#a", "a fragment (`#…`) is never sent to a server"),
            ("https://example.com/a/../b", "the path holds a `.` or `..`"),
            ("https://example.com/%2E%2e/b", "the path holds a `.` or `..`"),
            ("https://b%BB.example.com/", "no address on the web: invalid international domain name"),
            ("https://xn--a-.example.com/", "no address on the web: invalid international domain name"),
            ("https://example.com%2Fa/{x}", "no address on the web: invalid international domain name"),
            ("https://1.2.3.4.5/", "no address on the web: invalid IPv4 address"),
            ("https://host.256/", "no address on the web: invalid IPv4 address"),
            ("https://example.com/a b", "' ' may not stand in a URI"),
            ("https://example.com/{x", "`{` without a `}`"),
            ("https://example.com/{z}", "`{z}` is no argument of this entry"),
            ("https://example.com/{+x}", "an argument could change the rest"),
            ("https://example.com/a{#x}", "an argument could change the rest"),
            ("{x}://example.com/", "an argument could change the server that is asked"),
            ("https://{x}/", "an argument could change the server that is asked"),
            ("https://{x}.example.com/", "an argument could change the server that is asked"),
            ("https://example.com{x}", "an argument could change the server that is asked"),
            ("https://example.com:{x}/", "an argument could change the server that is asked"),
            ("https://example.com{/x}{y}", "an argument could change the server that is asked"),
            ("https:///{x}/", "an argument could change the server that is asked"),
        ] {
            let error = Href::parse(href, &["x", "y"]).unwrap_err();
            assert!(error.message.starts_with(message), "{href}: {}", error.message);
        }
    }

    #[test]
    fn checks_sites() {
        for site in ["https://example.com", "https://example.com/blog/", "http://localhost:8080"] {
            assert_eq!(check_site(site), Ok(()), "{site}");
        }
        for site in [
            "https://example.com/?p=1",
            "https://x.com/wp-json/",
            "https://x.com/wp-json/wp/v2",
            "x.com",
            "https://{x}",
        ] {
            assert!(check_site(site).is_err(), "{site}");
        }
    }

    proptest! {
        #[test]
        fn no_argument_changes_host_depth_or_query(x in "\\PC{0,8}|[./?&=#%2eF@:]{0,8}", y in "\\PC{0,8}") {
            let href = Href::parse("https://example.com/a/{x}/b?q={y}&z=1", &["x", "y"]).unwrap();
            let arguments = BTreeMap::from([("x".to_owned(), x), ("y".to_owned(), y)]);
            if let Some(href) = href.expand(&arguments) {
                let uri = Uri::parse(href.as_str()).unwrap().normalize();
                prop_assert_eq!(uri.authority().unwrap().as_str(), "example.com");
                prop_assert_eq!(uri.path().as_str().split('/').count(), 4, "{}", href);
                let query = uri.query().unwrap().as_str();
                prop_assert_eq!(query.split('&').count(), 2);
                prop_assert!(query.starts_with("q=") && query.ends_with("&z=1"));
                prop_assert_eq!(query.matches('=').count(), 2);
            }
        }

        #[test]
        fn any_text_is_an_address_or_refused(text in "\\PC*|(https?://)?[a.{}:@/?#x1%-]{0,16}") {
            if let Ok(href) = Href::parse(&text, &["x"]) {
                let _ = href.expand(&BTreeMap::new());
            }
            let _ = check_site(&text);
        }
    }
}
