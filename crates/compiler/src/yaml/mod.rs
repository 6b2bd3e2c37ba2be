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

mod de;
mod tree;

pub(crate) use de::read;
pub(crate) use tree::{NotYaml, parse};

use crate::diagnostic::Position;

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
    /// Whether lines and columns of the text are those of the file from there on (not so where it holds escapes, or is
    /// folded).
    pub(crate) exact: bool,
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

    /// True for `key:` with nothing behind it, and for null.
    fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if resolve(text).is_null())
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

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
        let node = parse("f.yaml", source, 1, &mut diagnostics).unwrap().unwrap();
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
    fn a_fault_at_the_end_stands_in_the_file() {
        for source in ["x: [{a: b", "x:\n- {a, b: c", "x: \"a", "x: [\n", "a\n---\n\n#"] {
            let mut diagnostics = Vec::new();
            assert!(parse("f.yaml", source, 1, &mut diagnostics).is_err(), "{source}");
            let Position { line, column } = diagnostics[0].position.unwrap();
            let text = source.split('\n').nth(line - 1).unwrap_or_else(|| panic!("{source}: no line {line}"));
            assert!(column <= text.chars().count() + 1, "{source}: {column}");
        }
    }

    #[test]
    fn keeps_the_spelling_of_values_that_a_number_would_change() {
        let node = parse_sound("[1.10, no, 0123, 12:30, 7, -2, 1.5, 1e3, true, ~, '1']").unwrap();
        let expected = serde_json::json!(["1.10", "no", "0123", "12:30", 7, -2, 1.5, "1e3", true, null, "1"]);
        assert_eq!(free_form(&node), expected);
    }

    #[test]
    fn refuses_duplicates_tags_and_second_documents() {
        let messages = |source: &str| {
            let mut diagnostics = Vec::new();
            let _ = parse("f", source, 1, &mut diagnostics);
            diagnostics.iter().map(|diagnostic| diagnostic.to_string().replace('\n', "")).collect::<Vec<_>>()
        };
        assert!(messages("1: a\n\"1\": b\n")[0].starts_with("f:2:1: the key `1` is given twice; first in line 1"));
        assert!(messages("a: !x b\n")[0].starts_with("f:1:4: the tag `!x` has no meaning here"));
        assert!(messages("a: 1\n---\nb: 2\n")[0].starts_with("f:3:1: a second YAML document"));
        assert!(messages("a: [\n")[0].contains("not YAML"));
        assert!(messages(&format!("{}{}", "[".repeat(100), "]".repeat(100)))[0].contains("levels deep"));
    }

    #[test]
    fn aliases_nest_no_deeper_than_what_is_written() {
        let mut source = "a0: &a0 [x]\n".to_owned();
        for level in 1..80 {
            source += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
        }
        let mut diagnostics = Vec::new();
        assert!(parse("f", &source, 1, &mut diagnostics).is_err());
        assert!(diagnostics[0].message.contains("levels deep"), "{diagnostics:?}");
    }

    fn parse_sound(source: &str) -> Option<Node> {
        let mut diagnostics = Vec::new();
        let node = parse("f", source, 1, &mut diagnostics).unwrap();
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        node
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
            let node = parse_sound(&source);
            let value = node.map_or(serde_json::Value::Null, |node| free_form(&node));
            prop_assert_eq!(value, document, "{}", source);
        }

        #[test]
        fn any_text_is_parsed_or_refused(source in "\\PC*") {
            let _ = parse("f", &source, 1, &mut Vec::new());
        }
    }
}
