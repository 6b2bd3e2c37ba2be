//! Finished JSON in the content codings that clients take, made once at build time.
//!
//! An answer is a head made for the request, a piece of finished JSON, and an end. So each piece is compressed to blocks
//! that can stand between others: what is around them goes out in blocks that are not compressed, and the whole is one
//! gzip member or one zstd frame.

use std::{borrow::Cow, collections::HashMap, thread};

use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress};
use mcpress_catalog::{
    Catalog, Encoded, Resource, Server, Source, Span,
    table::{self, Row, Table},
};
use sha2::{Digest, Sha256};
use zstd::zstd_safe::CParameter;

use crate::blob::TooLarge;

/// Pieces below this many bytes fit into one packet as they are.
const MIN_SIZE: usize = 1000;

/// A coding must save a tenth, else reading it costs the client more than it saves.
const MAX_SHARE: (usize, usize) = (9, 10);

/// The browsers' limit on the window of a zstd frame, which is as large as the content.
const MAX_ZSTD: usize = 8 << 20;

const DEFLATE_LEVEL: Compression = Compression::new(8);
const ZSTD_LEVEL: i32 = 10;

/// What earlier builds compressed, so that a build compresses only what is new to it.
#[derive(Debug, Default)]
pub struct Cache {
    pieces: HashMap<Key, Piece>,
}

/// The beginning of the SHA-256 of the JSON.
type Key = [u8; 16];

/// A piece of JSON in other codings; what does not pay is empty.
#[derive(Clone, Debug, Default)]
struct Piece {
    deflate: Bytes,
    zstd: Bytes,
    crc32: u32,
}

/// What the cache's bytes begin with. It changes whenever other bytes would be made of the same content.
const MAGIC: &[u8] = b"mcpress encoded 1\n";

/// Adds the codings of all static contents and lists, unless the site wants none. `cache` then holds just them.
///
/// # Errors
/// With them the blob is larger than 4 GiB.
pub fn encode(catalog: Catalog, cache: &mut Cache) -> Result<Catalog, TooLarge> {
    if !catalog.compression {
        return Ok(catalog);
    }
    let pieces = pieces(&catalog, cache);
    // Reading goes on in what was there, writing behind it.
    let mut writer = Writer { blob: catalog.blob.to_vec(), pieces, written: HashMap::new() };
    let mut servers = Vec::with_capacity(catalog.servers.len());
    for server in catalog.servers.iter() {
        let mut resources = Vec::new();
        for resource in catalog.rows(server.resources).iter() {
            let encoded = match resource.source {
                Source::Static(contents) => writer.encoded(catalog.text(contents).as_bytes()),
                Source::Live(_) => Encoded::default(),
            };
            resources.push(Resource { encoded, ..resource });
        }
        let mut encoded = |pages: Vec<Span>| {
            let pages: Vec<_> = pages.into_iter().map(|page| writer.encoded(catalog.text(page).as_bytes())).collect();
            writer.table(pages)
        };
        servers.push(Server {
            resource_pages: encoded(resource_pages(&catalog, server)),
            template_pages: encoded(template_pages(&catalog, server)),
            resources: writer.replace(server.resources, resources),
            ..server.clone()
        });
    }
    if writer.blob.len() > u32::MAX as usize {
        return Err(TooLarge);
    }
    cache.pieces = writer.pieces;
    Ok(Catalog { servers: Cow::Owned(servers), blob: writer.blob.into(), ..catalog })
}

/// The codings of every piece that is long enough, taken from the cache as far as it has them.
fn pieces(catalog: &Catalog, cache: &mut Cache) -> HashMap<Key, Piece> {
    let mut spans: Vec<Span> = Vec::new();
    for server in catalog.servers.iter() {
        spans.extend(catalog.rows(server.resources).iter().filter_map(|resource| match resource.source {
            Source::Static(contents) => Some(contents),
            Source::Live(_) => None,
        }));
        spans.extend(resource_pages(catalog, server));
        spans.extend(template_pages(catalog, server));
    }
    let mut known = HashMap::with_capacity(spans.len());
    let mut missing = HashMap::new();
    for json in spans.iter().map(|&span| catalog.text(span).as_bytes()).filter(|json| json.len() >= MIN_SIZE) {
        let key = key(json);
        match cache.pieces.remove(&key) {
            Some(piece) => drop(known.insert(key, piece)),
            None if known.contains_key(&key) => {}
            None => drop(missing.insert(key, json)),
        }
    }
    known.extend(compress_all(&missing.into_iter().collect::<Vec<_>>()));
    known
}

/// On as many threads as there are processors.
fn compress_all(pieces: &[(Key, &[u8])]) -> Vec<(Key, Piece)> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = pieces.len().div_ceil(threads).max(1);
    let compress = |share: &[(Key, &[u8])]| -> Vec<(Key, Piece)> {
        let mut encoder = Encoder::new();
        share.iter().map(|(key, json)| (*key, encoder.piece(json))).collect()
    };
    thread::scope(|scope| {
        let shares: Vec<_> = pieces.chunks(share).map(|share| scope.spawn(move || compress(share))).collect();
        // A thread that panicked leaves its pieces uncompressed.
        shares.into_iter().flat_map(|share| share.join().unwrap_or_default()).collect()
    })
}

/// What the pages of a list hold, for a list of these items.
fn pages(server: &Server, items: impl Iterator<Item = Span>) -> Vec<Span> {
    let items: Vec<Span> = items.collect();
    items.chunks(server.page_len(items.len())).map(|page| Span(page[0].0, page[page.len() - 1].1)).collect()
}

fn resource_pages(catalog: &Catalog, server: &Server) -> Vec<Span> {
    pages(server, catalog.rows(server.resources).iter().map(|resource| resource.item))
}

fn template_pages(catalog: &Catalog, server: &Server) -> Vec<Span> {
    pages(server, catalog.rows(server.templates).iter().map(|template| template.item))
}

/// Adds the codings to a blob.
struct Writer {
    blob: Vec<u8>,
    pieces: HashMap<Key, Piece>,
    /// Those that stand in the blob. Several entries may share one.
    written: HashMap<Key, Encoded>,
}

impl Writer {
    fn encoded(&mut self, json: &[u8]) -> Encoded {
        if json.len() < MIN_SIZE {
            return Encoded::default();
        }
        let key = key(json);
        if let Some(encoded) = self.written.get(&key) {
            return *encoded;
        }
        let Some(Piece { deflate, zstd, crc32 }) = self.pieces.get(&key).cloned() else { return Encoded::default() };
        let encoded = Encoded { deflate: self.append(&deflate), zstd: self.append(&zstd), crc32 };
        self.written.insert(key, encoded);
        encoded
    }

    fn append(&mut self, bytes: &[u8]) -> Span {
        let start = self.blob.len() as u32;
        self.blob.extend_from_slice(bytes);
        Span(start, self.blob.len() as u32)
    }

    /// Writes a table over one of as many rows.
    fn replace<R: Row>(&mut self, table: Table<R>, rows: Vec<R>) -> Table<R> {
        let bytes = table::to_bytes(rows);
        let start = table.span().0 as usize;
        self.blob[start..start + bytes.len()].copy_from_slice(&bytes);
        table
    }

    fn table<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Table<R> {
        Table::new(self.append(&table::to_bytes(rows)))
    }
}

/// Compresses pieces, one after the other.
struct Encoder {
    deflate: Compress,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl Encoder {
    fn new() -> Self {
        // Without it there is one coding less.
        let zstd = zstd::bulk::Compressor::new(ZSTD_LEVEL).and_then(|mut zstd| {
            zstd.set_parameter(CParameter::ContentSizeFlag(false))?;
            zstd.set_parameter(CParameter::ChecksumFlag(false))?;
            Ok(zstd)
        });
        Self { deflate: Compress::new(DEFLATE_LEVEL, false), zstd: zstd.ok() }
    }

    fn piece(&mut self, json: &[u8]) -> Piece {
        let pays = |blocks: &Vec<u8>| blocks.len() * MAX_SHARE.1 < json.len() * MAX_SHARE.0;
        let bytes = |blocks: Option<Vec<u8>>| blocks.filter(pays).map(Bytes::from).unwrap_or_default();
        Piece { deflate: bytes(self.deflate(json)), zstd: bytes(self.zstd(json)), crc32: crc32fast::hash(json) }
    }

    /// Deflate blocks up to a whole byte.
    fn deflate(&mut self, json: &[u8]) -> Option<Vec<u8>> {
        self.deflate.reset();
        let mut blocks = Vec::with_capacity(json.len() + 64);
        // All of it in one go: there is room for more than it can take, so that it stops for nothing else.
        self.deflate.compress_vec(json, &mut blocks, FlushCompress::Sync).ok()?;
        (self.deflate.total_in() == json.len() as u64 && blocks.len() < blocks.capacity()).then_some(blocks)
    }

    /// The blocks of a zstd frame, the last of them no longer marked as the last.
    fn zstd(&mut self, json: &[u8]) -> Option<Vec<u8>> {
        if json.len() > MAX_ZSTD {
            return None;
        }
        let frame = self.zstd.as_mut()?.compress(json).ok()?;
        let mut blocks = frame.get(zstd_header_len(&frame)?..)?.to_vec();
        let mut at = 0;
        loop {
            let header = blocks.get(at..at + 3)?;
            let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            let (is_last, kind, size) = (header & 1 == 1, header >> 1 & 3, (header >> 3) as usize);
            if is_last {
                blocks[at] &= !1;
            }
            // Of a block of one repeated byte only that byte is there.
            at += 3 + if kind == 1 { 1 } else { size };
            if is_last {
                return (at == blocks.len()).then_some(blocks);
            }
        }
    }
}

/// RFC 8878 section 3.1.1.1, for frames without a dictionary.
fn zstd_header_len(frame: &[u8]) -> Option<usize> {
    let descriptor = *frame.get(4)?;
    let is_single_segment = descriptor >> 5 & 1 == 1;
    let content_size = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        flag => 1 << flag,
    };
    Some(4 + 1 + usize::from(!is_single_segment) + content_size)
}

fn key(json: &[u8]) -> Key {
    let digest: [u8; 32] = Sha256::digest(json).into();
    std::array::from_fn(|index| digest[index])
}

impl Cache {
    /// The cache in these bytes; an empty one, if they are not those of a cache.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self::read(&Bytes::from(bytes)).unwrap_or_default()
    }

    fn read(bytes: &Bytes) -> Option<Self> {
        let mut at = bytes.starts_with(MAGIC).then_some(MAGIC.len())?;
        let mut pieces = HashMap::new();
        while at < bytes.len() {
            let header = bytes.get(at..at + HEADER)?;
            let number = |word: usize| header[word..].first_chunk().map(|word| u32::from_le_bytes(*word));
            let key = *header.first_chunk()?;
            let (deflate, zstd, crc32) = (number(16)? as usize, number(20)? as usize, number(24)?);
            let deflate_at = at + HEADER;
            let zstd_at = deflate_at.checked_add(deflate)?;
            at = zstd_at.checked_add(zstd).filter(|&end| end <= bytes.len())?;
            let piece = Piece { deflate: bytes.slice(deflate_at..zstd_at), zstd: bytes.slice(zstd_at..at), crc32 };
            pieces.insert(key, piece);
        }
        Some(Self { pieces })
    }

    /// The cache as bytes, the same for the same pieces.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut pieces: Vec<_> = self.pieces.iter().collect();
        pieces.sort_by_key(|(key, _)| *key);
        let mut bytes = MAGIC.to_vec();
        for (key, Piece { deflate, zstd, crc32 }) in pieces {
            bytes.extend_from_slice(key);
            for number in [deflate.len() as u32, zstd.len() as u32, *crc32] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(deflate);
            bytes.extend_from_slice(zstd);
        }
        bytes
    }
}

/// Bytes before a piece in the cache: its key, two lengths and the checksum.
const HEADER: usize = 16 + 3 * 4;
