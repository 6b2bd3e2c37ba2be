//! Who may ask: the `Host` and `Origin` of a request against what is allowed.
//!
//! A page in a browser can point a name of its own at this machine (DNS rebinding) and so reach a server that only
//! listens on loopback; its requests carry that name in `Host` and in `Origin`.

use std::{borrow::Cow, net::Ipv6Addr};

/// What `Host` and `Origin` may be.
///
/// - Loopback names (`localhost`, `127.0.0.1`, `[::1]`) are always allowed, with any port: no foreign page can have them.
/// - An origin is allowed if it is listed, or if its host is an allowed one; `*` among the hosts does not count for that.
#[derive(Clone, Debug, Default)]
pub struct Access {
    any_host: bool,
    hosts: Vec<Host<'static>>,
    any_origin: bool,
    origins: Vec<Origin<'static>>,
}

/// `name` or `name:port`.
#[derive(Clone, Debug)]
struct Host<'a> {
    name: Name<'a>,
    port: Option<u16>,
}

/// What a host is called.
#[derive(Clone, Debug)]
enum Name<'a> {
    /// Which can be written in many ways, so its value counts.
    Ipv6(Ipv6Addr),
    /// Anything else.
    Text(Cow<'a, str>),
}

/// `scheme://host`. The port that a scheme has by default is there even if it was not written.
#[derive(Clone, Debug)]
struct Origin<'a> {
    scheme: Cow<'a, str>,
    host: Host<'a>,
}

const LOOPBACK: [&str; 2] = ["localhost", "127.0.0.1"];

impl Access {
    /// Allows these hosts (`name`, `name:port`, or `*`) and origins (`scheme://name[:port]`, or `*`) beside the
    /// loopback names.
    ///
    /// # Errors
    /// The first entry that is neither.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, String> {
        let mut access = Self::default();
        for host in hosts.iter().map(|host| host.trim()).filter(|host| !host.is_empty()) {
            match Host::parse(host) {
                _ if host == "*" => access.any_host = true,
                Some(host) => access.hosts.push(host.into_owned()),
                None => return Err(format!("`{host}` is no host: write `name`, `name:port`, or `*` alone")),
            }
        }
        for origin in origins.iter().map(|origin| origin.trim()).filter(|origin| !origin.is_empty()) {
            match Origin::parse(origin) {
                _ if origin == "*" => access.any_origin = true,
                Some(origin) => access.origins.push(origin.into_owned()),
                None => {
                    let forms = "`https://name`, `https://name:port`, or `*` alone";
                    return Err(format!("`{origin}` is no origin: write {forms}"));
                }
            }
        }
        Ok(access)
    }

    /// True if no host beside the loopback names is allowed.
    pub fn is_loopback_only(&self) -> bool {
        !self.any_host && self.hosts.is_empty()
    }

    /// Whether a request may name this host, given as in `Host` or `:authority`.
    pub fn allows_host(&self, host: &str) -> bool {
        self.any_host || Host::parse(host).is_some_and(|host| self.names(&host))
    }

    /// Whether a page of this origin may ask.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.any_origin
            || Origin::parse(origin).is_some_and(|origin| {
                let is_web = ["http", "https"].iter().any(|scheme| origin.scheme.eq_ignore_ascii_case(scheme));
                self.origins.iter().any(|allowed| allowed.is(&origin)) || (is_web && self.names(&origin.host))
            })
    }

    fn names(&self, host: &Host<'_>) -> bool {
        host.name.is_loopback() || self.hosts.iter().any(|allowed| allowed.allows(host))
    }
}

impl<'a> Host<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (name, rest) = match text.strip_prefix('[') {
            Some(text) => {
                let (address, rest) = text.split_once(']')?;
                (Name::Ipv6(address.parse().ok()?), rest)
            }
            None => {
                let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                if name.is_empty() || !name.bytes().all(is_name) {
                    return None;
                }
                (Name::Text(name.into()), rest)
            }
        };
        let port = match rest.strip_prefix(':') {
            // A colon without a port is the same as none.
            Some("") => None,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
            None if rest.is_empty() => None,
            _ => return None,
        };
        Some(Self { name, port })
    }

    /// Without a port any is allowed. Clients leave out the ports of HTTP and HTTPS.
    fn allows(&self, host: &Host<'_>) -> bool {
        let is_port = match (self.port, host.port) {
            (None, _) | (Some(80 | 443), None) => true,
            (allowed, port) => allowed == port,
        };
        is_port && self.name.is(&host.name)
    }

    fn into_owned(self) -> Host<'static> {
        let name = match self.name {
            Name::Ipv6(address) => Name::Ipv6(address),
            Name::Text(text) => Name::Text(text.into_owned().into()),
        };
        Host { name, port: self.port }
    }
}

impl Name<'_> {
    fn is(&self, other: &Name<'_>) -> bool {
        match (self, other) {
            (Name::Ipv6(address), Name::Ipv6(other)) => address == other,
            (Name::Text(text), Name::Text(other)) => text.eq_ignore_ascii_case(other),
            _ => false,
        }
    }

    fn is_loopback(&self) -> bool {
        match self {
            Name::Ipv6(address) => address.is_loopback(),
            Name::Text(text) => LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(text)),
        }
    }
}

impl<'a> Origin<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (scheme, host) = text.split_once("://")?;
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(is_scheme) {
            return None;
        }
        let mut host = Host::parse(host)?;
        host.port = host.port.or(match scheme {
            _ if scheme.eq_ignore_ascii_case("http") => Some(80),
            _ if scheme.eq_ignore_ascii_case("https") => Some(443),
            _ => None,
        });
        Some(Self { scheme: scheme.into(), host })
    }

    fn is(&self, other: &Origin<'_>) -> bool {
        self.scheme.eq_ignore_ascii_case(&other.scheme)
            && self.host.port == other.host.port
            && self.host.name.is(&other.host.name)
    }

    fn into_owned(self) -> Origin<'static> {
        Origin { scheme: self.scheme.into_owned().into(), host: self.host.into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(hosts: &[&str], origins: &[&str]) -> Access {
        let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>();
        Access::new(&owned(hosts), &owned(origins)).unwrap()
    }

    #[test]
    fn allows_loopback_names_by_default() {
        let access = access(&[], &[]);
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]", "[::1]:80"] {
            assert!(access.allows_host(host), "{host}");
            assert!(access.allows_origin(&format!("http://{host}")), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.2", "::1", "user@localhost", "localhost:x", ""]
        {
            assert!(!access.allows_host(host), "{host}");
            assert!(!access.allows_origin(&format!("http://{host}")), "{host}");
        }
        for origin in ["null", "", "localhost", "file://localhost", "http://localhost/", "http://localhost/x"] {
            assert!(!access.allows_origin(origin), "{origin}");
        }
        assert!(access.is_loopback_only());
    }

    #[test]
    fn compares_hosts_with_and_without_port() {
        let access = access(&["mcp.internal", "Other.example:81"], &[]);
        for host in ["mcp.internal", "MCP.internal:8080", "other.example:81", "localhost:1"] {
            assert!(access.allows_host(host), "{host}");
        }
        assert!(!access.allows_host("other.example"));
        assert!(access.allows_origin("https://mcp.internal"));
        assert!(!access.allows_origin("https://other.example"));
        assert!(!access.is_loopback_only());
    }

    #[test]
    fn leaves_out_ports_as_clients_do() {
        let entries =
            access(&["mcp.example:443", "plain.example:80", "[2001:DB8::0:1]:81"], &["https://app.example:443"]);
        for host in
            ["mcp.example", "mcp.example:443", "mcp.example:", "plain.example", "[2001:db8:0::1]:81", "localhost:"]
        {
            assert!(entries.allows_host(host), "{host}");
        }
        for host in ["mcp.example:80", "plain.example:443", "[2001:db8::1]", "[2001:db8::2]:81"] {
            assert!(!entries.allows_host(host), "{host}");
        }
        for origin in ["https://app.example", "HTTPS://app.example:443", "https://mcp.example", "http://[0:0::1]:5173"]
        {
            assert!(entries.allows_origin(origin), "{origin}");
        }
        for origin in ["http://app.example", "https://app.example:444", "http://mcp.example", "ftp://localhost"] {
            assert!(!entries.allows_origin(origin), "{origin}");
        }
        assert!(access(&[], &["https://app.example"]).allows_origin("https://app.example:443"));
        assert!(access(&[], &["vscode-webview://1a-2b"]).allows_origin("vscode-webview://1a-2b"));
    }

    #[test]
    fn does_not_take_a_wildcard_for_hosts_as_one_for_origins() {
        let access = access(&["*"], &["https://app.example"]);
        assert!(access.allows_host("anything.example"));
        assert!(access.allows_origin("https://APP.example"));
        assert!(!access.allows_origin("http://app.example"));
        assert!(!access.allows_origin("https://anything.example"));
        assert!(super::Access::new(&[], &["*".to_owned()]).unwrap().allows_origin("null"));
    }

    #[test]
    fn rejects_entries_that_can_never_match() {
        for host in
            ["https://a.example", "a.example/mcp", "a b", "a:99999", "a:+1", "*.a.example", "*:80", "[*]", "::1", "ü"]
        {
            assert!(Access::new(&[host.to_owned()], &[]).is_err(), "{host}");
        }
        for origin in [
            "a.example",
            "https://a.example/",
            "https://",
            "https://*.a.example",
            "https://*",
            "ht tp://a",
            "://a",
            "https://u@a",
        ] {
            assert!(Access::new(&[], &[origin.to_owned()]).is_err(), "{origin}");
        }
    }
}
