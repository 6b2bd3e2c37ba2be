//! The kinds of values that definitions are made of: durations, sizes, media types, texts that may stand in a file,
//! mappings with keys of the author's choice.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use crate::{
    schema::{exactly_one, inline_schema, or},
    yaml::Field,
};

/// Milliseconds, written as `250ms`, `10s`, `5m`, `2h` or `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Duration(pub(crate) u64);

/// Bytes, written as `512KiB`, `5MiB`, `1GiB`, or plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(pub(crate) u64);

/// A media type, with parameters or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MimeType(pub(crate) String);

/// A point in time in RFC 3339 form, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp(pub(crate) String);

/// A text, or `{file: path}` for one that stands in a file of the tree.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename = "short:text")]
#[schemars(
    rename = "TextOrFile",
    deny_unknown_fields,
    transform = exactly_one("text|file"),
    transform = or("text")
)]
pub(crate) struct TextOrFile {
    /// The text itself.
    pub(crate) text: Field<String>,
    /// The path of a file inside the tree, relative to this one.
    pub(crate) file: Field<String>,
}

inline_schema!(Duration => {
    "type": "string", "pattern": r"^[0-9]+(ms|s|m|h|d)$", "examples": ["250ms", "10s", "5m", "2h", "1d"],
    "errorMessage": "expected a duration such as `250ms`, `10s`, `5m`, `2h`",
});
inline_schema!(Size => {
    "type": ["integer", "string"], "minimum": 0, "pattern": r"^[0-9]+(KiB|MiB|GiB)?$", "examples": ["512KiB", "5MiB"],
    "errorMessage": "expected a size such as `512KiB`, `5MiB` or bytes",
});
inline_schema!(MimeType => {
    "type": "string",
    "pattern": r"^[A-Za-z0-9!#$&^_.+\-]+/[A-Za-z0-9!#$&^_.+\-]+\s*(;.*[^=])?$",
    "examples": ["text/markdown", "application/json", "text/plain; charset=utf-8"],
    "errorMessage": "expected a media type such as `text/markdown`",
});
inline_schema!(Timestamp => {
    "type": "string",
    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+\-][0-9]{2}:[0-9]{2})$",
    "examples": ["2026-07-28T12:00:00Z"],
    "errorMessage": "expected a time in RFC 3339 form such as `2026-07-28T12:00:00Z`",
});
inline_schema!(Scalar => { "type": ["string", "number", "boolean"] });
inline_schema!(FreeForm => {});

/// A year, in milliseconds: HTTP knows no reason to keep anything for longer.
const LONGEST: u64 = 365 * 86_400_000;
/// More is not held in memory.
const LARGEST: u64 = 4 << 30;

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
        match scaled(&text, &units) {
            Some(milliseconds @ 0..=LONGEST) => Ok(Self(milliseconds)),
            Some(_) => Err(expected("a duration of at most `365d`", &text)),
            None => Err(expected("a duration such as `250ms`, `10s`, `5m`, `2h`", &text)),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)];
        match scaled(&text, &units) {
            Some(bytes @ 0..=LARGEST) => Ok(Self(bytes)),
            Some(_) => Err(expected("a size of at most `4GiB`", &text)),
            None => Err(expected("a size such as `512KiB`, `5MiB` or bytes", &text)),
        }
    }
}

impl<'de> Deserialize<'de> for MimeType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<mime::Mime>() {
            Ok(parsed) if parsed.type_() != mime::STAR && parsed.subtype() != mime::STAR && !text.ends_with('=') => {
                Ok(Self(text))
            }
            _ => Err(expected("a media type such as `text/markdown`", &text)),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if is_rfc3339(&text) {
            return Ok(Self(text));
        }
        Err(expected("a time in RFC 3339 form such as `2026-07-28T12:00:00Z`", &text))
    }
}

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

impl<T: JsonSchema> JsonSchema for Keys<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Keys_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<Field<T>>() })
    }
}

impl<'de> Deserialize<'de> for FreeForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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

/// The parser of dates takes more forms than RFC 3339 has, and fewer digits of a second.
fn is_rfc3339(text: &str) -> bool {
    let Some((date_time, rest)) = text.split_at_checked(19) else { return false };
    let digits = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let offset = if digits > 0 { &rest[digits + 1..] } else { rest };
    let shape: Vec<u8> = date_time.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte }).collect();
    let is_offset = matches!(offset.as_bytes(), [b'Z' | b'z'] | [b'+' | b'-', _, _, b':', _, _]);
    matches!(shape.as_slice(), b"0000-00-00T00:00:00" | b"0000-00-00t00:00:00" | b"0000-00-00 00:00:00")
        && is_offset
        && format!("{date_time}{offset}").parse::<jiff::Timestamp>().is_ok()
}

/// A whole number with one of the units behind it, in the smallest unit, or the largest number there is where it is
/// larger; `None` for anything else.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    (digits > 0).then(|| number.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(factor))
}

fn expected<E: Error>(expected: &str, found: &str) -> E {
    E::custom(format!("expected {expected}, found `{found}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_rfc3339_and_nothing_else() {
        for text in ["2026-07-28T12:00:00Z", "2026-07-28 12:00:00.123456789012+05:30", "2026-07-28t12:00:00-00:00"] {
            assert!(is_rfc3339(text), "{text}");
        }
        for text in [
            "2026-07-28",
            "2026-07-28T12:00Z",
            "2026-07-28T12:00:00",
            "2026-07-28T12:00:00+05",
            "2026-07-28T12:00:00+0530",
            "20260728T120000Z",
            "2026-07-28T12:00:00,5Z",
            "2026-07-28T12:00:00+05:30:15",
            "2026-02-30T12:00:00Z",
            "2026-07-28T12:00:00Z[UTC]",
            "2026-07-28T12:00:00.Z",
            "é026-07-28T12:00:00Z",
            "",
        ] {
            assert!(!is_rfc3339(text), "{text}");
        }
    }

    #[test]
    fn scales_by_unit_and_refuses_the_rest() {
        let units = [("ms", 1), ("s", 1000), ("", 7)];
        let cases =
            [("250ms", Some(250)), ("10s", Some(10_000)), ("2", Some(14)), ("s", None), ("-1s", None), ("1 s", None)];
        for (text, milliseconds) in cases {
            assert_eq!(scaled(text, &units), milliseconds, "{text}");
        }
        for text in ["18446744073709551615s", "99999999999999999999ms"] {
            assert_eq!(scaled(text, &units), Some(u64::MAX), "{text}");
        }
    }
}
