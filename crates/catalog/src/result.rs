//! Writes the `contents` of a `resources/read` result: at build time for static resources, at run time for the others.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Map, Value};

/// `TextResourceContents` or `BlobResourceContents`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents<'a> {
    /// The URI that was read.
    pub uri: &'a str,
    /// Media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<&'a str>,
    /// The content itself.
    #[serde(flatten)]
    pub payload: Payload<'a>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<&'a Map<String, Value>>,
}

/// What a resource holds.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Payload<'a> {
    /// Text, given as it is.
    Text(&'a str),
    /// Bytes, given in base64.
    Blob(#[serde(serialize_with = "base64")] &'a [u8]),
}

/// Writes the `contents` array of a result: one object.
pub fn contents(contents: &ResourceContents<'_>) -> Vec<u8> {
    to_json(&[contents])
}

/// Serializes one of this crate's types.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Writing to memory does not fail, and no type of this crate has map keys that are not text.
    serde_json::to_vec(value).unwrap_or_default()
}

fn base64<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_text_and_blob() {
        let mut object = ResourceContents {
            uri: "docs://a",
            mime_type: Some("text/markdown"),
            payload: Payload::Text("# \"A\"\n"),
            meta: None,
        };
        assert_eq!(contents(&object), br##"[{"uri":"docs://a","mimeType":"text/markdown","text":"# \"A\"\n"}]"##);
        object.payload = Payload::Blob(&[0, 255]);
        object.mime_type = None;
        assert_eq!(contents(&object), br#"[{"uri":"docs://a","blob":"AP8="}]"#);
    }
}
