//! Cursors of lists. A cursor carries its own check, so none is kept, every replica takes it, and one that belongs to
//! another list, another server or other content is refused.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::Server;
use crate::jsonrpc::Error;

/// One page of a list.
pub(super) struct Page {
    /// Index of its first entry.
    pub(super) start: usize,
    /// Index after its last entry.
    pub(super) end: usize,
    /// Which page it is, from 0.
    pub(super) number: usize,
    /// The cursor of the page after it.
    pub(super) next: Option<String>,
}

/// The page that a cursor stands for, in a list of `len` entries that is called `list`.
pub(super) fn page(server: Server<'_>, list: &str, len: usize, cursor: Option<&str>) -> Result<Page, Error> {
    let size = server.entry.page_len(len);
    let start = match cursor {
        None => 0,
        Some(cursor) => offset(cursor)
            .filter(|&start| 0 < start && start < len && start % size == 0 && encode(server, list, start) == cursor)
            .ok_or_else(unknown_cursor)?,
    };
    let end = len.min(start.saturating_add(size));
    Ok(Page { start, end, number: start / size, next: (end < len).then(|| encode(server, list, end)) })
}

pub(super) fn unknown_cursor() -> Error {
    Error::invalid_params("Invalid params: unknown `cursor`; begin again without one")
}

/// Offset and check, 32 and 64 bits.
fn encode(server: Server<'_>, list: &str, offset: usize) -> String {
    let offset = u32::try_from(offset).unwrap_or(u32::MAX).to_be_bytes();
    let catalog = &server.site.catalog;
    let covered = [catalog.text(catalog.hash), catalog.text(server.entry.slug), list].join("\n");
    let check = fnv1a(covered.bytes().chain(offset)).to_be_bytes();
    URL_SAFE_NO_PAD.encode([&offset[..], &check[..]].concat())
}

fn offset(cursor: &str) -> Option<usize> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let offset = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?);
    usize::try_from(offset).ok()
}

/// FNV-1a: a check against mistakes, not against forgery, which would win nothing.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
