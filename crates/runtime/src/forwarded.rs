//! The address of a client that may be behind proxies.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// Proxies whose word is taken for whom they speak for.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Reads a list of addresses and of networks such as `10.0.0.0/8`.
    ///
    /// # Errors
    /// An entry that is neither.
    pub fn new(entries: &[String]) -> Result<Self, String> {
        let network = |entry: &String| {
            let entry = entry.trim();
            let network = entry.parse::<IpNet>().ok().or_else(|| Some(entry.parse::<IpAddr>().ok()?.into()));
            network.and_then(canonical).ok_or_else(|| {
                format!(
                    "`{entry}` is no trusted proxy\n  hint: write an address, such as `10.0.0.7`, or a network, such as \
                     `10.0.0.0/8` or `fd00::/8`"
                )
            })
        };
        entries.iter().filter(|entry| !entry.trim().is_empty()).map(network).collect::<Result<_, _>>().map(Self)
    }

    /// Who asks: the peer, or if that is a trusted proxy, the nearest in `X-Forwarded-For` that is none. `lines` are
    /// those of the header; each proxy has added at the end from whom it had the request.
    pub(crate) fn client<'a>(&self, peer: IpAddr, lines: impl DoubleEndedIterator<Item = &'a [u8]>) -> IpAddr {
        let mut client = peer.to_canonical();
        for entry in lines.rev().flat_map(|line| line.rsplit(|byte| *byte == b',')) {
            // What a stranger says of others, or what is no address, counts for nothing.
            let (true, Some(address)) = (self.trusts(client), parse(entry)) else { break };
            client = address.to_canonical();
        }
        client
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// A network of IPv4 where it is written as one of IPv6 (`::ffff:10.0.0.0/104`), since that is how addresses are
/// compared. `None` for one that holds all of IPv4 and more.
fn canonical(network: IpNet) -> Option<IpNet> {
    match network.addr().to_canonical() {
        address @ IpAddr::V4(_) if network.addr().is_ipv6() => {
            IpNet::new(address, network.prefix_len().checked_sub(96)?).ok()
        }
        _ => Some(network),
    }
}

/// An address, with a port as some proxies write it, or without.
fn parse(entry: &[u8]) -> Option<IpAddr> {
    let entry = std::str::from_utf8(entry).ok()?.trim();
    let in_brackets = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || entry.parse::<SocketAddr>().ok().map(|address| address.ip());
    entry.parse().ok().or_else(with_port).or_else(in_brackets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &[&str], peer: &str, lines: &[&str]) -> String {
        let proxies: Vec<String> = proxies.iter().map(|entry| (*entry).to_owned()).collect();
        let client = TrustedProxies::new(&proxies)
            .unwrap()
            .client(peer.parse().unwrap(), lines.iter().map(|line| line.as_bytes()));
        client.to_string()
    }

    #[test]
    fn takes_the_nearest_address_that_is_no_proxy() {
        let proxies = ["10.0.0.0/8", "fd00::1"];
        for (peer, lines, expected) in [
            ("10.0.0.1", &[][..], "10.0.0.1"),
            ("10.0.0.1", &["203.0.113.7"], "203.0.113.7"),
            ("::ffff:10.0.0.1", &["203.0.113.7"], "203.0.113.7"),
            ("fd00::1", &["2001:db8::1"], "2001:db8::1"),
            ("10.0.0.1", &["6.6.6.6, 203.0.113.7"], "203.0.113.7"),
            ("10.0.0.1", &["6.6.6.6", "203.0.113.7, 10.2.2.2"], "203.0.113.7"),
            ("10.0.0.1", &["203.0.113.7:4711,10.2.2.2"], "203.0.113.7"),
            ("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", &["[2001:db8::1]"], "2001:db8::1"),
            ("10.0.0.1", &["10.3.3.3, 10.2.2.2"], "10.3.3.3"),
            ("10.0.0.1", &["203.0.113.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["203.0.113.7,"], "10.0.0.1"),
            ("198.51.100.1", &["203.0.113.7"], "198.51.100.1"),
            ("fd00::2", &["203.0.113.7"], "fd00::2"),
        ] {
            assert_eq!(client(&proxies, peer, lines), expected, "{peer} {lines:?}");
        }
        assert_eq!(client(&[], "10.0.0.1", &["203.0.113.7"]), "10.0.0.1");
    }

    #[test]
    fn reads_entries_behind_one_that_is_no_text() {
        let proxies = TrustedProxies::new(&["10.0.0.0/8".to_owned()]).unwrap();
        let client = |line: &[u8]| proxies.client("10.0.0.1".parse().unwrap(), [line].into_iter()).to_string();
        assert_eq!(client(b"\xff, 203.0.113.7, 10.2.2.2"), "203.0.113.7");
        assert_eq!(client("ü, 203.0.113.7".as_bytes()), "203.0.113.7");
        assert_eq!(client(b"203.0.113.7, \xff, 10.2.2.2"), "10.2.2.2");
    }

    #[test]
    fn ipv4_written_as_ipv6_is_ipv4() {
        for proxies in ["::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "::ffff:10.0.0.1/128", "::ffff:0:0/96"] {
            for peer in ["10.0.0.1", "::ffff:10.0.0.1"] {
                assert_eq!(client(&[proxies], peer, &["203.0.113.7"]), "203.0.113.7", "{proxies} {peer}");
            }
        }
    }

    #[test]
    fn refuses_what_is_no_network() {
        for entry in ["proxy.example.com", "10.0.0.0/33", "*", "10.0.0.1:80", "::ffff:0:0/90"] {
            assert!(TrustedProxies::new(&[entry.to_owned()]).is_err(), "{entry}");
        }
        assert!(TrustedProxies::new(&[" 10.0.0.1 ".to_owned(), String::new()]).is_ok());
    }
}
