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
/// `Ok(None)` stands for a document that holds nothing. Duplicate keys and tags are added to `diagnostics`, and what
/// is left is read all the same.
///
/// # Errors
/// It is not YAML, or more than one document; that is added to `diagnostics` too.
pub(crate) fn parse(
    path: &str,
    source: &str,
    first_line: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Node>, NotYaml> {
    let parser = Parser::new_from_str(source);
    let end = end(source, first_line);
    let mut tree = Tree { parser, end, path, first_line, anchors: HashMap::new(), nodes: 0, diagnostics };
    tree.document().map_err(|fatal| {
        tree.diagnostics.push(*fatal);
        NotYaml
    })
}

/// A text that holds no tree; why is reported.
#[derive(Debug)]
pub(crate) struct NotYaml;

/// Builds the tree of one document from the parser's events.
struct Tree<'a> {
    parser: Parser<'a, StrInput<'a>>,
    end: Position,
    path: &'a str,
    first_line: usize,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
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
            return Err(self.too_deep(span.start));
        }
        let mark = self.mark(span, &event);
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.fatal(span.start, "an alias to a node that contains it"));
                };
                let size = Size::of(&node);
                self.nodes += size.nodes;
                if depth + size.depth > MAX_DEPTH {
                    return Err(self.too_deep(span.start));
                }
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
                let hint = "quote a text that begins with `{` or `[`";
                self.diagnostics.push(Diagnostic::error(self.path, key.mark.position, "", message).hint(hint));
                continue;
            };
            if let Some(first) = lines.insert(text.to_owned(), key.mark.position.line) {
                let message = format!("the key `{text}` is given twice; first in line {first}");
                let hint = "keep one of them";
                self.diagnostics.push(Diagnostic::error(self.path, key.mark.position, "", message).hint(hint));
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
                let hint = "leave it out, or quote a text that begins with `!`";
                self.diagnostics.push(Diagnostic::error(self.path, self.position(start), "", message).hint(hint));
                false
            }
        }
    }

    /// What the parser finds or misses at the end of a text, it may place on a line behind the last one.
    fn position(&self, marker: Marker) -> Position {
        let position = Position { line: marker.line() - 1 + self.first_line, column: marker.col() + 1 };
        position.min(self.end)
    }

    fn mark(&self, span: Span, event: &Event<'_>) -> Mark {
        let position = self.position(span.start);
        let Event::Scalar(text, style, ..) = event else { return Mark { position, content: position, exact: false } };
        // As it stands in the file, on one line and without escapes.
        let written = |quotes: usize| {
            span.start.line() == span.end.line() && span.end.col() - span.start.col() == text.chars().count() + quotes
        };
        match style {
            // The parser names the first line that is not blank.
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let blank = text.bytes().take_while(|byte| *byte == b'\n').count();
                let content = Position { line: position.line.saturating_sub(blank), ..position };
                Mark { position, content, exact: *style == ScalarStyle::Literal }
            }
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                Mark { position, content: Position { column: position.column + 1, ..position }, exact: written(2) }
            }
            ScalarStyle::Plain => Mark { position, content: position, exact: written(0) },
        }
    }

    fn too_deep(&self, start: Marker) -> Fatal {
        self.fatal(start, format!("nested more than {MAX_DEPTH} levels deep"))
    }

    fn fatal(&self, start: Marker, message: impl Into<String>) -> Fatal {
        Box::new(Diagnostic::error(self.path, self.position(start), "", message))
    }
}

/// Behind the last character of a text that begins in this line.
fn end(source: &str, first_line: usize) -> Position {
    let text = source.replace("\r\n", "\n");
    let (count, last) = text.split(['\n', '\r']).enumerate().last().unwrap_or_default();
    Position { line: first_line + count, column: last.chars().count() + 1 }
}

/// What a node adds where an alias stands for it.
#[derive(Clone, Copy)]
struct Size {
    nodes: usize,
    depth: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let inner = match &node.value {
            Value::Scalar { .. } => return Self { nodes: 1, depth: 0 },
            Value::Sequence(nodes) => nodes.iter().map(Self::of).reduce(Self::beside),
            Value::Mapping(pairs) => {
                pairs.iter().flat_map(|(key, value)| [key, value]).map(Self::of).reduce(Self::beside)
            }
        };
        inner.map_or(Self { nodes: 1, depth: 0 }, |inner| Self { nodes: inner.nodes + 1, depth: inner.depth + 1 })
    }

    fn beside(self, other: Self) -> Self {
        Self { nodes: self.nodes + other.nodes, depth: self.depth.max(other.depth) }
    }
}
