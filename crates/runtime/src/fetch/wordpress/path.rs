//! `pagename`: the page at the end of a path.

use percent_encoding::percent_decode_str;
use reqwest::Url;
use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    arguments::Arguments,
    lookup::PostType,
    site::{Site, pair},
    slug,
};

/// A post that a path leads to.
pub(super) struct Page {
    pub(super) post_type: String,
    pub(super) id: u64,
}

/// Looks for a page, then for media, then for posts of the types that are asked for, as WordPress does.
pub(super) async fn page(
    site: &Site,
    client: &Client,
    path: &str,
    types: &[String],
    arguments: &Arguments,
) -> Result<Option<Page>, FetchError> {
    let parts = path.trim().trim_matches('/').split('/');
    let parts: Vec<String> = parts.map(|part| slug::for_query(&percent_decode_str(part).decode_utf8_lossy())).collect();
    if parts.iter().any(String::is_empty) {
        return Ok(None);
    }
    let others = types.iter().map(String::as_str).filter(|name| !matches!(*name, "page" | "attachment"));
    for name in ["page", "attachment"].into_iter().chain(others) {
        let post_type = site.post_type(client, name).await?;
        // Media belong to posts of any type, and only those that belong to none have a path of their own.
        if (name == "attachment" && parts.len() > 1) || !post_type.parameters.contains("parent") {
            continue;
        }
        if let Some(id) = find(site, client, &post_type, &parts, arguments).await? {
            return Ok(Some(Page { post_type: name.to_owned(), id }));
        }
    }
    Ok(None)
}

async fn find(
    site: &Site,
    client: &Client,
    post_type: &PostType,
    parts: &[String],
    arguments: &Arguments,
) -> Result<Option<u64>, FetchError> {
    let Some(last) = parts.last() else { return Ok(None) };
    let media = post_type.name == "attachment";
    let mut parameters = vec![pair("slug", last), pair("_fields", "id,slug,parent,post,link")];
    let statuses = arguments.post_status.iter().filter(|status| *status != "inherit");
    let statuses: Vec<&str> = statuses.map(String::as_str).collect();
    if !media && !statuses.is_empty() {
        parameters.push(pair("status", statuses.join(",")));
    }
    let leaves = site.list(client, &post_type.route, &parameters, 0, super::site::PAGE).await?;
    for leaf in &leaves.items {
        if leads_to(site, client, post_type, leaf, parts).await? {
            return Ok(leaf["id"].as_u64());
        }
    }
    Ok(None)
}

/// True if a post has just these ancestors.
async fn leads_to(
    site: &Site,
    client: &Client,
    post_type: &PostType,
    leaf: &Value,
    parts: &[String],
) -> Result<bool, FetchError> {
    let parent_of = |post: &Value| post["parent"].as_u64().or_else(|| post["post"].as_u64()).unwrap_or_default();
    let mut parent = parent_of(leaf);
    for part in parts.iter().rev().skip(1) {
        if parent == 0 {
            return Ok(false);
        }
        let parameters = [pair("include", parent), pair("_fields", "id,slug,parent")];
        let ancestors = site.list(client, &post_type.route, &parameters, 0, 1).await?;
        match ancestors.items.first() {
            Some(ancestor) if ancestor["slug"].as_str() == Some(part) => parent = parent_of(ancestor),
            Some(_) => return Ok(false),
            // It is not public; the address of the page still shows its slug.
            None => return Ok(post_type.name == "page" && has_path(&site.api.site, leaf, parts)),
        }
    }
    Ok(parent == 0)
}

fn has_path(site: &Url, leaf: &Value, parts: &[String]) -> bool {
    let Some(Ok(link)) = leaf["link"].as_str().map(str::parse::<Url>) else { return false };
    let path = link.path().strip_prefix(site.path().trim_end_matches('/')).unwrap_or_default();
    let found = path.trim_matches('/').split('/').map(str::to_lowercase);
    found.eq(parts.iter().cloned())
}
