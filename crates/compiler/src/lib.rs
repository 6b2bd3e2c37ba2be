//! Compiles a content tree into a catalog.
mod diagnostic;
mod yaml;
pub use diagnostic::{Diagnostic, Position, Severity};
