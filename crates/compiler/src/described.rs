//! What describes an entry in lists: the members that definitions and front matter have in common.

use base64::{Engine, engine::general_purpose::STANDARD};
use mcpress_catalog::protocol::{Annotations, Icon};
use serde_json::{Map, Value};

use crate::{
    definition::{AnnotationsDefinition, Audience, IconDefinition, PageDefinition, ResourceDefinition, Theme},
    scope::Scope,
    values::{Duration, FreeForm, Keys, MimeType},
    yaml::{Field, Mark},
};

/// What is known of an entry; `None` where its author said nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Described {
    pub(crate) uri: Option<(String, Mark)>,
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) annotations: Option<Annotations>,
    pub(crate) icons: Option<Vec<Icon>>,
    pub(crate) meta: Option<Map<String, Value>>,
    pub(crate) ttl_ms: Option<u64>,
}

/// The fields of a definition or of front matter that describe an entry.
struct Fields<'a> {
    uri: &'a Field<String>,
    name: &'a Field<String>,
    title: &'a Field<String>,
    description: &'a Field<String>,
    mime_type: &'a Field<MimeType>,
    annotations: &'a Field<AnnotationsDefinition>,
    icons: &'a Field<Vec<Field<IconDefinition>>>,
    meta: &'a Field<Keys<FreeForm>>,
    ttl: &'a Field<Duration>,
}

macro_rules! fields {
    ($definition:expr) => {
        Fields {
            uri: &$definition.uri,
            name: &$definition.name,
            title: &$definition.title,
            description: &$definition.description,
            mime_type: &$definition.mime_type,
            annotations: &$definition.annotations,
            icons: &$definition.icons,
            meta: &$definition.meta,
            ttl: &$definition.ttl,
        }
    };
}

impl Described {
    pub(crate) fn of_definition(definition: &ResourceDefinition, scope: &mut Scope<'_>) -> Self {
        Self::lower(&fields!(definition), scope)
    }

    pub(crate) fn of_page(page: &PageDefinition, scope: &mut Scope<'_>) -> Self {
        let described = Self::lower(&fields!(page), scope);
        Self { uri: described.uri.filter(|(uri, mark)| check_uri(uri, *mark, scope)), ..described }
    }

    fn lower(fields: &Fields<'_>, scope: &mut Scope<'_>) -> Self {
        Self {
            uri: fields.uri.given().map(|(uri, mark)| (uri.clone(), mark)),
            name: not_empty("name", fields.name, scope),
            title: not_empty("title", fields.title, scope),
            description: fields.description.value().cloned(),
            mime_type: fields.mime_type.value().map(|mime_type| mime_type.0.clone()),
            annotations: fields.annotations.value().map(|definition| annotations(definition, scope)),
            icons: fields.icons.value().map(|definitions| icons(definitions, scope)),
            meta: fields.meta.value().map(|keys| meta(keys, scope)),
            ttl_ms: fields.ttl.value().map(|ttl| ttl.0),
        }
    }

    /// The same, and what `other` says where this says nothing.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            uri: self.uri.or(other.uri),
            name: self.name.or(other.name),
            title: self.title.or(other.title),
            description: self.description.or(other.description),
            mime_type: self.mime_type.or(other.mime_type),
            annotations: self.annotations.or(other.annotations),
            icons: self.icons.or(other.icons),
            meta: self.meta.or(other.meta),
            ttl_ms: self.ttl_ms.or(other.ttl_ms),
        }
    }
}

/// Reports what is no URI; true if it is one.
pub(crate) fn check_uri(uri: &str, mark: Mark, scope: &mut Scope<'_>) -> bool {
    match mcpress_catalog::uri::check(uri) {
        Ok(()) => true,
        Err(reason) => {
            scope.error(mark, "uri", format!("`{uri}` is not a URI: {reason}")).with_hint(
                "a URI is a scheme, a colon and a path, such as `docs://guides/intro`; percent-encode the rest",
            );
            false
        }
    }
}

fn not_empty(name: &str, field: &Field<String>, scope: &mut Scope<'_>) -> Option<String> {
    let (text, mark) = field.given()?;
    if text.trim().is_empty() {
        scope.error(mark, name, "an empty text").with_hint("leave it out, or say something");
        return None;
    }
    Some(text.clone())
}

fn annotations(definition: &AnnotationsDefinition, scope: &mut Scope<'_>) -> Annotations {
    let audience = definition.audience.value().map(Vec::as_slice).unwrap_or_default();
    let priority = definition.priority.given().and_then(|(priority, mark)| {
        if (0.0..=1.0).contains(priority) {
            return Some(*priority);
        }
        scope
            .error(mark, "annotations.priority", format!("expected a number from 0 to 1, found `{priority}`"))
            .with_hint("0 is optional, 1 is required reading");
        None
    });
    Annotations {
        audience: audience.iter().filter_map(Field::value).map(|audience| role(*audience).to_owned()).collect(),
        priority,
        last_modified: definition.last_modified.value().map(|time| time.0.clone()),
    }
}

fn role(audience: Audience) -> &'static str {
    match audience {
        Audience::User => "user",
        Audience::Assistant => "assistant",
    }
}

/// Icons, those in the tree as `data:` URIs.
pub(crate) fn icons(definitions: &[Field<IconDefinition>], scope: &mut Scope<'_>) -> Vec<Icon> {
    let given = definitions.iter().enumerate();
    given
        .filter_map(|(index, field)| field.given().and_then(|(icon, mark)| self::icon(icon, mark, index, scope)))
        .collect()
}

fn icon(definition: &IconDefinition, mark: Mark, index: usize, scope: &mut Scope<'_>) -> Option<Icon> {
    let field = format!("icons[{index}]");
    let mut mime_type = definition.mime_type.value().map(|mime_type| mime_type.0.clone());
    let (src, mark) = match &definition.src {
        Field::Given(src, mark) => (src, *mark),
        Field::Bad => return None,
        Field::Absent => {
            scope
                .error(mark, &format!("{field}.src"), "missing")
                .with_hint("give an `https:` or `data:` URI, or the path of a picture in the tree");
            return None;
        }
    };
    let src = match src.split_once(':') {
        Some(("https" | "data", rest)) => match mcpress_catalog::uri::check(src) {
            Ok(()) if rest.len() > 2 => src.clone(),
            checked => {
                let reason = checked.err().unwrap_or_else(|| "it names nothing".to_owned());
                scope.error(mark, &format!("{field}.src"), format!("not a URI: {reason}"));
                return None;
            }
        },
        Some((scheme, _)) if !scheme.contains('/') => {
            scope
                .error(mark, &format!("{field}.src"), format!("icons cannot be `{scheme}:` URIs"))
                .with_hint("use `https:`, `data:`, or the path of a picture in the tree");
            return None;
        }
        _ => match scope.tree.find(scope.path, src) {
            Ok((path, bytes)) => {
                let guessed = mime_guess::from_path(&path).first_raw().unwrap_or("application/octet-stream");
                let mime_type = mime_type.get_or_insert_with(|| guessed.to_owned());
                format!("data:{mime_type};base64,{}", STANDARD.encode(bytes))
            }
            Err((message, hint)) => {
                scope.error(mark, &format!("{field}.src"), message).with_hint(&hint);
                return None;
            }
        },
    };
    let sizes = definition.sizes.value().map(Vec::as_slice).unwrap_or_default();
    for (index, (size, mark)) in sizes.iter().enumerate().filter_map(|(index, size)| Some((index, size.given()?))) {
        if !is_size(size) {
            let message = format!("expected a size such as `48x48`, or `any`, found `{size}`");
            scope.error(mark, &format!("{field}.sizes[{index}]"), message);
        }
    }
    Some(Icon {
        src,
        mime_type,
        sizes: sizes.iter().filter_map(Field::value).cloned().collect(),
        theme: definition.theme.value().map(|theme| theme_name(*theme).to_owned()),
    })
}

fn theme_name(theme: Theme) -> &'static str {
    match theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
}

fn is_size(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text == "any" || text.split_once('x').is_some_and(|(width, height)| number(width) && number(height))
}

/// `_meta`, its keys checked by MCP's grammar (2025-06-18 and later, basic protocol, `_meta`).
fn meta(keys: &Keys<FreeForm>, scope: &mut Scope<'_>) -> Map<String, Value> {
    let mut map = Map::new();
    for (key, value) in &keys.0 {
        let Some((value, mark)) = value.given() else { continue };
        match check_meta_key(key) {
            Ok(()) => drop(map.insert(key.clone(), value.0.clone())),
            Err((message, hint)) => scope.error(mark, &format!("meta.{key}"), message).with_hint(hint),
        }
    }
    map
}

fn check_meta_key(key: &str) -> Result<(), (&'static str, &'static str)> {
    let reserved = "a key reserved by MCP";
    if ["progressToken", "traceparent", "tracestate", "baggage"].contains(&key) {
        return Err((reserved, "choose another name, best with a prefix of your own such as `com.example/`"));
    }
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if let Some(prefix) = prefix {
        let labels: Vec<&str> = prefix.split('.').collect();
        if !labels.iter().all(|label| is_label(label)) {
            let hint =
                "a prefix is labels with dots between; each begins with a letter and ends with a letter or digit";
            return Err(("not a prefix of `_meta` keys", hint));
        }
        // 2025-06-18 reserves these labels before another one, the later revisions in the second place.
        let is_reserved = |(index, label): (usize, &&str)| {
            matches!(*label, "mcp" | "modelcontextprotocol") && (index == 1 || index + 1 < labels.len())
        };
        if labels.iter().enumerate().any(is_reserved) {
            return Err((
                reserved,
                "prefixes with a label `mcp` or `modelcontextprotocol` belong to MCP; use your own",
            ));
        }
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    let empty = prefix.is_some() && name.is_empty();
    if empty || (edge(bytes.first()) && edge(bytes.last()) && bytes.iter().all(|byte| inner(*byte))) {
        return Ok(());
    }
    let hint = "a key begins and ends with a letter or digit, with letters, digits, `-`, `_` and `.` between";
    Err(("not a `_meta` key", hint))
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_keys_follow_the_grammar() {
        for key in ["a", "a-b_c.d", "com.example/x", "com.example/", "mcp/x", "io.github-1/k", "com.example.mcp/k"] {
            assert_eq!(check_meta_key(key), Ok(()), "{key}");
        }
        for key in [
            "",
            "-a",
            "a-",
            "a b",
            "1com.x/k",
            "com..x/k",
            "dev.mcp/k",
            "mcp.dev/k",
            "io.modelcontextprotocol/k",
            "baggage",
        ] {
            assert!(check_meta_key(key).is_err(), "{key}");
        }
    }
}
