//! Who may ask: the `Host` and `Origin` of a request against what is allowed.
//!
//! A page in a browser can point a name of its own at this machine (DNS rebinding) and so reach a server that only
//! listens on loopback; its requests carry that name in `Host` and in `Origin`.

use hyper::http::uri::Authority;

/// What `Host` and `Origin` may be.
///
/// - Loopback names (`localhost`, `127.0.0.1`, `[::1]`) are always allowed, with any port: no foreign page can have them.
/// - An origin is allowed if it is listed, or if its host is an allowed one; `*` among the hosts does not count for that.
#[derive(Clone, Debug, Default)]
pub struct Access {
    any_host: bool,
    hosts: Vec<Authority>,
    any_origin: bool,
    origins: Vec<String>,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Access {
    /// Allows these hosts (`name`, `name:port`, or `*`) and origins (`scheme://name[:port]`, or `*`) beside the
    /// loopback names.
    ///
    /// # Errors
    /// The first entry that is neither.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, String> {
        let mut access = Self::default();
        for host in hosts.iter().map(|host| host.trim()).filter(|host| !host.is_empty()) {
            match parse_authority(host) {
                _ if host == "*" => access.any_host = true,
                Some(authority) => access.hosts.push(authority),
                None => return Err(format!("`{host}` is no host: write `name`, `name:port`, or `*`")),
            }
        }
        for origin in origins.iter().map(|origin| origin.trim()).filter(|origin| !origin.is_empty()) {
            match origin.split_once("://").map(|(_, authority)| parse_authority(authority)) {
                _ if origin == "*" => access.any_origin = true,
                Some(Some(_)) => access.origins.push(origin.to_owned()),
                _ => return Err(format!("`{origin}` is no origin: write `https://name`, `https://name:port`, or `*`")),
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
        self.any_host || parse_authority(host).is_some_and(|host| self.names(&host))
    }

    /// Whether a page of this origin may ask.
    pub fn allows_origin(&self, origin: &str) -> bool {
        if self.any_origin || self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) {
            return true;
        }
        match origin.split_once("://") {
            Some(("http" | "https", authority)) => parse_authority(authority).is_some_and(|host| self.names(&host)),
            _ => false,
        }
    }

    fn names(&self, host: &Authority) -> bool {
        LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(host.host()))
            || self.hosts.iter().any(|allowed| {
                allowed.host().eq_ignore_ascii_case(host.host())
                    && (allowed.port().is_none() || allowed.port_u16() == host.port_u16())
            })
    }
}

/// `name` or `name:port`, and nothing else.
fn parse_authority(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let port_is_sound = match text.strip_prefix(authority.host())?.strip_prefix(':') {
        Some(port) => port.parse::<u16>().is_ok(),
        None => text == authority.host(),
    };
    (port_is_sound && !authority.host().is_empty()).then_some(authority)
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
        for host in ["https://a.example", "a.example/mcp", "a b", "a:99999"] {
            assert!(Access::new(&[host.to_owned()], &[]).is_err(), "{host}");
        }
        for origin in ["a.example", "https://a.example/", "https://"] {
            assert!(Access::new(&[], &[origin.to_owned()]).is_err(), "{origin}");
        }
    }
}
