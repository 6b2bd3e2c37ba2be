//! Which addresses a name leads to, as far as they may be connected to.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

use super::address;

/// Resolves names, and lets through what may be connected to. The connection goes to just these addresses, so that a
/// name which changes its mind in between gains nothing.
pub(super) struct Resolver {
    /// Names for which the system is not asked.
    pub(super) hosts: Arc<HashMap<String, Vec<IpAddr>>>,
    pub(super) any_address: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (hosts, any_address) = (self.hosts.clone(), self.any_address);
        Box::pin(async move {
            let resolved: Vec<SocketAddr> = match hosts.get(name.as_str()) {
                Some(addresses) => addresses.iter().map(|address| SocketAddr::new(*address, 0)).collect(),
                None => lookup_host((name.as_str(), 0)).await?.collect(),
            };
            let mut allowed = Vec::new();
            let mut refused = None;
            for address in resolved {
                match address::check(name.as_str(), address.ip()) {
                    Err(not_public) if !any_address => refused = Some(not_public),
                    _ => allowed.push(address),
                }
            }
            match refused {
                Some(refused) if allowed.is_empty() => Err(refused.into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}
