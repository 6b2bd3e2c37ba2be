//! YAML text → a tree of nodes, each with its place. Duplicate keys, tags and second documents are faults.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, Tag};

use super::{Mark, Node, Value};
use crate::diagnostic::{Diagnostic, Position};

/// Levels of nesting that are read; a definition needs six.
const MAX_DEPTH: usize = 64;
/// Nodes of one file after aliases are filled in.
const MAX_NODES: usize = 1_000_000;

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

/// Builds the tree of one document from the parser's events.
struct Tree<'a> {
    parser: Parser<'a, StrInput<'a>>,
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
