//! Tables as binary data: rows of 32-bit numbers in the blob, read one by one as they are looked at. So neither the
//! compiler of Rust has a literal for each number, nor has the program anything to decode when it starts.

use std::{cmp::Ordering, marker::PhantomData};

use crate::{Alias, Encoded, Partial, Resource, Source, Span, Template};

/// Where a table stands in the blob.
#[derive(Debug)]
pub struct Table<R> {
    span: Span,
    row: PhantomData<fn() -> R>,
}

impl<R> Table<R> {
    /// The table in this range.
    pub const fn new(span: Span) -> Self {
        Self { span, row: PhantomData }
    }

    /// Its range.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl<R> Clone for Table<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Table<R> {}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self::new(Span::default())
    }
}

/// What a table is made of.
pub trait Row: Copy {
    /// How many numbers it is.
    const WORDS: usize;

    /// As numbers.
    fn write(self, words: &mut Vec<u32>);

    /// From numbers, [`WORDS`](Self::WORDS) of them.
    fn read(words: &mut impl FnMut() -> u32) -> Self;
}

/// The rows of a table.
#[derive(Debug)]
pub struct Rows<'a, R> {
    bytes: &'a [u8],
    row: PhantomData<fn() -> R>,
}

impl<'a, R: Row> Rows<'a, R> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, row: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / (4 * R::WORDS)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The row at an index.
    pub fn get(&self, index: usize) -> Option<R> {
        let start = index.checked_mul(4 * R::WORDS)?;
        let mut words = self.bytes.get(start..start + 4 * R::WORDS)?.as_chunks().0.iter();
        Some(R::read(&mut || words.next().map_or(0, |&word| u32::from_le_bytes(word))))
    }

    /// All, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = R> + use<'a, R> {
        let rows = Self::new(self.bytes);
        // Every index below the length has a row.
        (0..self.len()).map(move |index| rows.get(index)).map(|row| row.unwrap_or_else(|| R::read(&mut || 0)))
    }

    /// The row for which `compare` says `Equal`, in a table that is sorted so.
    pub fn search(&self, compare: impl Fn(R) -> Ordering) -> Option<R> {
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start + (end - start) / 2;
            let row = self.get(middle)?;
            match compare(row) {
                Ordering::Less => start = middle + 1,
                Ordering::Greater => end = middle,
                Ordering::Equal => return Some(row),
            }
        }
        None
    }
}

/// Rows as bytes, the least significant first.
pub fn to_bytes<R: Row>(rows: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut words = Vec::new();
    rows.into_iter().for_each(|row| row.write(&mut words));
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

impl Row for Span {
    const WORDS: usize = 2;

    fn write(self, words: &mut Vec<u32>) {
        words.extend([self.0, self.1]);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self(words(), words())
    }
}

impl Row for u64 {
    const WORDS: usize = 2;

    #[expect(clippy::cast_possible_truncation, reason = "the halves of a number")]
    fn write(self, words: &mut Vec<u32>) {
        words.extend([self as u32, (self >> 32) as u32]);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self::from(words()) | Self::from(words()) << 32
    }
}

impl Row for Encoded {
    const WORDS: usize = 2 * Span::WORDS + 1;

    fn write(self, words: &mut Vec<u32>) {
        self.deflate.write(words);
        self.zstd.write(words);
        words.push(self.crc32);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self { deflate: Span::read(words), zstd: Span::read(words), crc32: words() }
    }
}

impl Row for Source {
    const WORDS: usize = 1 + Span::WORDS;

    fn write(self, words: &mut Vec<u32>) {
        let (kind, span) = match self {
            Self::Static(span) => (0, span),
            Self::Live(span) => (1, span),
        };
        words.push(kind);
        span.write(words);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        match words() {
            0 => Self::Static(Span::read(words)),
            _ => Self::Live(Span::read(words)),
        }
    }
}

impl Row for Resource {
    const WORDS: usize = 3 * 2 + Source::WORDS + Encoded::WORDS;

    fn write(self, words: &mut Vec<u32>) {
        self.uri.write(words);
        self.item.write(words);
        self.ttl_ms.write(words);
        self.source.write(words);
        self.encoded.write(words);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self {
            uri: Span::read(words),
            item: Span::read(words),
            ttl_ms: u64::read(words),
            source: Source::read(words),
            encoded: Encoded::read(words),
        }
    }
}

impl Row for Template {
    const WORDS: usize = 4 * 2;

    fn write(self, words: &mut Vec<u32>) {
        self.uri_template.write(words);
        self.item.write(words);
        self.ttl_ms.write(words);
        self.definition.write(words);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self {
            uri_template: Span::read(words),
            item: Span::read(words),
            ttl_ms: u64::read(words),
            definition: Span::read(words),
        }
    }
}

impl Row for Alias {
    const WORDS: usize = Span::WORDS + 1;

    fn write(self, words: &mut Vec<u32>) {
        self.normal.write(words);
        words.push(self.resource);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self { normal: Span::read(words), resource: words() }
    }
}

impl Row for Partial {
    const WORDS: usize = 2 * Span::WORDS;

    fn write(self, words: &mut Vec<u32>) {
        self.name.write(words);
        self.source.write(words);
    }

    fn read(words: &mut impl FnMut() -> u32) -> Self {
        Self { name: Span::read(words), source: Span::read(words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_written() {
        let row = |number| Resource {
            uri: Span(number, number + 1),
            item: Span(3, u32::MAX),
            ttl_ms: u64::MAX - 7,
            source: if number % 2 == 0 { Source::Static(Span(5, 6)) } else { Source::Live(Span(7, 8)) },
            encoded: Encoded { deflate: Span(9, 10), zstd: Span(11, 12), crc32: 13 },
        };
        let bytes = to_bytes((0..5).map(row));
        assert_eq!(bytes.len(), 5 * 4 * Resource::WORDS);
        let rows = Rows::<Resource>::new(&bytes);
        assert_eq!(rows.iter().collect::<Vec<_>>(), (0..5).map(row).collect::<Vec<_>>());
        assert_eq!((rows.len(), rows.get(5)), (5, None));
        for number in 0..5 {
            assert_eq!(rows.search(|row| row.uri.0.cmp(&number)), Some(row(number)));
        }
        assert_eq!(rows.search(|row| row.uri.0.cmp(&5)), None);
        assert_eq!(Rows::<Alias>::new(&[]).search(|_| Ordering::Equal).map(|alias| alias.resource), None);
    }
}
