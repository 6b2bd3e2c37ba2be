//! A serde deserializer over nodes: reports every fault with its place, and goes on.

use std::{cell::RefCell, fmt};

use serde::{
    Deserialize,
    de::{self, DeserializeSeed, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor, value},
};

use super::{Field, Mark, Node, Value, resolve};
use crate::diagnostic::{Diagnostic, Position, nearest, slip};

/// The serde name by which a [`Field`] asks for its place.
const FIELD: &str = "$field";

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
            let slip = if open { slip(name, known) } else { nearest(name, known.iter().copied()) };
            let hint = match slip {
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
        visitor.visit_borrowed_str(self.node.scalar().unwrap_or_default())
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
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
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
        seed.deserialize(deserializer).map(Some).map_err(|error| deserializer.locate(error))
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
            let Mark { position, content, exact } = self.parent.node.mark;
            let numbers = [position.line, position.column, content.line, content.column, usize::from(exact)];
            return seed.deserialize(value::SeqDeserializer::new(numbers.into_iter()));
        }
        seed.deserialize(self.parent).map_err(|error| {
            let error = self.parent.locate(error);
            let message = error.message.clone();
            self.parent.report(error);
            de::Error::custom(message)
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
                let [line, column, content_line, content_column, exact] = map.next_value::<[usize; 5]>()?;
                let mark = Mark {
                    position: Position { line, column },
                    content: Position { line: content_line, column: content_column },
                    exact: exact == 1,
                };
                Ok(map.next_value().map_or(Field::Bad, |value| Field::Given(value, mark)))
            }
        }

        deserializer.deserialize_struct(FIELD, &[], FieldVisitor(std::marker::PhantomData))
    }
}
