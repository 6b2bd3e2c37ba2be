//! `wp_query`: a WordPress query, run anew on each read.

mod date_query;
mod fields;
mod query;
mod reader;
mod refused;
mod schema;
mod slugs;
mod tax_query;
mod written;

use mcpress_catalog::source::{self, Auth, Format, PostField, check_site};
use schemars::JsonSchema;
use serde::Deserialize;

use self::{
    reader::{Place, Reader},
    written::Written,
};
use crate::{
    fetch::{CacheDefinition, FetchDefinition, env_text, stand_in},
    scope::Scope,
    values::{Duration, Keys, Size, TextOrFile},
    yaml::{Field, Mark},
};

/// What the template of a `wp_query` sees beside `args` and `vars`.
const TEMPLATE_NAMES: [&str; 2] = ["posts", "total"];
const DEFAULT_MAX_ITEMS: u32 = 1000;
const LARGEST_MAX_ITEMS: u32 = 100_000;

/// `wp_query`: a WordPress query that is run anew on each read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(
    rename = "WpQuery",
    deny_unknown_fields,
    extend("required" = ["site"], "not" = { "required": ["format", "template"] })
)]
pub(crate) struct WpQueryDefinition {
    /// The address of the site's home page, such as `https://example.com`.
    #[schemars(regex(pattern = crate::schema::HTTP), extend("errorMessage" = crate::schema::HTTP_EXPECTED))]
    pub(crate) site: Field<String>,
    /// WP_Query's arguments by their WordPress names. Default: the ten newest posts.
    #[schemars(schema_with = "schema::query")]
    pub(crate) query: Field<Written>,
    /// What each item carries, in this order. Default: `[id, title, link, date, modified, excerpt]`.
    #[schemars(schema_with = "schema::fields")]
    pub(crate) fields: Field<Vec<Field<Written>>>,
    /// What the contents are. Default: `markdown` where `mime_type` is `text/markdown`, else `json`.
    pub(crate) format: Field<Format>,
    /// Cap for `posts_per_page: -1`, from 1 to 100000. Default: 1000.
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) max_items: Field<u32>,
    /// Whose posts are read, where more than the public ones are wanted.
    pub(crate) auth: Field<AuthDefinition>,
    /// Headers of the request, by name; values may hold `${ENV}`.
    #[schemars(transform = crate::schema::headers)]
    pub(crate) headers: Field<Keys<String>>,
    /// How long the whole fetch may take, redirects and body included. Default: `10s`.
    #[schemars(regex(pattern = crate::schema::SOME_TIME))]
    pub(crate) timeout: Field<Duration>,
    /// Largest body, once it is decompressed. Default: `5MiB`.
    #[schemars(transform = crate::schema::not_empty)]
    pub(crate) max_bytes: Field<Size>,
    /// Whether addresses that are not public may be asked, such as `10.0.0.1` or `localhost`. Default: `false`.
    pub(crate) allow_private_network: Field<bool>,
    /// Keeps the last good answer in memory. Default: each read asks anew.
    pub(crate) cache: Field<CacheDefinition>,
    /// A minijinja template over `posts`, `total`, `args` and `vars`, or `{file: path}`.
    pub(crate) template: Field<TextOrFile>,
}

/// A user and one of the user's application passwords.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Auth", deny_unknown_fields, extend("required" = ["username", "application_password"]))]
pub(crate) struct AuthDefinition {
    /// The user's login name, usually `${ENV}`.
    #[schemars(length(min = 1))]
    pub(crate) username: Field<String>,
    /// An application password of that user, usually `${ENV}`.
    #[schemars(length(min = 1))]
    pub(crate) application_password: Field<String>,
}

/// Checks a `wp_query`, which stands at `mark`, and types it; `mime_type` is that of the entry. What is wrong is
/// reported.
pub(crate) fn lower(
    definition: &WpQueryDefinition,
    mark: Mark,
    mime_type: Option<&str>,
    defaults: &FetchDefinition,
    scope: &mut Scope<'_>,
) -> Option<source::WpQuery> {
    let own = definition.fetch();
    own.check("wp_query", scope);
    let fetch = own.or(defaults).lower();
    if definition.site.is_absent() {
        let hint = "give the address of the site's home page: `site: https://example.com`";
        scope.error(mark, "wp_query", "`site` is missing").with_hint(hint);
    }
    let site = definition.site.given().filter(|(site, mark)| check_address(site, *mark, scope));
    let auth = match definition.auth.given() {
        Some((auth, mark)) => lower_auth(auth, mark, scope),
        None => None,
    };
    let authorized = definition.auth.given().is_some() || fetch.headers.contains_key("authorization");
    if let (Some(_), Some((_, mark))) = (&auth, definition.auth.given())
        && fetch.headers.contains_key("authorization")
    {
        let hint = "keep one of them; defaults of `fetch` count too";
        scope.error(mark, "wp_query.auth", "both `auth` and a header `Authorization` are given").with_hint(hint);
    }
    let query = match definition.query.given() {
        Some((written, mark)) => lower_query(written, mark, authorized, scope),
        None => source::Query::default(),
    };
    let fields = match definition.fields.given() {
        Some((fields, mark)) => fields::lower(fields, mark, scope),
        None => fields::named(PostField::DEFAULT),
    };
    if let Some((max_items, mark)) = definition.max_items.given()
        && !(1..=LARGEST_MAX_ITEMS).contains(max_items)
    {
        let message = format!("expected a whole number from 1 to {LARGEST_MAX_ITEMS}, found `{max_items}`");
        scope.error(mark, "wp_query.max_items", message);
    }
    let template = match definition.template.given() {
        Some((template, mark)) => Some(scope.template(template, mark, "wp_query.template", &TEMPLATE_NAMES)?),
        None => None,
    };
    Some(source::WpQuery {
        site: site?.0.clone(),
        query,
        fields,
        format: format(definition, mime_type, scope),
        max_items: definition.max_items.value().copied().unwrap_or(DEFAULT_MAX_ITEMS),
        auth,
        fetch,
        template,
    })
}

impl WpQueryDefinition {
    /// The keys that `fetch` gives defaults for.
    fn fetch(&self) -> FetchDefinition {
        FetchDefinition {
            headers: self.headers.clone(),
            timeout: self.timeout.clone(),
            max_bytes: self.max_bytes.clone(),
            allow_private_network: self.allow_private_network.clone(),
            cache: self.cache.clone(),
            ..FetchDefinition::default()
        }
    }
}

fn check_address(site: &str, mark: Mark, scope: &mut Scope<'_>) -> bool {
    let Some(pieces) = env_text(site, mark, "wp_query.site", scope) else { return false };
    match check_site(&stand_in(&pieces)) {
        Ok(()) => true,
        Err(error) => {
            scope.error(mark, "wp_query.site", error.message).with_hint(error.hint);
            false
        }
    }
}

fn lower_auth(auth: &AuthDefinition, mark: Mark, scope: &mut Scope<'_>) -> Option<Auth> {
    let both = [("username", &auth.username), ("application_password", &auth.application_password)];
    for (name, field) in both {
        match field {
            Field::Given(text, mark) if text.is_empty() => {
                scope.error(*mark, &format!("wp_query.auth.{name}"), "it is empty");
            }
            Field::Given(text, mark) => drop(env_text(text, *mark, &format!("wp_query.auth.{name}"), scope)),
            Field::Absent => {
                let hint = "give `{username: \"${WP_USER}\", application_password: \"${WP_PASSWORD}\"}`";
                scope.error(mark, "wp_query.auth", format!("`{name}` is missing")).with_hint(hint);
            }
            Field::Bad => {}
        }
    }
    Some(Auth {
        username: auth.username.value()?.clone(),
        application_password: auth.application_password.value()?.clone(),
    })
}

fn lower_query(written: &Written, mark: Mark, authorized: bool, scope: &mut Scope<'_>) -> source::Query {
    let place = Place { field: "wp_query.query".to_owned(), mark };
    let mut reader = Reader { scope };
    let (query, places) = query::lower(written, &place, &mut reader);
    let hidden = query.post_status.iter().find(|status| !matches!(status.as_str(), "publish" | "inherit"));
    if let (Some(status), Some((place, _)), false) = (hidden, places.get("post_status"), authorized) {
        let hint = "give `auth`, whose user may read them";
        reader.error(place, format!("posts that are `{status}` are hidden from anonymous readers")).with_hint(hint);
    }
    query
}

/// `format`, which `mime_type` decides where it is not given, and `template` makes meaningless.
fn format(definition: &WpQueryDefinition, mime_type: Option<&str>, scope: &mut Scope<'_>) -> Format {
    let essence =
        mime_type.map(|mime_type| mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let implied = match essence.as_deref() {
        Some("text/markdown") => Some(Format::Markdown),
        Some(essence) if essence == "application/json" || essence.ends_with("+json") => Some(Format::Json),
        _ => None,
    };
    let Some((format, mark)) = definition.format.given() else { return implied.unwrap_or_default() };
    if !definition.template.is_absent() {
        let hint = "keep one of `format` and `template`";
        scope.error(mark, "wp_query.format", "the template decides what the contents are").with_hint(hint);
    } else if implied.is_some_and(|implied| implied != *format) {
        let message = format!("it does not fit the `mime_type` of the entry, `{}`", essence.unwrap_or_default());
        scope.error(mark, "wp_query.format", message).with_hint("leave one of them out");
    }
    *format
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::LazyLock};

    use mcpress_catalog::{source::Source, template};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::{
        diagnostic::Diagnostic,
        tree::Tree,
        url::{self, UrlDefinition},
        yaml,
    };

    /// A scope without files whose entry has the arguments `id` and `q`.
    fn in_scope<T>(lower: impl FnOnce(&mut Scope<'_>) -> T) -> (T, Vec<Diagnostic>) {
        let tree = Tree::load(Path::new("no/such/tree"), &mut Vec::new());
        let environment = template::environment([]).unwrap();
        let mut diagnostics = Vec::new();
        let scope = &mut Scope {
            tree: &tree,
            path: "f",
            prefix: "",
            arguments: &["id".to_owned(), "q".to_owned()],
            variables: &Map::new(),
            environment: &environment,
            diagnostics: &mut diagnostics,
        };
        (lower(scope), diagnostics)
    }

    static DEFINITION_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let schema: Value = serde_json::from_str(&crate::schema("resource").unwrap()).unwrap();
        jsonschema::draft7::new(&schema).unwrap()
    });

    /// Lowers a definition of either kind; true if nothing was wrong with it. The schema must think so too then.
    fn lowers(source: &str, is_url: bool) -> bool {
        let Ok(Some(node)) = yaml::parse("f", source, 1, &mut Vec::new()) else { return false };
        let mut faults = Vec::new();
        let defaults = FetchDefinition::default();
        let (lowered, diagnostics) = in_scope(|scope| {
            if is_url {
                let definition: UrlDefinition = yaml::read("f", "url", &node, &mut faults)?;
                url::lower(&definition, node.mark, &defaults, scope).map(|url| Source::Url(Box::new(url)))
            } else {
                let definition: WpQueryDefinition = yaml::read("f", "wp_query", &node, &mut faults)?;
                let query = lower(&definition, node.mark, None, &defaults, scope);
                query.map(|query| Source::WpQuery(Box::new(query)))
            }
        });
        faults.extend(diagnostics);
        assert!(lowered.is_some() || !faults.is_empty(), "nothing came of it, and nobody said why: {source}");
        if let Some(source) = lowered {
            let stored = serde_json::to_string(&source).unwrap();
            assert_eq!(serde_json::from_str::<Source>(&stored).unwrap(), source);
        }
        if faults.is_empty() {
            let value: Value = serde_yaml::from_str(source).unwrap();
            let source_key = if is_url { "url" } else { "wp_query" };
            let definition = json!({ "uri": "docs://a", source_key: value });
            assert!(DEFINITION_SCHEMA.is_valid(&definition), "the schema refuses {source}");
        }
        faults.is_empty()
    }

    fn value() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            proptest::sample::select(vec![
                "1",
                "0",
                "-1",
                "12",
                "\"3\"",
                "1.5",
                "true",
                "a",
                "a,b",
                "a+b",
                "\"a b\"",
                "\"1,-2\"",
                "post",
                "any",
                "draft",
                "ASC",
                "title",
                "rand",
                "\"{id}\"",
                "\"{x}\"",
                "\"1,{id}\"",
                "{id}",
                "~",
                "\"\"",
                "2023",
                "2023-02-29",
                "2023-06",
                "3 days ago",
                "term_id",
                "slug",
                "IN",
                "NOT IN",
                "OR",
                "GET",
                "POST",
                "markdown",
                "5s",
                "1MiB",
                "/a",
                "200..299",
                "https://example.com",
                "https://example.com/{id}",
                "${A}",
                "$",
                "meta.a",
                "id",
                "\"{{ args.id }}\"",
            ])
            .prop_map(str::to_owned),
            "[a-z0-9 ]{1,6}",
        ];
        scalar.prop_recursive(3, 16, 4, |inner| {
            let key = proptest::sample::select(vec![
                "taxonomy",
                "field",
                "terms",
                "operator",
                "include_children",
                "relation",
                "clauses",
                "after",
                "before",
                "inclusive",
                "column",
                "year",
                "month",
                "day",
                "ttl",
                "username",
                "application_password",
                "X-A",
                "p",
                "s",
            ]);
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
                proptest::collection::btree_map(key, inner, 0..4).prop_map(|pairs| {
                    let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                    format!("{{{}}}", pairs.join(", "))
                }),
            ]
        })
    }

    fn mapping(keys: &[&'static str]) -> impl Strategy<Value = String> + use<> {
        proptest::collection::btree_map(proptest::sample::select(keys.to_vec()), value(), 0..6).prop_map(|pairs| {
            let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            pairs.join(", ")
        })
    }

    #[test]
    fn known_good_definitions_lower() {
        assert!(lowers("{site: https://example.com, query: {p: \"{id}\"}}", false));
        assert!(lowers("{href: \"https://example.com/{id}{?q}\"}", true));
        assert!(!lowers("{site: https://example.com, query: {p: \"{x}\"}}", false));
    }

    proptest! {
        #[test]
        fn any_query_is_typed_or_refused(members in mapping(query::ARGUMENTS)) {
            lowers(&format!("{{site: https://example.com, query: {{{members}}}}}"), false);
        }

        #[test]
        fn any_definition_is_typed_or_refused(
            query in mapping(&["query", "fields", "format", "max_items", "auth", "headers", "timeout", "cache", "template"]),
            url in mapping(&[
                "href", "method", "headers", "body", "timeout", "connect_timeout", "max_bytes", "max_redirects",
                "accept_status", "cache", "select", "html", "template",
            ]),
        ) {
            lowers(&format!("{{site: https://example.com, {query}}}"), false);
            lowers(&format!("{{{url}}}"), true);
        }

        #[test]
        fn any_text_is_a_value_or_refused(text in "\\PC{0,20}") {
            let quoted = format!("'{}'", text.replace('\'', "''"));
            for name in query::ARGUMENTS {
                lowers(&format!("{{site: https://example.com, query: {{{name}: {quoted}}}}}"), false);
            }
            for name in ["after", "before", "column"] {
                lowers(&format!("{{site: https://example.com, query: {{date_query: {{{name}: {quoted}}}}}}}"), false);
            }
            for name in ["body", "select", "accept_status", "method", "template"] {
                lowers(&format!("{{href: https://example.com/, {name}: {quoted}}}"), true);
            }
            lowers(&format!("{{href: {quoted}}}"), true);
            lowers(&format!("{{site: {quoted}, fields: [{quoted}]}}"), false);
        }
    }
}
