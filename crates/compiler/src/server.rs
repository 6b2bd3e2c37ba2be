//! One server: `server.yaml` over the defaults of `site.yaml`.

use mcpress_catalog::{access::Access, protocol::Icon, uri::encode_path};
use serde_json::{Map, Value, json};

use crate::{
    access::AccessDefinition,
    definition::{ServerDefinition, SiteDefinition, Variables},
    described,
    diagnostic::{Diagnostic, Position},
    fetch::FetchDefinition,
    protected::Place,
    scope::Scope,
    yaml::Field,
};

/// How long clients may keep lists and static reads, where nobody says otherwise: five minutes.
const DEFAULT_TTL_MS: u64 = 5 * 60 * 1000;

/// Who a server is, and the settings of its entries.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) website_url: Option<String>,
    pub(crate) version: String,
    pub(crate) icons: Vec<Icon>,
    pub(crate) uri_prefix: String,
    pub(crate) page_size: u32,
    pub(crate) ttl_ms: u64,
    pub(crate) variables: Map<String, Value>,
    pub(crate) fetch: FetchDefinition,
    pub(crate) access: Option<Access>,
    /// Where `auth.resource` stands that holds for it.
    pub(crate) resource_place: Option<Place>,
}

/// The defaults of `site.yaml`.
#[derive(Debug, Default)]
pub(crate) struct Site {
    pub(crate) variables: Map<String, Value>,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) page_size: Option<u32>,
    pub(crate) compression: bool,
    pub(crate) fetch: FetchDefinition,
    pub(crate) access: AccessDefinition,
}

impl Site {
    pub(crate) fn lower(definition: SiteDefinition, scope: &mut Scope<'_>) -> Self {
        Self {
            variables: variables(&definition.variables),
            ttl_ms: definition.ttl.value().map(|ttl| ttl.0),
            page_size: page_size(&definition.page_size, scope),
            compression: definition.compression.value().copied().unwrap_or(true),
            fetch: fetch(definition.fetch, scope),
            access: AccessDefinition::checked(definition.auth, definition.limits, scope),
        }
    }
}

impl Server {
    pub(crate) fn lower(
        slug: &str,
        definition: ServerDefinition,
        site: &Site,
        default_version: &str,
        scope: &mut Scope<'_>,
    ) -> Self {
        let mut all_variables = site.variables.clone();
        all_variables.extend(variables(&definition.variables));
        if let Some((url, mark)) = definition.website_url.given() {
            let http = url.starts_with("https://") || url.starts_with("http://");
            if !http || mcpress_catalog::uri::check(url).is_err() {
                scope.error(mark, "website_url", format!("expected an `https:` URL, found `{url}`"));
            }
        }
        let instructions = definition
            .instructions
            .given()
            .and_then(|(source, mark)| scope.text(source, mark, "instructions"))
            .map(|located| located.text);
        let access = AccessDefinition::checked(definition.auth, definition.limits, scope);
        Self {
            slug: slug.to_owned(),
            name: definition.name.value().cloned().unwrap_or_else(|| slug.to_owned()),
            title: definition.title.value().cloned(),
            description: definition.description.value().cloned(),
            instructions,
            website_url: definition.website_url.value().cloned(),
            version: definition.version.value().cloned().unwrap_or_else(|| default_version.to_owned()),
            icons: definition.icons.value().map(|icons| described::icons(icons, scope)).unwrap_or_default(),
            uri_prefix: uri_prefix(slug, &definition.uri_prefix, scope),
            page_size: page_size(&definition.page_size, scope).or(site.page_size).unwrap_or(0),
            ttl_ms: definition.ttl.value().map(|ttl| ttl.0).or(site.ttl_ms).unwrap_or(DEFAULT_TTL_MS),
            variables: all_variables,
            fetch: fetch(definition.fetch, scope).or(&site.fetch),
            access: access.lower(&site.access, scope),
            resource_place: access.resource_place(&site.access, scope.path),
        }
    }

    /// `server` of templates.
    pub(crate) fn context(&self) -> Value {
        let title = self.title.as_deref().unwrap_or(&self.name);
        json!({ "slug": self.slug, "name": self.name, "title": title, "version": self.version })
    }

    /// The URI of a plain file by its path below `resources/`.
    pub(crate) fn uri_of(&self, path: &str) -> String {
        let mut uri = self.uri_prefix.clone();
        encode_path(&mut uri, path);
        uri
    }

    /// The URI of `index.md` at the top: the prefix without its final slash, if that leaves anything.
    pub(crate) fn index_uri(&self) -> String {
        let folder = self.uri_prefix.strip_suffix('/').unwrap_or(&self.uri_prefix);
        if folder.ends_with(['/', ':']) { format!("{}index", self.uri_prefix) } else { folder.to_owned() }
    }
}

/// A slug: letters, digits and inner hyphens, 1 to 63 of them.
pub fn is_slug(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len()) && !name.starts_with('-') && !name.ends_with('-') && name.bytes().all(inner)
}

fn uri_prefix(slug: &str, field: &Field<String>, scope: &mut Scope<'_>) -> String {
    let default = format!("{slug}://");
    match field {
        Field::Given(prefix, mark) => {
            let reason = match mcpress_catalog::uri::check(&format!("{prefix}x")) {
                Ok(()) if prefix.contains(['?', '#']) => "it holds a query or a fragment".to_owned(),
                Ok(()) => return prefix.clone(),
                Err(reason) => reason,
            };
            scope
                .error(*mark, "uri_prefix", format!("`{prefix}` cannot begin a URI: {reason}"))
                .with_hint("for example `docs://` or `https://example.com/docs/`");
        }
        Field::Absent if slug.starts_with(|first: char| first.is_ascii_digit()) => {
            let message = format!("`{slug}` begins with a digit, so it is no URI scheme");
            let hint = "give `uri_prefix`, such as `docs://`";
            scope.diagnostics.push(Diagnostic::error(scope.path, Position::START, "uri_prefix", message).hint(hint));
            return format!("x-{default}");
        }
        Field::Absent | Field::Bad => {}
    }
    default
}

fn page_size(field: &Field<u32>, scope: &mut Scope<'_>) -> Option<u32> {
    let (size, mark) = field.given()?;
    if *size == 0 {
        scope.error(mark, "page_size", "a page of 0 entries").with_hint("leave it out to give all in one page");
        return None;
    }
    Some(*size)
}

fn fetch(field: Field<FetchDefinition>, scope: &mut Scope<'_>) -> FetchDefinition {
    match field {
        Field::Given(fetch, _) => {
            fetch.check("fetch", scope);
            fetch
        }
        Field::Absent | Field::Bad => FetchDefinition::default(),
    }
}

fn variables(field: &Field<Variables>) -> Map<String, Value> {
    let pairs = field.value().map(|keys| keys.0.as_slice()).unwrap_or_default();
    pairs.iter().filter_map(|(name, field)| Some((name.clone(), field.value()?.0.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::is_slug;

    #[test]
    fn slugs_are_letters_digits_and_inner_hyphens() {
        assert!(["a", "0123", "my-docs", "a-1"].iter().all(|name| is_slug(name)));
        assert!(!["", "-a", "a-", "A", "a_b", "ä", &"a".repeat(64)].iter().any(|name| is_slug(name)));
    }
}
