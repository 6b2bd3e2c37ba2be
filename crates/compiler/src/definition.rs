//! Definitions as authors write them: one struct for each mapping of the content format, nothing checked beyond the
//! kind of each value.
//!
//! The JSON Schemas for editors are derived from the same structs, so what is said of a field is what an author reads
//! while writing, and the `schemars` attributes say what the compiler checks elsewhere.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    access::{AuthDefinition, LimitsDefinition},
    fetch::FetchDefinition,
    schema::{self, exactly_one},
    url::UrlDefinition,
    values::{Duration, FreeForm, Keys, MimeType, Scalar, TextOrFile, Timestamp},
    wp_query::WpQueryDefinition,
    yaml::Field,
};

/// `site.yaml`: defaults for every server; a server's own value wins, key by key.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Site", deny_unknown_fields)]
pub(crate) struct SiteDefinition {
    /// Names and values that templates see as `vars`.
    pub(crate) variables: Field<Variables>,
    /// How long clients may keep lists and static contents. Default: `5m`.
    pub(crate) ttl: Field<Duration>,
    /// Entries in a page of a list, from 1. Default: all in one page, for many clients read only the first.
    #[schemars(range(min = 1))]
    pub(crate) page_size: Field<u32>,
    /// `false`: answers never go out compressed. Default: `true`.
    pub(crate) compression: Field<bool>,
    /// Defaults for the `url` and `wp_query` entries.
    pub(crate) fetch: Field<FetchDefinition>,
    /// Which bearer tokens open a server.
    pub(crate) auth: Field<AuthDefinition>,
    /// How many requests each client may send.
    pub(crate) limits: Field<LimitsDefinition>,
}

/// `server.yaml`: who a server is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Server", deny_unknown_fields)]
pub(crate) struct ServerDefinition {
    /// The programmatic name. Default: the slug, which is the folder's name.
    pub(crate) name: Field<String>,
    /// The name that people read.
    pub(crate) title: Field<String>,
    /// What the server offers, in a sentence or two.
    pub(crate) description: Field<String>,
    /// How a model should use the server: a text, or `{file: path}`.
    pub(crate) instructions: Field<TextOrFile>,
    /// A page about the server, for people.
    #[schemars(regex(pattern = r"^https?://\S+$"))]
    pub(crate) website_url: Field<String>,
    /// The version of the content. Default: the first 12 digits of its hash.
    pub(crate) version: Field<String>,
    /// Pictures that clients may show.
    pub(crate) icons: Field<Vec<Field<IconDefinition>>>,
    /// What the URIs of plain files begin with, such as `docs://`. Default: the slug and `://`.
    #[schemars(regex(pattern = r"^[A-Za-z][A-Za-z0-9+.\-]*:[^\s?#]*$"))]
    pub(crate) uri_prefix: Field<String>,
    /// Names and values that templates see as `vars`.
    pub(crate) variables: Field<Variables>,
    /// How long clients may keep lists and static contents. Default: `5m`.
    pub(crate) ttl: Field<Duration>,
    /// Entries in a page of a list, from 1. Default: all in one page, for many clients read only the first.
    #[schemars(range(min = 1))]
    pub(crate) page_size: Field<u32>,
    /// Defaults for the `url` and `wp_query` entries.
    pub(crate) fetch: Field<FetchDefinition>,
    /// Which bearer tokens open a server.
    pub(crate) auth: Field<AuthDefinition>,
    /// How many requests each client may send.
    pub(crate) limits: Field<LimitsDefinition>,
}

/// A resource or a resource template.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(
    rename = "Resource",
    deny_unknown_fields,
    transform = exactly_one("static|url|wp_query"),
    transform = exactly_one("uri|uri_template"),
    extend("dependencies" = { "uri_template": ["arguments"], "arguments": ["uri_template"] })
)]
pub(crate) struct ResourceDefinition {
    /// The address that clients read it by, such as `docs://guides/intro`; no other resource of the server has it.
    #[schemars(regex(pattern = schema::URI), extend("errorMessage" = schema::URI_EXPECTED))]
    pub(crate) uri: Field<String>,
    /// In place of `uri`: an RFC 6570 template such as `docs://users/{id}`, which is read by filling it in.
    #[schemars(regex(pattern = r"\{.+\}"))]
    pub(crate) uri_template: Field<String>,
    /// The programmatic name. Default: the URI after its scheme.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) name: Field<String>,
    /// The name that people read. Default: the first heading of a Markdown text.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) title: Field<String>,
    /// What it is about, for models and people who choose what to read.
    pub(crate) description: Field<String>,
    /// The media type. Default: by the file's extension, or what the upstream says.
    pub(crate) mime_type: Field<MimeType>,
    /// For whom it is, how much it matters, and when it was changed last.
    pub(crate) annotations: Field<AnnotationsDefinition>,
    /// Pictures that clients may show.
    pub(crate) icons: Field<Vec<Field<IconDefinition>>>,
    /// Becomes `_meta` of the entry and of its contents; keys such as `example.com/team`.
    #[schemars(extend("propertyNames" = { "pattern": schema::META_KEY }))]
    pub(crate) meta: Field<Keys<FreeForm>>,
    /// How long clients may keep what they read. Default: the server's `ttl`; of fetched content, that of its `cache`.
    pub(crate) ttl: Field<Duration>,
    /// Content that is compiled in.
    #[serde(rename = "static")]
    pub(crate) static_: Field<StaticDefinition>,
    /// Content that is fetched anew on each read: an address, or a mapping with `href`.
    pub(crate) url: Field<UrlDefinition>,
    /// A WordPress query that is run anew on each read.
    pub(crate) wp_query: Field<WpQueryDefinition>,
    /// Each variable of `uri_template`, and what it may be; `{}` if any value will do.
    pub(crate) arguments: Field<Keys<ArgumentDefinition>>,
}

/// The front matter of a Markdown file; keys of other tools are left alone.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename = "open:page")]
pub(crate) struct PageDefinition {
    pub(crate) uri: Field<String>,
    pub(crate) name: Field<String>,
    pub(crate) title: Field<String>,
    pub(crate) description: Field<String>,
    pub(crate) mime_type: Field<MimeType>,
    pub(crate) annotations: Field<AnnotationsDefinition>,
    pub(crate) icons: Field<Vec<Field<IconDefinition>>>,
    pub(crate) meta: Field<Keys<FreeForm>>,
    pub(crate) ttl: Field<Duration>,
}

/// `static`: content that is compiled in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Static", deny_unknown_fields, transform = exactly_one("text|file|files"))]
pub(crate) struct StaticDefinition {
    /// The content itself; with `uri_template`, a minijinja template that is rendered at each read.
    pub(crate) text: Field<String>,
    /// The path of a file inside the tree, relative to this one.
    pub(crate) file: Field<String>,
    /// A glob relative to this file, such as `../handbook/**/*.md`: one resource for each file; `uri` holds `{path}`.
    pub(crate) files: Field<String>,
    /// Whether the text is a minijinja template that is rendered when it is compiled in. Default: `false`.
    pub(crate) render: Field<bool>,
}

/// For whom a resource is, how much it matters, and when it was changed last.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Annotations", deny_unknown_fields)]
pub(crate) struct AnnotationsDefinition {
    /// For whom it is: `user`, `assistant` or both.
    pub(crate) audience: Field<Vec<Field<Audience>>>,
    /// From 0 (optional) to 1 (required reading).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) priority: Field<f64>,
    /// When it was changed last, in RFC 3339 form.
    pub(crate) last_modified: Field<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Audience {
    User,
    Assistant,
}

/// A picture that clients may show.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Icon", deny_unknown_fields, extend("required" = ["src"]))]
pub(crate) struct IconDefinition {
    /// An `https:` or `data:` URI, or the path of a picture in the tree, which is compiled in.
    #[schemars(regex(pattern = r"^(https:|data:|[^:/]*(/|$))"))]
    pub(crate) src: Field<String>,
    /// The picture's media type. Default: by the file's extension.
    pub(crate) mime_type: Field<MimeType>,
    /// Sizes in pixels such as `48x48`, or `any`.
    #[schemars(inner(regex(pattern = r"^(any|[0-9]+x[0-9]+)$")))]
    pub(crate) sizes: Field<Vec<Field<String>>>,
    /// The background that it is made for.
    pub(crate) theme: Field<Theme>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Theme {
    Light,
    Dark,
}

/// An argument of a template.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Argument", deny_unknown_fields)]
pub(crate) struct ArgumentDefinition {
    /// What it stands for.
    pub(crate) description: Field<String>,
    /// The values that are allowed, which clients offer for completion. Default: any value.
    #[schemars(length(min = 1))]
    pub(crate) values: Field<Vec<Field<String>>>,
    /// A regular expression that the whole value matches.
    pub(crate) pattern: Field<String>,
}

/// `variables`: names and scalars.
pub(crate) type Variables = Keys<Scalar>;
