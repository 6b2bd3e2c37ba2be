//! YAML as authors write it: a tree in which every node knows its place, and a serde deserializer over it that
//! reports every fault with its place and goes on.
//!
//! Scalars keep their spelling wherever a text is expected (`1.10`, `no`, `0123`), and where any value may stand, a
//! number is a number only if printing it gives back what was written.
//!
//! What the deserializer does beyond serde:
//!
//! - A [`Field`] catches the error of its value: it is reported, the field is [`Field::Bad`], its siblings are read.
//! - An unknown key of a struct is reported with the nearest known one.
//! - A struct whose serde name is `short:KEY` may be written as a scalar, which then is the value of KEY.
//! - A struct whose serde name begins with `open:` leaves unknown keys alone, unless they look like a slip.
//! - [`OneOrMany`] is a list, or one element of it.

use std::{cell::RefCell, collections::HashMap, fmt};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};
use serde::{
    Deserialize,
    de::{self, DeserializeSeed, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor, value},
};

use crate::diagnostic::{Diagnostic, Position, nearest};

/// Levels of nesting that are read; a definition needs six.
const MAX_DEPTH: usize = 64;
/// Nodes of one file after aliases are filled in.
const MAX_NODES: usize = 1_000_000;
/// The serde name by which a [`Field`] asks for its place.
const FIELD: &str = "$field";
/// The serde name of [`OneOrMany`].
const ONE_OR_MANY: &str = "$one or many";

/// A YAML node and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) mark: Mark,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, plain: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

/// Where a node stands, and where the first line of its text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) position: Position,
    pub(crate) content: Position,
}

/// A value of a definition that was not given, or was wrong and is reported, or is there with its place.
#[derive(Clone, Debug, Default)]
pub(crate) enum Field<T> {
    #[default]
    Absent,
    Bad,
    Given(T, Mark),
}

impl<T> Field<T> {
    pub(crate) fn given(&self) -> Option<(&T, Mark)> {
        match self {
            Self::Given(value, mark) => Some((value, *mark)),
            Self::Absent | Self::Bad => None,
        }
    }

    pub(crate) fn value(&self) -> Option<&T> {
        self.given().map(|(value, _)| value)
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        if self.is_absent() { other } else { self }
    }
}

/// A list, or one element of it without the brackets.
#[derive(Clone, Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<Field<T>>);

/// Parses one YAML document of the file at `path`, whose first line is line `first_line` of that file.
///
/// `Ok(None)` stands for a document that holds nothing.
pub(crate) fn parse(path: &str, source: &str, first_line: usize) -> Result<Option<Node>, Vec<Diagnostic>> {
    let mut tree = Tree {
        parser: Parser::new_from_str(source),
        path,
        first_line,
        anchors: HashMap::new(),
        nodes: 0,
        diagnostics: Vec::new(),
    };
    match tree.document() {
        Ok(node) if tree.diagnostics.is_empty() => Ok(node),
        Ok(_) => Err(tree.diagnostics),
        Err(diagnostic) => {
            tree.diagnostics.push(*diagnostic);
            Err(tree.diagnostics)
        }
    }
}

/// Reads a node as `T`. What is wrong is added to `diagnostics`; `None` if nothing of it could be read.
pub(crate) fn read<'de, T: Deserialize<'de>>(
    path: &str,
    field: &str,
    node: &'de Node,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let sink = RefCell::new(std::mem::take(diagnostics));
    let root = Path::Root(field);
    let deserializer = Deserializer { node, field: &root, file: path, sink: &sink };
    let value = T::deserialize(deserializer).map_err(|error| deserializer.report(error)).ok();
    *diagnostics = sink.into_inner();
    value
}

/// A value of the kind that may stand anywhere (`variables`, `meta`, front matter of other tools).
pub(crate) fn free_form(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Scalar { text, plain: true } => resolve(text),
        Value::Scalar { text, plain: false } => text.as_str().into(),
        Value::Sequence(nodes) => nodes.iter().map(free_form).collect(),
        Value::Mapping(pairs) => {
            let pairs =
                pairs.iter().map(|(key, value)| (key.scalar().unwrap_or_default().to_owned(), free_form(value)));
            serde_json::Value::Object(pairs.collect())
        }
    }
}

fn resolve(text: &str) -> serde_json::Value {
    use serde_json::{Number, Value};
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let integer = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok();
    let number = integer.or_else(|| text.parse().ok().and_then(Number::from_f64));
    match number {
        Some(number) if number.to_string() == text => Value::Number(number),
        _ => Value::String(text.to_owned()),
    }
}

impl Node {
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// True for `key:` with nothing behind it, and `~`.
    fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if text.is_empty() || text == "~")
    }

    /// What it is, in an author's words.
    fn describe(&self) -> String {
        match &self.value {
            Value::Scalar { .. } if self.is_nothing() => "nothing".to_owned(),
            Value::Scalar { text, .. } => {
                let line = text.lines().next().unwrap_or_default();
                let short: String = line.chars().take(40).collect();
                if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
            }
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        }
    }
}

/// Builds the tree of one document from the parser's events.
struct Tree<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    path: &'a str,
    first_line: usize,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    diagnostics: Vec<Diagnostic>,
}

type Fatal = Box<Diagnostic>;

impl<'a> Tree<'a> {
    fn document(&mut self) -> Result<Option<Node>, Fatal> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                event => {
                    let node = self.node(event, span, 0)?;
                    if root.is_some() {
                        let mut fatal = self.fatal(span.start, "a second YAML document");
                        fatal.with_hint("a file holds one document; write several definitions as one list");
                        return Err(fatal);
                    }
                    if !node.is_nothing() {
                        root = Some(node);
                    }
                }
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Fatal> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let position = self.position(*error.marker());
                let mut fatal =
                    Box::new(Diagnostic::error(self.path, position, "", format!("not YAML: {}", error.info())));
                if error.info().contains("mapping values are not allowed") {
                    fatal.with_hint("a text with `: ` in it needs quotes");
                }
                Err(fatal)
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Fatal> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.fatal(span.start, "too many values in one file"));
        }
        if depth > MAX_DEPTH {
            return Err(self.fatal(span.start, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let mark = self.mark(span.start, &event);
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.fatal(span.start, "an alias to a node that contains it"));
                };
                self.nodes += count(&node);
                return Ok(Node { mark, ..node });
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tagged_text = self.check_tag(span.start, tag.as_deref());
                let plain = style == ScalarStyle::Plain && !tagged_text;
                (anchor, Value::Scalar { text: text.into_owned(), plain })
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(span.start, tag.as_deref());
                (anchor, Value::Sequence(self.sequence(depth)?))
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(span.start, tag.as_deref());
                (anchor, Value::Mapping(self.mapping(depth)?))
            }
            _ => return Err(self.fatal(span.start, "not YAML: a value was expected here")),
        };
        let node = Node { value, mark };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Node>, Fatal> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(nodes),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Vec<(Node, Node)>, Fatal> {
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        let mut lines = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(pairs);
            }
            let key = self.node(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            let Some(text) = key.scalar() else {
                let message = format!("expected a name as the key, found {}", key.describe());
                self.diagnostics.push(Diagnostic::error(self.path, key.mark.position, "", message));
                continue;
            };
            if let Some(first) = lines.insert(text.to_owned(), key.mark.position.line) {
                let message = format!("the key `{text}` is given twice; first in line {first}");
                self.diagnostics.push(Diagnostic::error(self.path, key.mark.position, "", message));
                continue;
            }
            pairs.push((key, value));
        }
    }

    /// Reports tags that mean nothing here; true if the tag makes the value a text.
    fn check_tag(&mut self, start: Marker, tag: Option<&Tag>) -> bool {
        match tag {
            None => false,
            Some(tag) if tag.is_yaml_core_schema() => tag.suffix == "str",
            Some(tag) => {
                let message = format!("the tag `{}{}` has no meaning here", tag.handle, tag.suffix);
                self.diagnostics.push(Diagnostic::error(self.path, self.position(start), "", message));
                false
            }
        }
    }

    fn position(&self, marker: Marker) -> Position {
        Position { line: marker.line() - 1 + self.first_line, column: marker.col() + 1 }
    }

    fn mark(&self, start: Marker, event: &Event<'_>) -> Mark {
        let position = self.position(start);
        let content = match event {
            // The parser names the first line that is not blank.
            Event::Scalar(text, ScalarStyle::Literal | ScalarStyle::Folded, ..) => {
                let blank = text.bytes().take_while(|byte| *byte == b'\n').count();
                Position { line: position.line.saturating_sub(blank), ..position }
            }
            Event::Scalar(_, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, ..) => {
                Position { column: position.column + 1, ..position }
            }
            _ => position,
        };
        Mark { position, content }
    }

    fn fatal(&self, start: Marker, message: impl Into<String>) -> Fatal {
        Box::new(Diagnostic::error(self.path, self.position(start), "", message))
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        Value::Scalar { .. } => 1,
        Value::Sequence(nodes) => 1 + nodes.iter().map(count).sum::<usize>(),
        Value::Mapping(pairs) => 1 + pairs.iter().map(|(key, value)| count(key) + count(value)).sum::<usize>(),
    }
}

/// The way to a node, as it is written in diagnostics: `wp_query.query.tax_query[1].terms`.
enum Path<'a> {
    Root(&'a str),
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(field) => f.write_str(field),
            Self::Key(Path::Root(""), key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// An error on its way up to the [`Field`] or [`read`] that reports it.
#[derive(Debug)]
pub(crate) struct Error {
    message: String,
    place: Option<(Position, String)>,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A message may hold a hint, on a second line.
impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), place: None }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a mapping".to_owned(),
            Unexpected::Unit => "nothing".to_owned(),
            other => other.to_string(),
        };
        Self::custom(format!("expected {expected}, found {found}"))
    }
}

#[derive(Clone, Copy)]
struct Deserializer<'de, 'p> {
    node: &'de Node,
    field: &'p Path<'p>,
    file: &'p str,
    sink: &'p RefCell<Vec<Diagnostic>>,
}

impl<'de> Deserializer<'de, '_> {
    fn report(&self, error: Error) {
        let (position, field) = error.place.unwrap_or_else(|| (self.node.mark.position, self.field.to_string()));
        let mut lines = error.message.splitn(2, '\n');
        let mut diagnostic = Diagnostic::error(self.file, position, &field, lines.next().unwrap_or_default());
        diagnostic.hint = lines.next().map(str::to_owned);
        self.sink.borrow_mut().push(diagnostic);
    }

    fn locate(&self, mut error: Error) -> Error {
        error.place.get_or_insert_with(|| (self.node.mark.position, self.field.to_string()));
        error
    }

    fn expected(&self, expected: &str) -> Error {
        self.locate(Error { message: format!("expected {expected}, found {}", self.node.describe()), place: None })
    }

    fn plain(&self) -> Option<&'de str> {
        match &self.node.value {
            Value::Scalar { text, plain: true } => Some(text),
            _ => None,
        }
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.plain().and_then(|text| text.parse::<i64>().ok()) {
            Some(integer) => visitor.visit_i64(integer).map_err(|_: Error| {
                let size = if integer < 0 { "a whole number of at least 0" } else { "a smaller whole number" };
                self.expected(size)
            }),
            None => Err(self.expected("a whole number")),
        }
    }

    /// Reports the keys of a mapping that are not among `known`.
    fn check_keys(&self, pairs: &[(Node, Node)], known: &[&str], open: bool) {
        for (key, _) in pairs {
            let name = key.scalar().unwrap_or_default();
            if known.contains(&name) {
                continue;
            }
            let slip = nearest(name, known.iter().copied());
            let hint = match slip {
                Some(_) if open && name.chars().count() < 5 => continue,
                None if open => continue,
                Some(near) => format!("did you mean `{near}`?"),
                None if name == "<<" => "merge keys are not part of YAML 1.2; write the keys out".to_owned(),
                None => format!("known keys are {}", known.join(", ")),
            };
            let field = Path::Key(self.field, name).to_string();
            let diagnostic = Diagnostic::error(self.file, key.mark.position, &field, "unknown key").hint(hint);
            self.sink.borrow_mut().push(diagnostic);
        }
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.integer(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Deserializer<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let visited = match &self.node.value {
            Value::Scalar { text, plain: true } => match resolve(text) {
                serde_json::Value::Null => visitor.visit_unit(),
                serde_json::Value::Bool(value) => visitor.visit_bool(value),
                serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                    (Some(integer), ..) => visitor.visit_i64(integer),
                    (_, Some(integer), _) => visitor.visit_u64(integer),
                    (.., float) => visitor.visit_f64(float.unwrap_or_default()),
                },
                _ => visitor.visit_borrowed_str(text),
            },
            Value::Scalar { text, .. } => visitor.visit_borrowed_str(text),
            Value::Sequence(_) => return self.deserialize_seq(visitor),
            Value::Mapping(_) => return self.deserialize_map(visitor),
        };
        visited.map_err(|error| self.locate(error))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.plain() {
            Some("true") => visitor.visit_bool(true),
            Some("false") => visitor.visit_bool(false),
            _ => Err(self.expected("`true` or `false`")),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.plain().and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite()) {
            Some(number) => visitor.visit_f64(number).map_err(|error| self.locate(error)),
            None => Err(self.expected("a number")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Scalar { text, .. } if !self.node.is_nothing() => {
                visitor.visit_borrowed_str(text).map_err(|error| self.locate(error))
            }
            _ => Err(self.expected("text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self).map_err(|error| self.locate(error))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Sequence(nodes) => {
                visitor.visit_seq(Elements { parent: self, nodes, next: 0 }).map_err(|error| self.locate(error))
            }
            _ => Err(self.expected("a list")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Sequence(_) => self.deserialize_seq(visitor),
            _ if name == ONE_OR_MANY => visitor.visit_seq(One(Some(self))),
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Mapping(pairs) => {
                visitor.visit_map(Pairs { parent: self, pairs, value: None }).map_err(|error| self.locate(error))
            }
            _ => Err(self.expected("a mapping")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == FIELD {
            return visitor.visit_map(Marked { parent: self, step: 0 });
        }
        match (&self.node.value, name.strip_prefix("short:")) {
            (Value::Mapping(pairs), _) => {
                self.check_keys(pairs, known, name.starts_with("open:"));
                self.deserialize_map(visitor)
            }
            (Value::Scalar { .. }, Some(key)) if !self.node.is_nothing() => {
                visitor.visit_map(Short { parent: self, key: Some(key) })
            }
            (_, Some(_)) => Err(self.expected("text or a mapping")),
            _ => Err(self.expected("a mapping")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.node.scalar() {
            Some(text) if variants.contains(&text) => visitor.visit_enum(text.into_deserializer()),
            _ => {
                let quoted: Vec<_> = variants.iter().map(|variant| format!("`{variant}`")).collect();
                Err(self.expected(&quoted.join(" or ")))
            }
        }
    }
}

struct Elements<'de, 'p> {
    parent: Deserializer<'de, 'p>,
    nodes: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'de, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.nodes.get(self.next) else { return Ok(None) };
        let field = Path::Index(self.parent.field, self.next);
        self.next += 1;
        let deserializer = Deserializer { node, field: &field, ..self.parent };
        seed.deserialize(deserializer).map(Some).map_err(|error| deserializer.locate(error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.nodes.len() - self.next)
    }
}

/// One element in place of a list.
struct One<'de, 'p>(Option<Deserializer<'de, 'p>>);

impl<'de> SeqAccess<'de> for One<'de, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.take().map(|deserializer| seed.deserialize(deserializer)).transpose()
    }
}

struct Pairs<'de, 'p> {
    parent: Deserializer<'de, 'p>,
    pairs: &'de [(Node, Node)],
    value: Option<(&'de str, &'de Node)>,
}

impl<'de> MapAccess<'de> for Pairs<'de, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(((key, value), rest)) = self.pairs.split_first() else { return Ok(None) };
        self.pairs = rest;
        let name = key.scalar().unwrap_or_default();
        self.value = Some((name, value));
        let field = Path::Key(self.parent.field, name);
        let deserializer = Deserializer { node: key, field: &field, ..self.parent };
        let located = |error| deserializer.locate(error);
        seed.deserialize(value::BorrowedStrDeserializer::new(name)).map(Some).map_err(located)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((name, node)) = self.value.take() else { return Err(de::Error::custom("a value without a key")) };
        let field = Path::Key(self.parent.field, name);
        let deserializer = Deserializer { node, field: &field, ..self.parent };
        seed.deserialize(deserializer).map_err(|error| deserializer.locate(error))
    }
}

/// A scalar in place of a mapping: the value of one key.
struct Short<'de, 'p> {
    parent: Deserializer<'de, 'p>,
    key: Option<&'static str>,
}

impl<'de> MapAccess<'de> for Short<'de, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.key.take().map(|key| seed.deserialize(value::BorrowedStrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.parent)
    }
}

/// What a [`Field`] asks for: its mark, then its value, whose error is reported here.
struct Marked<'de, 'p> {
    parent: Deserializer<'de, 'p>,
    step: u8,
}

impl<'de> MapAccess<'de> for Marked<'de, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>, Error> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.step += 1;
        if self.step == 1 {
            let Mark { position, content } = self.parent.node.mark;
            let numbers = [position.line, position.column, content.line, content.column];
            return seed.deserialize(value::SeqDeserializer::new(numbers.into_iter()));
        }
        seed.deserialize(self.parent).or_else(|error| {
            let error = self.parent.locate(error);
            let message = error.message.clone();
            self.parent.report(error);
            Err(de::Error::custom(message))
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<T> {
            type Value = Field<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value with its place")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field<T>, A::Error> {
                let [line, column, content_line, content_column] = map.next_value::<[usize; 4]>()?;
                let mark = Mark {
                    position: Position { line, column },
                    content: Position { line: content_line, column: content_column },
                };
                Ok(map.next_value().map_or(Field::Bad, |value| Field::Given(value, mark)))
            }
        }

        deserializer.deserialize_struct(FIELD, &[], FieldVisitor(std::marker::PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or one element of it")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<OneOrMany<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = elements.next_element()? {
                    list.push(element);
                }
                Ok(OneOrMany(list))
            }
        }

        deserializer.deserialize_tuple_struct(ONE_OR_MANY, 0, ListVisitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Outer {
        name: Field<String>,
        count: Field<u32>,
        on: Field<bool>,
        kind: Field<Kind>,
        list: Field<Vec<Field<Inner>>>,
    }

    #[derive(Deserialize, Debug)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Raw,
        Text,
    }

    #[derive(Deserialize, Default, Debug)]
    #[serde(default, rename = "short:file")]
    struct Inner {
        file: Field<String>,
    }

    fn outer(source: &str) -> (Outer, Vec<String>) {
        let mut diagnostics = Vec::new();
        let node = parse("f.yaml", source, 1).unwrap().unwrap();
        let outer = read("f.yaml", "", &node, &mut diagnostics).unwrap_or_default();
        (outer, diagnostics.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn reads_fields_with_their_places() {
        let (outer, diagnostics) =
            outer("name: 1.10\ncount: 3\non: true\nkind: raw\nlist:\n  - a\n  - file: |\n      b\n");
        assert_eq!(diagnostics, [""; 0]);
        let (name, mark) = outer.name.given().unwrap();
        assert_eq!((name.as_str(), mark.position), ("1.10", Position { line: 1, column: 7 }));
        let list = outer.list.value().unwrap();
        assert_eq!(list[0].value().unwrap().file.value().unwrap(), "a");
        let (text, mark) = list[1].value().unwrap().file.given().unwrap();
        assert_eq!((text.as_str(), mark.content), ("b\n", Position { line: 8, column: 7 }));
    }

    #[test]
    fn reports_every_fault_and_reads_the_rest() {
        let (outer, diagnostics) =
            outer("nam: x\ncount: no\non: yes\nkind: html\nlist: [{fil: a}, {file: [b]}, {file: c}]\n");
        assert_eq!(
            diagnostics,
            [
                "f.yaml:1:1: nam: unknown key\n  hint: did you mean `name`?",
                "f.yaml:2:8: count: expected a whole number, found `no`",
                "f.yaml:3:5: on: expected `true` or `false`, found `yes`",
                "f.yaml:4:7: kind: expected `raw` or `text`, found `html`",
                "f.yaml:5:9: list[0].fil: unknown key\n  hint: did you mean `file`?",
                "f.yaml:5:25: list[1].file: expected text, found a list",
            ]
        );
        assert_eq!(outer.list.value().unwrap()[2].value().unwrap().file.value().unwrap(), "c");
        assert!(outer.name.is_absent() && matches!(outer.count, Field::Bad));
    }

    #[test]
    fn keeps_the_spelling_of_values_that_a_number_would_change() {
        let node = parse("f", "[1.10, no, 0123, 12:30, 7, -2, 1.5, 1e3, true, ~, '1']", 1).unwrap().unwrap();
        let expected = serde_json::json!(["1.10", "no", "0123", "12:30", 7, -2, 1.5, "1e3", true, null, "1"]);
        assert_eq!(free_form(&node), expected);
    }

    #[test]
    fn refuses_duplicates_tags_and_second_documents() {
        let messages = |source| parse("f", source, 1).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(messages("1: a\n\"1\": b\n"), ["f:2:1: the key `1` is given twice; first in line 1"]);
        assert_eq!(messages("a: !x b\n"), ["f:1:4: the tag `!x` has no meaning here"]);
        assert!(messages("a: 1\n---\nb: 2\n")[0].starts_with("f:3:1: a second YAML document"));
        assert!(messages("a: [\n")[0].contains("not YAML"));
        assert!(messages(&format!("{}{}", "[".repeat(100), "]".repeat(100)))[0].contains("levels deep"));
    }

    fn documents() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            "[a-zA-Z0-9 :#'\"\\\\é\n-]{0,12}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                proptest::collection::btree_map("[a-z0-9 ]{1,5}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_another_library_writes(document in documents()) {
            let source = serde_yaml::to_string(&document).unwrap();
            let node = parse("f", &source, 1).unwrap();
            let value = node.map_or(serde_json::Value::Null, |node| free_form(&node));
            prop_assert_eq!(value, document, "{}", source);
        }

        #[test]
        fn any_text_is_parsed_or_refused(source in "\\PC*") {
            let _ = parse("f", &source, 1);
        }
    }
}
