//! What the lowering of one definition works with: the tree, the file it stands in, and where its faults go.

use mcpress_catalog::source;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, value::Serde};
use serde_json::{Map, Value, json};

use crate::{
    content,
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
    /// The field that holds it; empty for a file that is the text itself.
    pub(crate) field: String,
    /// Where its first character stands there.
    pub(crate) start: Position,
    /// Whether lines and columns of the text are those of the file from there on.
    pub(crate) exact: bool,
    pub(crate) text: String,
}

impl Scope<'_> {
    /// Reports an error at a value of the definition.
    pub(crate) fn error(&mut self, mark: Mark, field: &str, message: impl Into<String>) -> &mut Diagnostic {
        let field = self.field(field);
        self.diagnostics.push(Diagnostic::error(self.path, mark.position, &field, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// A field's full name.
    fn field(&self, field: &str) -> String {
        match (self.prefix, field) {
            (prefix, "") => prefix.to_owned(),
            ("", field) => field.to_owned(),
            (prefix, field) => format!("{prefix}.{field}"),
        }
    }

    /// A text that stands in the definition itself.
    pub(crate) fn inline(&self, text: &str, mark: Mark, field: &str) -> Located {
        let (path, field) = (self.path.to_owned(), self.field(field));
        Located { path, field, start: mark.content, exact: mark.exact, text: text.to_owned() }
    }

    /// The text itself, or that of the file it names; front matter is not part of it.
    pub(crate) fn text(&mut self, source: &TextOrFile, mark: Mark, field: &str) -> Option<Located> {
        match (&source.text, &source.file) {
            (Field::Given(text, mark), Field::Absent) => Some(self.inline(text, *mark, field)),
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
        let Some(text) = content::as_text(bytes) else {
            self.error(mark, field, format!("`{file}` is not a UTF-8 text"));
            return None;
        };
        let (_, body) = front_matter::split(&path, text);
        Some(Located::file(path, body))
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
    ///
    /// Its syntax, its filters, tests, functions and includes are checked by a trial in which every unknown value is
    /// undefined and harmless; its names by what is known here, unless the template itself asks whether they exist.
    fn check_template(&mut self, located: &Located, names: &[&str]) -> bool {
        let mut trial = self.environment.clone();
        trial.set_undefined_behavior(UndefinedBehavior::Chainable);
        let template = match trial.template_from_named_str(&located.path, &located.text) {
            Ok(template) => template,
            Err(error) => {
                self.diagnostics.push(template_error(&error, located, &Value::Null, self.tree));
                return false;
            }
        };
        let context = json!({ "vars": self.variables });
        if let Err(error) = template.render(Serde(&context))
            && is_about_the_template(&error)
        {
            self.diagnostics.push(template_error(&error, located, &Value::Null, self.tree));
            return false;
        }
        if ["defined", "default", "|d(", "| d("].iter().any(|guard| located.text.contains(guard)) {
            return true;
        }
        let mut undeclared: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        undeclared.sort();
        let before = self.diagnostics.len();
        for name in undeclared {
            self.check_name(&name, located, names);
        }
        self.diagnostics.len() == before
    }

    /// Reports a name that a template uses and that is not defined where it will be rendered.
    fn check_name(&mut self, name: &str, located: &Located, names: &[&str]) {
        let (root, rest) = name.split_once('.').unwrap_or((name, ""));
        let member = rest.split('.').next().unwrap_or_default();
        let roots = || names.iter().copied().chain(["args", "vars"]);
        let members: Vec<&str> = match root {
            "args" => self.arguments.iter().map(String::as_str).collect(),
            "vars" => self.variables.keys().map(String::as_str).collect(),
            "server" if names.contains(&root) => vec!["slug", "name", "title", "version"],
            "resource" if names.contains(&root) => vec!["uri", "name", "title"],
            _ if names.contains(&root) || self.environment.globals().any(|(global, _)| global == root) => return,
            _ => roots().collect(),
        };
        let wanted = if roots().any(|known| known == root) { member } else { root };
        if wanted.is_empty() || members.contains(&wanted) {
            return;
        }
        let hint = known_hint(wanted, &members, root);
        let message = format!("the template uses `{name}`, which is not defined");
        let position = located.position_of(name);
        self.diagnostics.push(Diagnostic::error(&located.path, position, &located.field, message).hint(hint));
    }
}

/// Errors that no value of any variable can avert.
fn is_about_the_template(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Error>());
    match error.kind() {
        ErrorKind::UnknownFilter | ErrorKind::UnknownTest | ErrorKind::UnknownFunction => true,
        ErrorKind::TemplateNotFound | ErrorKind::SyntaxError => true,
        _ => source.is_some_and(is_about_the_template),
    }
}

fn known_hint(wanted: &str, known: &[&str], root: &str) -> String {
    match nearest(wanted, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("`{root}` is empty here"),
        None => format!("known are {}", known.join(", ")),
    }
}

impl Located {
    /// The text of a file, without its front matter.
    pub(crate) fn file(path: String, body: front_matter::Part<'_>) -> Self {
        let start = Position { line: body.first_line, column: 1 };
        Self { path, field: String::new(), start, exact: true, text: body.text.to_owned() }
    }

    /// Where a line and column (from 1) of the text stand in the file; its beginning where that cannot be told.
    fn position(&self, line: usize, column: usize) -> Position {
        if !self.exact {
            return self.start;
        }
        Position { line: self.start.line + line - 1, column: self.start.column + column - 1 }
    }

    fn position_at(&self, offset: usize) -> Position {
        let (line, column) = line_and_column(&self.text, offset);
        self.position(line, column)
    }

    /// The first place inside `{{ }}` or `{% %}` where a name stands.
    fn position_of(&self, name: &str) -> Position {
        let is_code = |offset: &usize| {
            let before = &self.text[..*offset];
            let opened = before.rfind("{{").max(before.rfind("{%"));
            opened.is_some() && opened > before.rfind("}}").max(before.rfind("%}"))
        };
        let offset = self.text.match_indices(name).map(|(offset, _)| offset).find(is_code);
        self.position_at(offset.unwrap_or_default())
    }
}

/// Line and column of a byte, both from 1.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A minijinja error in `located`, or in a partial that it includes. `context` is what it was rendered with.
pub(crate) fn template_error(error: &Error, located: &Located, context: &Value, tree: &Tree) -> Diagnostic {
    let inner = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Error>());
    if let Some(inner) = inner.filter(|inner| inner.name().is_some()) {
        return template_error(inner, located, context, tree);
    }
    let is_partial = error.name().is_some_and(|name| name != located.path);
    let source = if is_partial { error.template_source().unwrap_or_default() } else { &located.text };
    let expression = error.range().and_then(|range| source.get(range)).unwrap_or_default();
    let message = match (error.kind(), error.detail()) {
        (ErrorKind::UndefinedError, _) if !expression.is_empty() => format!("`{expression}` is not defined"),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    let hint = match expression.split_once('.') {
        Some((root, member)) => context.get(root).and_then(Value::as_object).map(|members| {
            let known: Vec<&str> = members.keys().map(String::as_str).collect();
            known_hint(member, &known, root)
        }),
        None => context.as_object().filter(|_| error.kind() == ErrorKind::UndefinedError).map(|roots| {
            let known: Vec<&str> = roots.keys().map(String::as_str).collect();
            known_hint(expression, &known, "")
        }),
    };
    let mut diagnostic = match error.name() {
        Some(name) if is_partial => {
            let (line, column) = match (error.range(), error.line()) {
                (Some(range), _) => line_and_column(source, range.start),
                (None, line) => (line.unwrap_or(1), 1),
            };
            let included = format!("included by `{}`", tree.shown(&located.path));
            let position = Position { line, column };
            Diagnostic::error(&format!("_partials/{name}"), position, "", message).hint(included)
        }
        _ => {
            let position = match (error.range(), error.line()) {
                (Some(range), _) => located.position_at(range.start),
                (None, line) => located.position(line.unwrap_or(1), 1),
            };
            Diagnostic::error(&located.path, position, &located.field, message)
        }
    };
    diagnostic.hint = match (hint, diagnostic.hint) {
        (Some(hint), Some(included)) => Some(format!("{hint} ({included})")),
        (hint, included) => hint.or(included),
    };
    diagnostic
}
