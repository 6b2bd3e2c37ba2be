//! Where a site's REST API is, and what it says of the site.

use std::{borrow::Cow, sync::Arc};

use futures_util::FutureExt;
use jiff::tz::{Offset, TimeZone};
use reqwest::Url;

use super::{
    super::{client::Client, error::FetchError},
    api::at,
    site::{Parameters, Site, pair, strings},
};

/// Where the REST API is, and what it says of the site.
pub(super) struct Root {
    pub(super) url: Url,
    pub(super) time_zone: TimeZone,
}

impl Site {
    /// The root, which is looked for once a minute.
    pub(super) async fn root(&self, client: &Client) -> Result<Arc<Root>, FetchError> {
        self.roots.get("", self.find_root(client).boxed()).await
    }

    async fn find_root(&self, client: &Client) -> Result<Root, FetchError> {
        if let Some(mut url) = self.api.linked_root(client).await? {
            // A site behind a proxy may take itself for one without TLS.
            if self.api.site.scheme() == "https" && url.scheme() == "http" && url.domain() == self.api.site.domain() {
                let upgraded = url.set_scheme("https");
                debug_assert!(upgraded.is_ok(), "both are schemes of the web");
            }
            return self.ask_root(client, url).await;
        }
        let mut home = self.api.site.clone();
        home.set_path(&format!("{}/", home.path().trim_end_matches('/')));
        let mut pretty = home.clone();
        pretty.set_path(&format!("{}wp-json/", home.path()));
        home.set_query(Some("rest_route=/"));
        match self.ask_root(client, pretty).await {
            Ok(root) => Ok(root),
            Err(first) => self.ask_root(client, home).await.map_err(|_| at("found no REST API")(first)),
        }
    }

    async fn ask_root(&self, client: &Client, url: Url) -> Result<Root, FetchError> {
        if self.api.authorization.is_some() && url.origin() != self.api.site.origin() {
            let origin = url.origin().ascii_serialization();
            let host = self.api.host();
            let what =
                format_args!("has its REST API at {origin}, which gets no password: write that address as `site`");
            return Err(FetchError::upstream(&host, what));
        }
        let fields = [pair("_fields", "namespaces,timezone_string,gmt_offset")];
        let json = self.api.get(client, address(&url, "/", &fields)).await?.json;
        if !strings(&json["namespaces"]).any(|namespace| namespace == "wp/v2") {
            return Err(FetchError::upstream(&self.api.host(), "has no REST API of WordPress"));
        }
        let named = json["timezone_string"].as_str().and_then(|name| TimeZone::get(name).ok());
        // Hours, as a number or a text, and not always whole ones.
        let hours = &json["gmt_offset"];
        let hours = hours.as_f64().or_else(|| hours.as_str()?.parse().ok()).unwrap_or_default();
        let offset = Offset::from_seconds((hours * 3600.0) as i32).unwrap_or(Offset::UTC);
        Ok(Root { url, time_zone: named.unwrap_or_else(|| TimeZone::fixed(offset)) })
    }
}

/// The address of a route, behind either form of root.
pub(super) fn address(root: &Url, route: &str, parameters: &[(String, String)]) -> Url {
    let mut url = root.clone();
    let is_query = |(name, _): &(Cow<'_, str>, _)| name == "rest_route";
    let plain = root.query_pairs().any(|pair| is_query(&pair));
    let others = root.query_pairs().filter(|pair| !is_query(pair));
    let others: Parameters = others.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let mut query = url.query_pairs_mut();
    query.clear();
    if plain {
        query.append_pair("rest_route", route);
    }
    query.extend_pairs(others.iter().chain(parameters));
    drop(query);
    if !plain {
        url.set_path(&format!("{}{route}", root.path().trim_end_matches('/')));
    }
    if url.query() == Some("") {
        url.set_query(None);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_routes_behind_either_root() {
        let parameters = [pair("slug[]", "a b"), pair("x", "1")];
        for (root, expected) in [
            ("https://e.example/wp-json/", "https://e.example/wp-json/wp/v2/posts?slug%5B%5D=a+b&x=1"),
            ("https://e.example/a/wp-json", "https://e.example/a/wp-json/wp/v2/posts?slug%5B%5D=a+b&x=1"),
            (
                "https://e.example/index.php?rest_route=/&lang=de",
                "https://e.example/index.php?rest_route=%2Fwp%2Fv2%2Fposts&lang=de&slug%5B%5D=a+b&x=1",
            ),
        ] {
            let url = address(&root.parse().unwrap(), "/wp/v2/posts", &parameters);
            assert_eq!(url.as_str(), expected);
        }
        let root = "https://e.example/wp-json/".parse().unwrap();
        assert_eq!(address(&root, "/", &[]).as_str(), "https://e.example/wp-json/");
    }
}
