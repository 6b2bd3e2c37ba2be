//! What is wrong with a content tree: where, which field, what was expected, and how to mend it.

use std::{fmt, path::Path};

use serde::Serialize;

/// One problem of a content tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// Path of the file inside the tree, with `/` on every platform; [`Diagnostic::relative_to`] makes it one that an
    /// editor can open.
    pub path: String,
    /// Line and column, both from 1; none for a folder.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// Whether it fails the build.
    pub severity: Severity,
    /// The field, such as `wp_query.query.meta_query` or `[2].uri`; empty if it concerns the whole file.
    pub field: String,
    /// What is wrong, in lower case without a final full stop.
    pub message: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether a problem fails the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does.
    Error,
    /// It does not, unless warnings are denied.
    Warning,
}

/// A place in a text file. Lines and columns (characters) are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Position {
    /// The first character of a file, for problems of the file as a whole.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl Diagnostic {
    /// An error at a place in a file.
    pub fn error(path: &str, position: impl Into<Option<Position>>, field: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            position: position.into(),
            severity: Severity::Error,
            field: field.to_owned(),
            message: message.into(),
            hint: None,
        }
    }

    /// A warning at a place in a file.
    pub fn warning(path: &str, position: impl Into<Option<Position>>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, position, "", message) }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint to one that is reported already.
    pub(crate) fn with_hint(&mut self, hint: &str) {
        self.hint = Some(hint.to_owned());
    }

    /// The same, its path made one that leads to the file from the current folder.
    pub fn relative_to(mut self, root: &Path) -> Self {
        self.path = shown(root, &self.path);
        self
    }
}

/// `path:line:column: field: message`, then the hint on a line of its own. What stands before it (`error: `) is left
/// to whoever prints it. Authors' texts begin no line: the log of a pipeline may take one for a command.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.path))?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if !self.field.is_empty() {
            write!(f, "{}: ", escape(&self.field))?;
        }
        f.write_str(&escape(&self.message))?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {}", escape(hint))?;
        }
        Ok(())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A text that somebody else chose, on one line: what would move what stands around it is shown as an escape.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // Marks that turn the direction of what follows, and line ends that are no control characters.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                out.extend(character.escape_unicode())
            }
            character if character.is_control() => out.extend(character.escape_debug()),
            character => out.push(character),
        }
    }
    out
}

/// The path that leads to a file of the tree at `root` from the current folder, if the tree lies below it.
pub(crate) fn shown(root: &Path, path: &str) -> String {
    let below = std::env::current_dir().ok().and_then(|here| {
        let here = here.canonicalize().ok()?;
        Some(root.canonicalize().ok()?.strip_prefix(here).ok()?.join(path))
    });
    below.unwrap_or_else(|| root.join(path)).to_string_lossy().trim_end_matches('/').to_owned()
}

/// The known name that `name`, of five or more letters, is within two edits of.
pub(crate) fn slip<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let long_enough = name.chars().count() >= 5;
    known.iter().copied().find(|known| long_enough && strsim::osa_distance(name, known) <= 2)
}

/// The known name that is nearest to `name`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = if name.chars().count() < 5 { 1 } else { 2 };
    let distance = |known: &str| strsim::osa_distance(&name.to_lowercase(), &known.to_lowercase());
    let length = name.len();
    known
        .into_iter()
        // What is much longer or shorter cannot be near, which spares the work where there are many.
        .filter(|known| known.len().abs_diff(length) <= 8)
        .map(|known| (distance(known), known))
        .filter(|(distance, known)| *distance <= allowed || known.replace('_', "") == name.to_lowercase())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
