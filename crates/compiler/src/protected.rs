//! `auth.resource` of all servers together: a token opens the server whose address it names, and no other, and the
//! metadata of each stands at a path of its own.

use std::collections::BTreeMap;

use mcpress_catalog::{
    access::Auth,
    env::{self, Piece},
};

use crate::{
    diagnostic::{Diagnostic, Position},
    server::Server,
    tree::Tree,
};

/// Where a `resource` was written: in the settings of its server, or in those of the site.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) position: Position,
}

/// Reports servers that stand at the address of another.
pub(crate) fn check<'s>(
    servers: impl Iterator<Item = &'s Server> + Clone,
    tree: &Tree,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let addresses: BTreeMap<String, &Server> =
        servers.clone().map(|server| (format!("/mcp/{}", server.slug), server)).collect();
    let mut first: BTreeMap<String, (&Server, &Place)> = BTreeMap::new();
    for server in servers {
        let Some(Auth::OAuth(oauth)) = server.access.as_ref().and_then(|access| access.auth.as_ref()) else { continue };
        let (Some(place), Some(path)) = (&server.resource_place, path(&oauth.resource)) else { continue };
        let (slug, resource) = (&server.slug, &oauth.resource);
        let mut report = |message: String, hint: String| {
            let error = Diagnostic::error(&place.path, place.position, "auth.resource", message).hint(hint);
            diagnostics.push(error);
        };
        let hint = |origin: &str| format!("give each server an address of its own, such as `{origin}/mcp/{slug}`");
        let behind_variable = path.split_once('}').filter(|_| path.starts_with('$')).map(|(_, behind)| behind);
        let other = addresses.get(behind_variable.unwrap_or(&path)).filter(|other| other.slug != *slug);
        if let Some(other) = other {
            let at = tree.shown(&format!("{}/server.yaml", other.slug));
            let message =
                format!("`{resource}` is the address of the server `{}`, in `{at}`, not of `{slug}`", other.slug);
            let origin = resource.trim_end_matches('/').trim_end_matches(&format!("/mcp/{}", other.slug));
            report(message, hint(origin));
            continue;
        }
        if let Some((other, at)) = first.get(&path) {
            let at = format!("`{}:{}`", tree.shown(&at.path), at.position.line);
            let is_same = matches!(other.access.as_ref().and_then(|access| access.auth.as_ref()),
                Some(Auth::OAuth(other)) if other.resource.trim_end_matches('/') == resource.trim_end_matches('/'));
            let message = match is_same {
                true => format!(
                    "`{slug}` would have the same `resource` as `{}`, in {at}: a token for one would open the other",
                    other.slug
                ),
                false => format!(
                    "`{resource}` has the path of the `resource` of `{}`, in {at}, and there is one document of \
                     metadata at each path",
                    other.slug
                ),
            };
            report(message, hint("https://mcp.example.com"));
        }
        first.entry(path).or_insert((server, place));
    }
}

/// What tells the address of a resource from that of another: its path, for each path has one document, whatever the
/// host. Of an address that a variable begins, all of it, since that may hold a path too.
fn path(resource: &str) -> Option<String> {
    let mut filled = String::new();
    for piece in env::parse(resource).ok()? {
        match piece {
            Piece::Text(text) | Piece::Variable { default: Some(text), .. } => filled.push_str(text),
            Piece::Variable { name, default: None } => filled.push_str(&format!("${{{name}}}")),
        }
    }
    let filled = filled.trim_end_matches('/');
    let path = match filled.split_once("://") {
        Some((_, behind)) => behind.find('/').map_or("", |slash| &behind[slash..]),
        None => filled,
    };
    Some(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn addresses_differ_by_their_paths() {
        for (resource, expected) in [
            ("https://mcp.example.com", ""),
            ("https://mcp.example.com/", ""),
            ("http://localhost:8080/mcp/docs/", "/mcp/docs"),
            ("https://${HOST}/a/${NAME}", "/a/${NAME}"),
            ("${ORIGIN:-https://mcp.example.com/x}/mcp/docs", "/x/mcp/docs"),
            ("${ORIGIN}/mcp/docs", "${ORIGIN}/mcp/docs"),
            ("${DOCS}", "${DOCS}"),
        ] {
            assert_eq!(path(resource).as_deref(), Some(expected), "{resource}");
        }
    }
}
