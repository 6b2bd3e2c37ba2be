//! Compiles a content tree into a [`Catalog`]: load → define → lower → write the blob → emit Rust source.
//!
//! - [`encode()`] adds what compressed answers are made of, which only a build is worth.
//! - [`compile`] does all but the last step; nothing in here prints or exits. [`compile_files`] does the same with files
//!   that are not on disk.
//! - [`emit()`] writes the table that the binary is built from.
//! - [`Diagnostic`] is what is wrong with a tree; [`escape`] keeps what others wrote on one line.
//! - [`schema()`] gives editors the JSON Schema of a file of the tree.
//!
//! A file goes through `tree` (read), `yaml` (parsed, every value with its place), `definition` (as its author wrote
//! it), `resource` (checked, an entry) and `blob` (finished JSON).

mod access;
mod blob;
mod content;
mod definition;
mod described;
mod diagnostic;
mod emit;
mod encode;
mod fetch;
mod files;
mod front_matter;
mod identity;
mod names;
mod protected;
mod resource;
mod schema;
mod scope;
mod server;
mod site;
mod static_source;
mod tree;
mod url;
mod values;
mod wp_query;
mod yaml;

use std::{collections::BTreeMap, path::Path};

use mcpress_catalog::Catalog;

pub use blob::TooLarge;
pub use diagnostic::{Diagnostic, Position, Severity, escape};
pub use emit::emit;
pub use encode::{Cache, encode};
pub use names::is_reserved;
pub use schema::{SCHEMAS, schema};
pub use server::is_slug;

/// A content tree that compiled.
#[derive(Debug)]
pub struct Compiled {
    /// What it holds.
    pub catalog: Catalog,
    /// What its authors should look at, sorted by path.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the content tree at `root`.
///
/// # Errors
/// All problems of the tree, warnings among them, sorted by path. Their paths lead from the current folder where the
/// tree lies below it.
pub fn compile(root: &Path) -> Result<Compiled, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let tree = tree::Tree::load(root, &mut diagnostics);
    compile_tree(&tree, diagnostics)
}

/// Compiles the content tree that these files make up, by their paths in it, with `/` on every platform. What a folder
/// may not hold (pointers of Git LFS, for instance) is not looked for.
///
/// # Errors
/// As [`compile`], with paths inside the tree.
pub fn compile_files(files: BTreeMap<String, Vec<u8>>) -> Result<Compiled, Vec<Diagnostic>> {
    compile_tree(&tree::Tree::of_files(files), Vec::new())
}

fn compile_tree(tree: &tree::Tree, mut diagnostics: Vec<Diagnostic>) -> Result<Compiled, Vec<Diagnostic>> {
    let lowered = site::lower(tree, &mut diagnostics);
    let catalog = blob::write(lowered).map_err(|error| {
        let hint = "split it into several programs, or publish large files elsewhere and list their addresses";
        diagnostics.push(Diagnostic::error("", None, "", error.to_string()).hint(hint));
    });
    let mut diagnostics: Vec<_> =
        diagnostics.into_iter().map(|diagnostic| diagnostic.relative_to(tree.root())).collect();
    diagnostics.sort();
    diagnostics.dedup();
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match catalog {
        Ok(catalog) if !failed => Ok(Compiled { catalog, warnings: diagnostics }),
        _ => Err(diagnostics),
    }
}

/// The URI that a plain file would have by its path below `resources/` in the tree at `root`.
///
/// # Errors
/// What is wrong with the server's `server.yaml`.
pub fn uri_of(root: &Path, slug: &str, path: &str) -> Result<String, Vec<Diagnostic>> {
    // What is wrong with other files is none of its business.
    let tree = tree::Tree::load(root, &mut Vec::new());
    let mut diagnostics = Vec::new();
    match site::uri_of(&tree, slug, path, &mut diagnostics) {
        Some(uri) if diagnostics.is_empty() => Ok(uri),
        _ => Err(diagnostics.into_iter().map(|diagnostic| diagnostic.relative_to(root)).collect()),
    }
}
