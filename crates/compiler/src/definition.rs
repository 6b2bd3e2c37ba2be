//! Definitions as authors write them: one struct for each mapping of the content format, nothing checked beyond the
//! kind of each value.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use crate::{
    fetch::FetchDefinition,
    url::UrlDefinition,
    values::{Duration, MimeType, TextOrFile, Timestamp},
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

/// A mapping whose keys its author chooses, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Keys<T>(pub(crate) Vec<(String, Field<T>)>);

/// Any value.
#[derive(Clone, Debug)]
pub(crate) struct FreeForm(pub(crate) serde_json::Value);

/// A text, number, boolean or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Scalar(pub(crate) serde_json::Value);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keys<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for KeysVisitor<T> {
            type Value = Keys<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Keys(pairs))
            }
        }

        deserializer.deserialize_map(KeysVisitor(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for FreeForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        struct ScalarVisitor;

        impl<'de> Visitor<'de> for ScalarVisitor {
            type Value = serde_json::Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a number, or `true` or `false`")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(value.into())
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(value.into())
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(value.into())
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                Ok(value.into())
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
                Ok(value.into())
            }
        }

        deserializer.deserialize_any(ScalarVisitor).map(Self)
    }
}
