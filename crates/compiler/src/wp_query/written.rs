//! Values as loosely as WordPress takes them: an id is a number or a text, a list may be one value.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

use crate::yaml::Field;

/// Keys and values of a mapping, with their places.
pub(super) type Members = Vec<(Field<String>, Field<Written>)>;

/// A value of any kind, as it was spelled.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    Nothing,
    Scalar(String),
    List(Vec<Field<Written>>),
    Mapping(Members),
}

impl Written {
    /// What it is, in an author's words.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Scalar(text) if text.trim().is_empty() => "an empty text".to_owned(),
            Self::Scalar(text) => format!("`{}`", text.lines().next().unwrap_or_default()),
            Self::List(_) => "a list".to_owned(),
            Self::Mapping(_) => "a mapping".to_owned(),
        }
    }

    /// The name in `{name}` that was not quoted, which YAML takes for a mapping.
    pub(super) fn unquoted_placeholder(&self) -> Option<&str> {
        match self {
            Self::Mapping(members) => match members.as_slice() {
                [(name, Field::Given(Self::Nothing, _))] => name.value().map(String::as_str),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WrittenVisitor;

        impl<'de> Visitor<'de> for WrittenVisitor {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E: Error>(self) -> Result<Written, E> {
                Ok(Written::Nothing)
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Written, E> {
                Ok(Written::Scalar(value.to_string()))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Written, E> {
                Ok(Written::Scalar(value.to_string()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Written, E> {
                Ok(Written::Scalar(value.to_string()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Written, E> {
                Ok(Written::Scalar(value.to_string()))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Written, E> {
                Ok(Written::Scalar(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Written, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Written::List(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Written::Mapping(members))
            }
        }

        deserializer.deserialize_any(WrittenVisitor)
    }
}
