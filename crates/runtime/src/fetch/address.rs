//! Which addresses are public. Everything that is not, a definition must ask for (`allow_private_network`), for behind
//! it may stand what only this machine or its network is meant to reach.
//!
//! Follows the IANA registries of special-purpose addresses:
//! [IPv4](https://www.iana.org/assignments/iana-ipv4-special-registry),
//! [IPv6](https://www.iana.org/assignments/iana-ipv6-special-registry).

use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use reqwest::Url;

/// An address that is not public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotPublic {
    /// The name that led to it, if it was not written as an address.
    name: Option<String>,
    address: IpAddr,
    kind: &'static str,
}

/// First bits, how many of them, and what the addresses that begin so are.
const V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "a reserved"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "a carrier-grade NAT"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "a loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "a reserved"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "a documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a reserved"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "a documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "a documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved"),
];

/// As [`V4`]; the first that fits counts. The last line leaves 2000::/3, which is all that is assigned.
const V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "a reserved"),
    (Ipv6Addr::LOCALHOST, 128, "a loopback"),
    (Ipv6Addr::UNSPECIFIED, 96, "an IPv4-compatible"),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "a NAT64"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "a NAT64"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "a discard"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "a Teredo"),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, "a benchmarking"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "a reserved"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "a documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "a 6to4"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "a documentation"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "a unique-local"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "a link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "a site-local"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "a multicast"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 3, "a reserved"),
    (Ipv6Addr::new(0x4000, 0, 0, 0, 0, 0, 0, 0), 2, "a reserved"),
    (Ipv6Addr::new(0x8000, 0, 0, 0, 0, 0, 0, 0), 1, "a reserved"),
];

/// Checks an address that a name has led to.
pub(crate) fn check(name: &str, address: IpAddr) -> Result<(), NotPublic> {
    kind(address).map_or(Ok(()), |kind| Err(NotPublic { name: Some(name.to_owned()), address, kind }))
}

/// Checks the host of a URL as far as no name has to be resolved: addresses never reach a resolver. The parser has
/// brought them into one form by then, however they were written.
pub(crate) fn check_url(url: &Url) -> Result<(), NotPublic> {
    let host = url.host_str().unwrap_or_default();
    let name = host.strip_suffix('.').unwrap_or(host);
    let literal = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    if let Ok(address) = literal
        && let Some(kind) = kind(address)
    {
        return Err(NotPublic { name: None, address, kind });
    }
    // RFC 6761, section 6.3: these mean this machine, whatever a resolver or a proxy makes of them.
    if name == "localhost" || name.ends_with(".localhost") {
        check(host, Ipv4Addr::LOCALHOST.into())?;
    }
    Ok(())
}

/// What an address is, if it is not public.
fn kind(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => {
            let fits = |&&(first, bits, _): &&(Ipv4Addr, u32, &str)| {
                (address.to_bits() ^ first.to_bits()).leading_zeros() >= bits
            };
            V4.iter().find(fits).map(|(.., kind)| *kind)
        }
        IpAddr::V6(address) => {
            // ::ffff:0:0/96, which the system takes for IPv4.
            if let Some(mapped) = address.to_ipv4_mapped() {
                return kind(mapped.into());
            }
            let fits = |&&(first, bits, _): &&(Ipv6Addr, u32, &str)| {
                (address.to_bits() ^ first.to_bits()).leading_zeros() >= bits
            };
            V6.iter().find(fits).map(|(.., kind)| *kind)
        }
    }
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, address, kind } = self;
        match name {
            Some(name) => write!(f, "{name} resolves to {address}, {kind} address")?,
            None => write!(f, "{address} is {kind} address")?,
        }
        f.write_str(" (allow_private_network is false)")
    }
}

impl Error for NotPublic {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_public_addresses_from_others() {
        for (address, expected) in [
            ("0.0.0.0", Some("a reserved")),
            ("0.255.255.255", Some("a reserved")),
            ("1.0.0.0", None),
            ("9.255.255.255", None),
            ("10.0.0.0", Some("a private")),
            ("10.255.255.255", Some("a private")),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.64.0.0", Some("a carrier-grade NAT")),
            ("100.127.255.255", Some("a carrier-grade NAT")),
            ("100.128.0.0", None),
            ("126.255.255.255", None),
            ("127.0.0.1", Some("a loopback")),
            ("127.255.255.254", Some("a loopback")),
            ("128.0.0.0", None),
            ("169.253.255.255", None),
            ("169.254.169.254", Some("a link-local")),
            ("169.255.0.0", None),
            ("172.15.255.255", None),
            ("172.16.0.0", Some("a private")),
            ("172.31.255.255", Some("a private")),
            ("172.32.0.0", None),
            ("192.0.0.8", Some("a reserved")),
            ("192.0.1.0", None),
            ("192.0.2.255", Some("a documentation")),
            ("192.88.99.1", Some("a reserved")),
            ("192.168.0.1", Some("a private")),
            ("192.169.0.0", None),
            ("198.17.255.255", None),
            ("198.18.0.0", Some("a benchmarking")),
            ("198.19.255.255", Some("a benchmarking")),
            ("198.20.0.0", None),
            ("198.51.100.7", Some("a documentation")),
            ("203.0.113.7", Some("a documentation")),
            ("223.255.255.255", None),
            ("224.0.0.1", Some("a multicast")),
            ("239.255.255.255", Some("a multicast")),
            ("240.0.0.0", Some("a reserved")),
            ("255.255.255.255", Some("a reserved")),
            ("::", Some("a reserved")),
            ("::1", Some("a loopback")),
            ("::7f00:1", Some("an IPv4-compatible")),
            ("::ffff:127.0.0.1", Some("a loopback")),
            ("::ffff:10.0.0.1", Some("a private")),
            ("::ffff:1.1.1.1", None),
            ("::ffff:0:127.0.0.1", Some("a reserved")),
            ("64:ff9b::7f00:1", Some("a NAT64")),
            ("64:ff9b::101:101", Some("a NAT64")),
            ("64:ff9b:1::1", Some("a NAT64")),
            ("64:ff9b:2::1", Some("a reserved")),
            ("100::1", Some("a discard")),
            ("1fff::1", Some("a reserved")),
            ("2001::1", Some("a Teredo")),
            ("2001:2::1", Some("a benchmarking")),
            ("2001:20::1", Some("a reserved")),
            ("2001:1ff::1", Some("a reserved")),
            ("2001:200::1", None),
            ("2001:db8::1", Some("a documentation")),
            ("2001:db9::1", None),
            ("2002:7f00:1::", Some("a 6to4")),
            ("2003::1", None),
            ("2606:4700:4700::1111", None),
            ("3fff::1", Some("a documentation")),
            ("3fff:1000::1", None),
            ("4000::1", Some("a reserved")),
            ("5f00::1", Some("a reserved")),
            ("9000::1", Some("a reserved")),
            ("fc00::1", Some("a unique-local")),
            ("fd12:3456::1", Some("a unique-local")),
            ("fe80::1", Some("a link-local")),
            ("febf::1", Some("a link-local")),
            ("fec0::1", Some("a site-local")),
            ("ff02::1", Some("a multicast")),
        ] {
            assert_eq!(kind(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn knows_an_address_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7F.1",
            "0177.0.0.1",
            "017700000001",
            "0x7f.0x0.0x0.0x1",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
            "①②⑦.0.0.1",
            "0",
            "0.0.0.0",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::FFFF:7F00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
            "169.254.169.254",
            "0xa9fea9fe",
            "[::ffff:a9fe:a9fe]",
            "[fe80::1]",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "ⓛocalhost",
        ] {
            let url = Url::parse(&format!("http://{host}:8080/")).unwrap();
            assert!(check_url(&url).is_err(), "{host} is {url}");
        }
        for host in [
            "example.com",
            "1.1.1.1",
            "[2606:4700:4700::1111]",
            "localhost.example.com",
            "notlocalhost",
            "127.0.0.1.example",
        ] {
            assert_eq!(check_url(&Url::parse(&format!("https://{host}/")).unwrap()), Ok(()), "{host}");
        }
    }

    #[test]
    fn says_what_is_refused_and_why() {
        let url = Url::parse("http://10.0.0.5/?token=x").unwrap();
        assert_eq!(
            check_url(&url).unwrap_err().to_string(),
            "10.0.0.5 is a private address (allow_private_network is false)"
        );
        assert_eq!(
            check("db.example", "fd00::1".parse().unwrap()).unwrap_err().to_string(),
            "db.example resolves to fd00::1, a unique-local address (allow_private_network is false)"
        );
    }
}
