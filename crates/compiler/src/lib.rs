//! Compiles a content tree into a catalog.
mod diagnostic;
mod front_matter;
mod scope;
mod tree;
mod values;
mod yaml;
pub use diagnostic::{Diagnostic, Position, Severity};

use std::path::Path;

use mcpress_catalog::Catalog;

/// A content tree that compiled.
pub struct Compiled {
    /// What it holds.
    pub catalog: Catalog,
    /// What its authors should look at.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the content tree at `root`.
///
/// # Errors
/// All problems of the tree, warnings among them, sorted by path.
pub fn compile(root: &Path) -> Result<Compiled, Vec<Diagnostic>> {
    Err(vec![Diagnostic::error(&root.to_string_lossy(), None, "", "not yet")])
}
