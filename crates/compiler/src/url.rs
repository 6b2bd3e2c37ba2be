//! `url`: content that is fetched anew on each read.

use mcpress_catalog::source::{self, Href, Html, Method, StatusRange};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    fetch::{CacheDefinition, FetchDefinition, env_text, stand_in},
    schema,
    scope::Scope,
    values::{Duration, Keys, Size, TextOrFile},
    yaml::{Field, Mark},
};

/// What the template of a `url` sees beside `args` and `vars`.
const TEMPLATE_NAMES: [&str; 4] = ["text", "json", "status", "headers"];

/// `url`: content that is fetched anew on each read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename = "short:href")]
#[schemars(
    rename = "Url",
    deny_unknown_fields,
    extend(
        "required" = ["href"],
        "allOf" = [
            { "if": { "required": ["body"] }, "then": { "properties": { "method": { "const": "POST" } }, "required": ["method"] } },
            { "if": { "required": ["select"] }, "then": { "properties": { "html": { "const": "raw" } } } },
        ]
    ),
    transform = schema::or("href")
)]
pub(crate) struct UrlDefinition {
    /// The address, http or https; in an entry with `uri_template`, a template over its arguments.
    #[schemars(regex(pattern = schema::HTTP), extend("errorMessage" = schema::HTTP_EXPECTED))]
    pub(crate) href: Field<String>,
    /// How to ask. Default: `GET`.
    pub(crate) method: Field<Method>,
    /// Headers of the request, by name; values may hold `${ENV}`.
    #[schemars(transform = schema::headers)]
    pub(crate) headers: Field<Keys<String>>,
    /// The body of a `POST`; it may hold `${ENV}`.
    pub(crate) body: Field<String>,
    /// How long the whole fetch may take, redirects and body included. Default: `10s`.
    #[schemars(regex(pattern = schema::SOME_TIME))]
    pub(crate) timeout: Field<Duration>,
    /// How long connecting may take, which is part of `timeout`. Default: `3s`.
    #[schemars(regex(pattern = schema::SOME_TIME))]
    pub(crate) connect_timeout: Field<Duration>,
    /// Largest body, once it is decompressed. Default: `5MiB`.
    #[schemars(transform = schema::not_empty)]
    pub(crate) max_bytes: Field<Size>,
    /// Redirects to follow, from 0 to 20; each hop is checked anew. Default: 5.
    #[schemars(range(max = 20))]
    pub(crate) max_redirects: Field<u32>,
    /// Whether addresses that are not public may be asked, such as `10.0.0.1` or `localhost`. Default: `false`.
    pub(crate) allow_private_network: Field<bool>,
    /// Statuses that are an answer; any other makes the read fail. Default: `[200..299]`.
    #[schemars(length(min = 1))]
    pub(crate) accept_status: Field<Vec<Field<Statuses>>>,
    /// Keeps the last good answer in memory. Default: each read asks anew.
    pub(crate) cache: Field<CacheDefinition>,
    /// A JSON Pointer (RFC 6901) to the part of a JSON answer that is wanted, such as `/data/items`.
    #[schemars(regex(pattern = r"^(/([^~]|~[01])*)?$"))]
    pub(crate) select: Field<String>,
    /// What to make of an HTML answer. Default: `raw`.
    pub(crate) html: Field<Html>,
    /// A minijinja template over `text`, `json`, `status`, `headers`, `args` and `vars`, or `{file: path}`.
    pub(crate) template: Field<TextOrFile>,
}

/// A status, or a range of them: `404`, `200..299`.
#[derive(Debug)]
pub(crate) struct Statuses(pub(crate) StatusRange);

schema::inline_schema!(Statuses => {
    "type": ["integer", "string"],
    "minimum": 100,
    "maximum": 599,
    "pattern": r"^[1-5][0-9]{2}(\.\.[1-5][0-9]{2})?$",
    "examples": [404, "200..299"],
    "errorMessage": "expected a status from 100 to 599 or a range such as `200..299`",
});

/// Checks a `url`, which stands at `mark`, and types it. What is wrong is reported.
pub(crate) fn lower(
    definition: &UrlDefinition,
    mark: Mark,
    defaults: &FetchDefinition,
    scope: &mut Scope<'_>,
) -> Option<source::Url> {
    let own = definition.fetch();
    own.check("url", scope);
    if definition.href.is_absent() {
        scope
            .error(mark, "url", "`href` is missing")
            .with_hint("give the address: `href: https://example.com/data.json`");
    }
    let href = definition.href.given().filter(|(href, mark)| check_href(href, *mark, scope));
    let method = definition.method.value().copied().unwrap_or_default();
    if let Some((body, mark)) = definition.body.given() {
        env_text(body, mark, "url.body", scope);
        if method == Method::Get && !matches!(definition.method, Field::Bad) {
            scope.error(mark, "url.body", "a GET request has no body").with_hint("add `method: POST`");
        }
    }
    if let Some((pointer, mark)) = definition.select.given() {
        check_pointer(pointer, mark, scope);
        if let Some((html @ (Html::Markdown | Html::Text), mark)) = definition.html.given() {
            let name = if *html == Html::Text { "text" } else { "markdown" };
            scope
                .error(mark, "url.html", format!("`{name}` concerns HTML answers, and `select` JSON answers"))
                .with_hint("keep one of `html` and `select`");
        }
    }
    let accept_status = match definition.accept_status.given() {
        Some((statuses, mark)) if statuses.is_empty() => {
            scope
                .error(mark, "url.accept_status", "the list is empty, so every read would fail")
                .with_hint("leave it out for `[200..299]`");
            Vec::new()
        }
        Some((statuses, _)) => statuses.iter().filter_map(|statuses| Some(statuses.value()?.0)).collect(),
        None => vec![StatusRange::SUCCESS],
    };
    let template = match definition.template.given() {
        Some((template, mark)) => Some(scope.template(template, mark, "url.template", &TEMPLATE_NAMES)?),
        None => None,
    };
    Some(source::Url {
        href: href?.0.clone(),
        method,
        body: definition.body.value().cloned(),
        fetch: own.or(defaults).lower(),
        accept_status,
        select: definition.select.value().cloned(),
        html: definition.html.value().copied().unwrap_or_default(),
        template,
    })
}

impl UrlDefinition {
    /// The keys that `fetch` gives defaults for.
    fn fetch(&self) -> FetchDefinition {
        FetchDefinition {
            headers: self.headers.clone(),
            timeout: self.timeout.clone(),
            connect_timeout: self.connect_timeout.clone(),
            max_bytes: self.max_bytes.clone(),
            max_redirects: self.max_redirects.clone(),
            allow_private_network: self.allow_private_network.clone(),
            cache: self.cache.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (first, last) = text.split_once("..").unwrap_or((&text, &text));
        let status = |text: &str| text.parse().ok().filter(|status| text.len() == 3 && (100..=599).contains(status));
        match (status(first), status(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self(StatusRange { first, last })),
            (Some(_), Some(_)) => {
                Err(D::Error::custom(format!("the range `{text}` is empty\nwrite the lower one first")))
            }
            _ => Err(D::Error::custom(format!(
                "expected a status from 100 to 599 or a range such as `200..299` (both ends belong to it), found `{text}`"
            ))),
        }
    }
}

fn check_href(href: &str, mark: Mark, scope: &mut Scope<'_>) -> bool {
    let Some(pieces) = env_text(href, mark, "url.href", scope) else { return false };
    match Href::parse(&stand_in(&pieces), scope.arguments) {
        Ok(_) => true,
        Err(error) => {
            scope.error(mark, "url.href", error.message).with_hint(error.hint);
            false
        }
    }
}

fn check_pointer(pointer: &str, mark: Mark, scope: &mut Scope<'_>) {
    let (message, hint) = if !pointer.is_empty() && !pointer.starts_with('/') {
        (format!("`{pointer}` is no JSON Pointer, which begins with `/`"), "for example `/data/items/0`")
    } else if pointer.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
        (format!("`{pointer}` is no JSON Pointer: a `~` stands alone"), "`~0` stands for `~`, and `~1` for `/`")
    } else {
        return;
    };
    scope.error(mark, "url.select", message).with_hint(hint);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::yaml;

    fn statuses(text: &str) -> Result<StatusRange, String> {
        let node = yaml::parse("f", &format!("'{}'", text.replace('\'', "''")), 1, &mut Vec::new()).unwrap().unwrap();
        let mut diagnostics = Vec::new();
        let read: Option<Statuses> = yaml::read("f", "", &node, &mut diagnostics);
        read.map(|statuses| statuses.0).ok_or_else(|| diagnostics[0].message.clone())
    }

    #[test]
    fn reads_statuses_and_ranges() {
        for (text, first, last) in
            [("404", 404, 404), ("200..299", 200, 299), ("100..599", 100, 599), ("200..200", 200, 200)]
        {
            assert_eq!(statuses(text), Ok(StatusRange { first, last }), "{text}");
        }
        for text in [
            "",
            "2xx",
            "99",
            "600",
            "0404",
            "+200",
            "200..=299",
            "200...299",
            "200-299",
            "200..",
            "..299",
            "200..299..300",
        ] {
            assert!(statuses(text).is_err(), "{text}");
        }
        assert_eq!(statuses("299..200"), Err("the range `299..200` is empty".to_owned()));
    }

    proptest! {
        #[test]
        fn any_text_is_a_status_or_refused(text in "[0-9.]{0,10}|[a-zé.=-]{0,8}") {
            if let Ok(range) = statuses(&text) {
                prop_assert!(range.first <= range.last && range.contains(range.first) && range.contains(range.last));
            }
        }
    }
}
