//! The export of the WordPress plugin GetMCP (`getmcp/server-v1`), read liberally: what is missing, null or of another
//! kind is no error here, and members that are not known are kept, to be reported.

use serde_json::{Map, Value};

use super::json;

/// What `format` says in the exports that are understood.
const FORMAT: &str = "getmcp/server-v1";

/// One server with all that it offers.
#[derive(Debug)]
pub(super) struct Export {
    pub(super) server: Server,
    pub(super) resources: Vec<Resource>,
    /// As they stand in the file.
    pub(super) prompts: Vec<Value>,
    /// Other members at the top.
    pub(super) unknown: Map<String, Value>,
    /// Members of any depth that have the name of one before them, which they replace.
    pub(super) twice: Vec<String>,
}

/// Who the server is.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) slug: Option<String>,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) version: Option<String>,
    pub(super) instructions: Option<String>,
    pub(super) unknown: Map<String, Value>,
}

/// A resource, a template, or both.
#[derive(Debug)]
pub(super) struct Resource {
    /// Where it stands in the file, such as `resources[2]`.
    pub(super) place: String,
    pub(super) uri: Option<String>,
    pub(super) template_uri: Option<String>,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) mime_type: Option<String>,
    pub(super) data_source_type: Option<String>,
    /// An object, whether it was written as one or as JSON in a text; what it was if it is none.
    pub(super) data_source_config: Result<Map<String, Value>, Value>,
    pub(super) unknown: Map<String, Value>,
    /// Members of a configuration in a text that have the name of one before them.
    pub(super) twice: Vec<String>,
}

impl Export {
    /// Reads an export.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (value, twice) = json::read("", bytes).map_err(|error| format!("not JSON: {error}"))?;
        let Value::Object(mut members) = value else {
            return Err("not an export: expected an object with `server` and `resources`".to_owned());
        };
        match members.shift_remove("format") {
            Some(Value::String(format)) if format == FORMAT => {}
            None if members.contains_key("server") || members.contains_key("resources") => {}
            None => return Err("not an export: it has neither `format` nor `server` nor `resources`".to_owned()),
            Some(format) => return Err(format!("the format is {format}; only `\"{FORMAT}\"` is known")),
        }
        let server = match members.shift_remove("server") {
            Some(Value::Object(server)) => server,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err("`server` is no object".to_owned()),
        };
        Ok(Self {
            server: Server::read(server),
            resources: list(&mut members, "resources")?
                .into_iter()
                .enumerate()
                .map(|(index, value)| Resource::read(format!("resources[{index}]"), value))
                .collect(),
            prompts: list(&mut members, "prompts")?,
            unknown: members,
            twice,
        })
    }
}

impl Server {
    fn read(mut members: Map<String, Value>) -> Self {
        Self {
            slug: text(&mut members, "slug"),
            name: text(&mut members, "name"),
            title: text(&mut members, "title"),
            description: text(&mut members, "description"),
            version: text(&mut members, "version"),
            instructions: text(&mut members, "instructions"),
            unknown: members,
        }
    }
}

impl Resource {
    fn read(place: String, value: Value) -> Self {
        let mut members = match value {
            Value::Object(members) => members,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        let mut twice = Vec::new();
        let config = members.shift_remove("data_source_config").unwrap_or_default();
        let data_source_config = config_of(config, &format!("{place}.data_source_config"), &mut twice);
        Self {
            place,
            uri: text(&mut members, "uri"),
            template_uri: text(&mut members, "template_uri"),
            name: text(&mut members, "name"),
            title: text(&mut members, "title"),
            description: text(&mut members, "description"),
            mime_type: text(&mut members, "mime_type"),
            data_source_type: text(&mut members, "data_source_type"),
            data_source_config,
            unknown: members,
            twice,
        }
    }
}

/// Whether a value says nothing: PHP writes `null`, an empty text or an empty array for what was not filled in.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The configuration that stands at `place`; what it gives more than once is added to `twice`.
fn config_of(value: Value, place: &str, twice: &mut Vec<String>) -> Result<Map<String, Value>, Value> {
    match value {
        Value::Object(members) => Ok(members),
        value if is_empty(&value) => Ok(Map::new()),
        Value::String(text) => match json::read(place, text.as_bytes()) {
            Ok((Value::Object(members), found)) => {
                *twice = found;
                Ok(members)
            }
            Ok((value, _)) if is_empty(&value) => Ok(Map::new()),
            _ => Err(Value::String(text)),
        },
        other => Err(other),
    }
}

/// Takes a member that should be a text. What is empty counts as missing, and what is no text is left where it is.
fn text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    let text = match members.get(name)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    members.shift_remove(name);
    (!text.trim().is_empty()).then_some(text)
}

/// Takes a list, which PHP writes as an object where its keys have gaps.
fn list(members: &mut Map<String, Value>, name: &str) -> Result<Vec<Value>, String> {
    match members.shift_remove(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(Value::Object(items)) => Ok(items.into_iter().map(|(_, item)| item).collect()),
        Some(_) => Err(format!("`{name}` is no list")),
    }
}
