//! What the lowering of one definition works with: the tree, the file it stands in, and where its faults go.

use mcpress_catalog::source;
use minijinja::{Environment, Error};
use serde_json::{Map, Value};

use crate::{
    diagnostic::{Diagnostic, Position, nearest},
    front_matter,
    tree::Tree,
    values::TextOrFile,
    yaml::{Field, Mark},
};

/// The surroundings of one definition.
pub(crate) struct Scope<'a> {
    pub(crate) tree: &'a Tree,
    /// The file that holds the definition; paths in it are relative to its folder.
    pub(crate) path: &'a str,
    /// What stands before the names of its fields in diagnostics: `[2]` for the third of a list.
    pub(crate) prefix: &'a str,
    /// The template's arguments, by name; empty for a plain resource.
    pub(crate) arguments: &'a [String],
    /// `vars` of templates.
    pub(crate) variables: &'a Map<String, Value>,
    /// Knows the partials.
    pub(crate) environment: &'a Environment<'static>,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

/// A text and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    /// The file it stands in.
    pub(crate) path: String,
    /// Where its first character stands there.
    pub(crate) start: Position,
    pub(crate) text: String,
}

impl Scope<'_> {
    /// Reports an error at a value of the definition.
    pub(crate) fn error(&mut self, mark: Mark, field: &str, message: impl Into<String>) -> &mut Diagnostic {
        let field = match (self.prefix, field) {
            (prefix, "") => prefix.to_owned(),
            ("", field) => field.to_owned(),
            (prefix, field) => format!("{prefix}.{field}"),
        };
        self.diagnostics.push(Diagnostic::error(self.path, mark.position, &field, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// The text itself, or that of the file it names; front matter is not part of it.
    pub(crate) fn text(&mut self, source: &TextOrFile, mark: Mark, field: &str) -> Option<Located> {
        match (&source.text, &source.file) {
            (Field::Given(text, mark), Field::Absent) => {
                Some(Located { path: self.path.to_owned(), start: mark.content, text: text.clone() })
            }
            (Field::Absent, Field::Given(file, mark)) => self.text_file(file, *mark, &format!("{field}.file")),
            (Field::Bad, _) | (_, Field::Bad) => None,
            (Field::Absent, Field::Absent) => {
                self.error(mark, field, "expected a text or `{file: path}`");
                None
            }
            (Field::Given(..), Field::Given(..)) => {
                self.error(mark, field, "both `text` and `file` are given").with_hint("keep one of them");
                None
            }
        }
    }

    fn text_file(&mut self, file: &str, mark: Mark, field: &str) -> Option<Located> {
        let (path, bytes) = match self.tree.find(self.path, file) {
            Ok(found) => found,
            Err((message, hint)) => {
                self.error(mark, field, message).with_hint(&hint);
                return None;
            }
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.error(mark, field, format!("`{path}` is not a UTF-8 text"));
            return None;
        };
        let (_, body) = front_matter::split(&path, text);
        let start = Position { line: body.first_line, column: 1 };
        Some(Located { path, start, text: body.text.to_owned() })
    }

    /// Compiles a template that is rendered at run time, with `args`, `vars` and the given names. Its syntax is
    /// checked, and every name in it.
    pub(crate) fn template(
        &mut self,
        source: &TextOrFile,
        mark: Mark,
        field: &str,
        names: &[&str],
    ) -> Option<source::Template> {
        let located = self.text(source, mark, field)?;
        self.check_template(&located, names)
            .then(|| source::Template { name: located.path.clone(), source: located.text })
    }

    /// Reports what is wrong with a template that is rendered at run time; true if nothing is.
    pub(crate) fn check_template(&mut self, located: &Located, names: &[&str]) -> bool {
        let template = match self.environment.template_from_named_str(&located.path, &located.text) {
            Ok(template) => template,
            Err(error) => {
                self.diagnostics.push(template_error(&error, located));
                return false;
            }
        };
        let mut undeclared: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        undeclared.sort();
        let mut known = true;
        for name in undeclared {
            let (root, rest) = name.split_once('.').unwrap_or((&name, ""));
            let member = rest.split('.').next().unwrap_or_default();
            let candidates: Vec<&str> = match root {
                "args" => self.arguments.iter().map(String::as_str).collect(),
                "vars" => self.variables.keys().map(String::as_str).collect(),
                _ if names.contains(&root) || self.environment.globals().any(|(global, _)| global == root) => continue,
                _ => names.iter().copied().chain(["args", "vars"]).collect(),
            };
            let wanted = if matches!(root, "args" | "vars") { member } else { root };
            if wanted.is_empty() || candidates.contains(&wanted) {
                continue;
            }
            known = false;
            let position = located.position_of(&name);
            let hint = match nearest(wanted, candidates.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if candidates.is_empty() => format!("`{root}` is empty here"),
                None => format!("known are {}", candidates.join(", ")),
            };
            let message = format!("the template uses `{name}`, which is not defined");
            self.diagnostics.push(Diagnostic::error(&located.path, position, "", message).hint(hint));
        }
        known
    }
}

impl Located {
    /// Where a line and column (from 1) of the text stand in the file. Exact for files and literal block scalars.
    fn position(&self, line: usize, column: usize) -> Position {
        Position { line: self.start.line + line - 1, column: self.start.column + column - 1 }
    }

    fn position_at(&self, offset: usize) -> Position {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        self.position(before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    fn position_of(&self, name: &str) -> Position {
        self.position_at(self.text.find(name).unwrap_or_default())
    }
}

/// A minijinja error in `located`, or in a partial that it includes.
pub(crate) fn template_error(error: &Error, located: &Located) -> Diagnostic {
    let message = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Error>());
    if let Some(inner) = source.filter(|inner| inner.name().is_some_and(|name| name != located.path)) {
        return template_error(inner, located);
    }
    match error.name() {
        Some(name) if name != located.path => {
            let position = Position { line: error.line().unwrap_or(1), column: 1 };
            Diagnostic::error(&format!("_partials/{name}"), position, "", message)
                .hint(format!("included by `{}`", located.path))
        }
        _ => {
            let position = match (error.range(), error.line()) {
                (Some(range), _) => located.position_at(range.start),
                (None, line) => located.position(line.unwrap_or(1), 1),
            };
            Diagnostic::error(&located.path, position, "", message)
        }
    }
}
