//! Definitions as authors write them: one struct for each mapping of the content format, nothing checked beyond the
//! kind of each value.

use serde::Deserialize;

use crate::{
    access::{AuthDefinition, LimitsDefinition},
    fetch::FetchDefinition,
    url::UrlDefinition,
    values::{Duration, FreeForm, Keys, MimeType, Scalar, TextOrFile, Timestamp},
    wp_query::WpQueryDefinition,
    yaml::Field,
};

/// `site.yaml`: defaults for every server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SiteDefinition {
    pub(crate) variables: Field<Variables>,
    pub(crate) ttl: Field<Duration>,
    pub(crate) page_size: Field<u32>,
    pub(crate) fetch: Field<FetchDefinition>,
    /// Which bearer tokens open a server.
    pub(crate) auth: Field<AuthDefinition>,
    /// How many requests each client may send.
    pub(crate) limits: Field<LimitsDefinition>,
}

/// `server.yaml`: who a server is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ServerDefinition {
    pub(crate) name: Field<String>,
    pub(crate) title: Field<String>,
    pub(crate) description: Field<String>,
    pub(crate) instructions: Field<TextOrFile>,
    pub(crate) website_url: Field<String>,
    pub(crate) version: Field<String>,
    pub(crate) icons: Field<Vec<Field<IconDefinition>>>,
    pub(crate) uri_prefix: Field<String>,
    pub(crate) page_size: Field<u32>,
    pub(crate) ttl: Field<Duration>,
    pub(crate) variables: Field<Variables>,
    pub(crate) fetch: Field<FetchDefinition>,
    /// Which bearer tokens open a server.
    pub(crate) auth: Field<AuthDefinition>,
    /// How many requests each client may send.
    pub(crate) limits: Field<LimitsDefinition>,
}

/// A resource or a resource template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResourceDefinition {
    pub(crate) uri: Field<String>,
    pub(crate) uri_template: Field<String>,
    pub(crate) name: Field<String>,
    pub(crate) title: Field<String>,
    pub(crate) description: Field<String>,
    pub(crate) mime_type: Field<MimeType>,
    pub(crate) annotations: Field<AnnotationsDefinition>,
    pub(crate) icons: Field<Vec<Field<IconDefinition>>>,
    pub(crate) meta: Field<Keys<FreeForm>>,
    pub(crate) ttl: Field<Duration>,
    #[serde(rename = "static")]
    pub(crate) static_: Field<StaticDefinition>,
    pub(crate) url: Field<UrlDefinition>,
    pub(crate) wp_query: Field<WpQueryDefinition>,
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
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StaticDefinition {
    pub(crate) text: Field<String>,
    pub(crate) file: Field<String>,
    pub(crate) files: Field<String>,
    pub(crate) render: Field<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AnnotationsDefinition {
    pub(crate) audience: Field<Vec<Field<Audience>>>,
    pub(crate) priority: Field<f64>,
    pub(crate) last_modified: Field<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Audience {
    User,
    Assistant,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IconDefinition {
    pub(crate) src: Field<String>,
    pub(crate) mime_type: Field<MimeType>,
    pub(crate) sizes: Field<Vec<Field<String>>>,
    pub(crate) theme: Field<Theme>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Theme {
    Light,
    Dark,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ArgumentDefinition {
    pub(crate) description: Field<String>,
    pub(crate) values: Field<Vec<Field<String>>>,
    pub(crate) pattern: Field<String>,
}

/// `variables`: names and scalars.
pub(crate) type Variables = Keys<Scalar>;
