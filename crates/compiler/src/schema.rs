//! The JSON Schemas of `server.yaml`, `site.yaml` and definition files, for editors.
//!
//! They are derived from the structs that read these files, so a new key is in them without further ado. What the
//! compiler checks beyond the kinds of values is said with the helpers below where a schema can say it in few words;
//! what it cannot (whether a file exists, whether a URI is unique, …) is left to the compiler. A schema never refuses
//! what compiles.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};

use crate::{
    definition::{ResourceDefinition, ServerDefinition, SiteDefinition},
    yaml::Field,
};

/// The files that have a schema: `server` for `server.yaml`, `site` for `site.yaml`, `resource` for definition files.
pub const SCHEMAS: [&str; 3] = ["server", "site", "resource"];

/// One of [`SCHEMAS`] as it is written into a file, in the draft that editors know best.
pub fn schema(name: &str) -> Option<String> {
    let generator = SchemaSettings::draft07().into_generator();
    let schema = match name {
        "server" => generator.into_root_schema_for::<ServerDefinition>(),
        "site" => generator.into_root_schema_for::<SiteDefinition>(),
        "resource" => generator.into_root_schema_for::<DefinitionFile>(),
        _ => return None,
    };
    Some(format!("{:#}\n", schema.to_value()))
}

/// A file below `resources/`.
struct DefinitionFile;

impl JsonSchema for DefinitionFile {
    fn schema_name() -> Cow<'static, str> {
        "Definition file".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let resource = generator.subschema_for::<ResourceDefinition>();
        json_schema!({
            "description": "A resource or a resource template, or a list of them.",
            "if": { "type": "array" },
            "then": { "items": resource, "minItems": 1 },
            "else": resource,
        })
    }
}

/// A URI, as far as an expression can tell.
pub(crate) const URI: &str = r"^[A-Za-z][A-Za-z0-9+.\-]*:[!-~]*$";
pub(crate) const URI_EXPECTED: &str = "expected a URI such as `docs://guides/intro`; percent-encode the rest";
/// An address, or a variable of the environment that begins one.
pub(crate) const HTTP: &str = r"^([Hh][Tt][Tt][Pp][Ss]?://|\$\{)\S*$";
pub(crate) const HTTP_EXPECTED: &str = "expected an address such as `https://example.com/data.json`";
/// A key of `_meta`, but for those that MCP keeps to itself.
pub(crate) const META_KEY: &str = r"^([A-Za-z]([A-Za-z0-9\-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9\-]*[A-Za-z0-9])?)*/)?([A-Za-z0-9]([A-Za-z0-9_.\-]*[A-Za-z0-9])?)?$";
/// A duration longer than none.
pub(crate) const SOME_TIME: &str = r"^0*[1-9][0-9]*(ms|s|m|h|d)$";

/// The kinds of scalars, all of which are texts where a text is read, as they were spelled.
pub(crate) const TEXT: [&str; 3] = ["string", "number", "boolean"];

/// A field's schema is that of its value.
impl<T: JsonSchema> JsonSchema for Field<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = generator.subschema_for::<T>();
        if schema == json_schema!({ "type": "string" }) {
            schema.insert("type".to_owned(), json!(TEXT));
        }
        // A number's width in memory is of no use to an author.
        schema.remove("format");
        schema
    }
}

/// The schema of a type that reads its value from a scalar.
macro_rules! inline_schema {
    ($type:ty => {$($schema:tt)*}) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({$($schema)*})
            }
        }
    };
}
pub(crate) use inline_schema;

/// A mapping that has one of these keys (`a|b`), and one only.
///
/// `oneOf` would say as much, but editors then say that several schemas match; so each key forbids the others.
pub(crate) fn exactly_one(keys: &'static str) -> impl FnMut(&mut Schema) {
    let required: Vec<Value> = keys.split('|').map(|key| json!({ "required": [key] })).collect();
    let others = |key: &'static str| {
        keys.split('|').filter(move |other| *other != key).map(|other| (other.to_owned(), json!(false)))
    };
    let forbids = |key: &'static str| (key.to_owned(), json!({ "properties": Map::from_iter(others(key)) }));
    let dependencies = Map::from_iter(keys.split('|').map(forbids));
    let one = json!({ "anyOf": required, "dependencies": dependencies });
    move |schema| match schema.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(all) => all.push(one.clone()),
        None => drop(schema.insert("allOf".to_owned(), json!([one]))),
    }
}

/// A mapping, or the value of one of its keys.
pub(crate) fn or(key: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let mapping = std::mem::take(schema.ensure_object());
        let value = mapping.get("properties").and_then(|properties| properties.get(key));
        let mut short = value.and_then(Value::as_object).cloned().unwrap_or_default();
        short.remove("description");
        *schema = json_schema!({ "anyOf": [short, mapping] });
    }
}

/// Names and values of headers.
pub(crate) fn headers(schema: &mut Schema) {
    schema.insert("propertyNames".to_owned(), json!({ "pattern": r"^[A-Za-z0-9!#$%&'*+.^_`|~\-]+$" }));
    schema.insert("additionalProperties".to_owned(), json!({ "type": TEXT, "pattern": r"^[\t -~]*$" }));
}

/// A size of more than nothing.
pub(crate) fn not_empty(schema: &mut Schema) {
    schema.insert("minimum".to_owned(), json!(1));
    schema.insert("pattern".to_owned(), json!(r"^0*[1-9][0-9]*(KiB|MiB|GiB)?$"));
}
