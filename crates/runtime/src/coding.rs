//! Content codings: which one a client takes, and a response in it.
//!
//! What was compiled in was also compressed then. Around it go blocks that are not compressed, so that an answer in
//! gzip is one member and one in zstd is one frame, and neither costs more than a checksum of its head. What is made
//! for the request is compressed while it is sent.

use std::{collections::VecDeque, io::Write};

use bytes::{BufMut, Bytes};
use crc32fast::Hasher;
use flate2::{Compression, write::GzEncoder};
use hyper::{HeaderMap, header};

use crate::jsonrpc::Frames;

/// What there is of the content of a response, its middle frame, beside the JSON.
#[derive(Debug)]
pub(crate) enum Coded {
    /// Nothing; it goes out as it is.
    No,
    /// Blocks that were made at build time, none of which is the last; those that would not pay are empty.
    Finished {
        /// Of a deflate stream.
        deflate: Bytes,
        /// Of a zstd frame.
        zstd: Bytes,
        /// Of the JSON.
        crc32: u32,
    },
    /// It was made for this request.
    Now,
}

/// A coding that a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Zstd,
}

/// Below this many bytes, what is made for a request goes out as it is.
const MIN_SIZE: usize = 1000;

/// Bytes that are compressed at a time.
const CHUNK: usize = 32 << 10;

/// Bytes of a block: 64 KiB in deflate, 128 KiB in zstd. What is made around the content hardly ever has that many.
const MAX_BLOCK: usize = 0xffff;

/// Magic number, deflate, no flags, no time, no extra flags, unknown system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Magic number, and a descriptor: one segment, its length in 8 bytes.
const ZSTD_HEADER: [u8; 5] = [0x28, 0xb5, 0x2f, 0xfd, 0xe0];

impl Coding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The codings that a client takes, best first ([RFC 9110 section
/// 12.5.3](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3)). Who does not say takes none.
pub(crate) fn wanted(headers: &HeaderMap) -> [Option<Coding>; 2] {
    let (mut gzip, mut zstd) = (0, 0);
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    for element in values.flat_map(|value| value.split(',')) {
        let (name, parameters) = element.split_once(';').unwrap_or((element, ""));
        let weight = || thousandths(parameters);
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => gzip = weight(),
            name if name.eq_ignore_ascii_case("zstd") => zstd = weight(),
            _ => {}
        }
    }
    let coding = |coding, weight| Some(coding).filter(|_| weight > 0);
    let (gzip_coding, zstd_coding) = (coding(Coding::Gzip, gzip), coding(Coding::Zstd, zstd));
    // The smaller one, where a client has no preference.
    if zstd >= gzip { [zstd_coding, gzip_coding] } else { [gzip_coding, zstd_coding] }
}

/// The weight among the parameters, in thousandths; what is no weight counts for none.
fn thousandths(parameters: &str) -> u16 {
    let mut weights = parameters.split(';').filter_map(|parameter| parameter.trim().split_once('='));
    match weights.find(|(name, _)| name.trim().eq_ignore_ascii_case("q")) {
        None => 1000,
        Some((_, value)) => value.trim().parse::<f32>().map_or(0, |weight| (weight.clamp(0.0, 1.0) * 1000.0) as u16),
    }
}

/// A response as it goes out.
pub(crate) enum Answer {
    /// As it is.
    Plain(Frames),
    /// In a coding, all of it there already.
    Coded(Coding, Frames),
    /// In gzip, made while it is sent.
    Streamed(Compressing),
}

/// The response in the best of the codings that it is there in, or can be brought into.
pub(crate) fn encode(frames: Frames, coded: Coded, wanted: [Option<Coding>; 2]) -> Answer {
    match coded {
        Coded::No => {}
        Coded::Finished { deflate, zstd, crc32 } => {
            for coding in wanted.into_iter().flatten() {
                let coded = match coding {
                    Coding::Gzip => gzip(&frames, &deflate, crc32),
                    Coding::Zstd => self::zstd(&frames, &zstd),
                };
                if let Some(coded) = coded {
                    return Answer::Coded(coding, coded);
                }
            }
        }
        Coded::Now => {
            let len: usize = frames.iter().map(Bytes::len).sum();
            if len >= MIN_SIZE && wanted.contains(&Some(Coding::Gzip)) {
                return Answer::Streamed(Compressing::new(frames.into()));
            }
        }
    }
    Answer::Plain(frames)
}

/// One gzip member ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)).
fn gzip([head, content, end]: &Frames, deflate: &Bytes, crc32: u32) -> Option<Frames> {
    if deflate.is_empty() || head.len() > MAX_BLOCK || end.len() > MAX_BLOCK {
        return None;
    }
    let mut start = Vec::with_capacity(GZIP_HEADER.len() + 5 + head.len());
    start.extend_from_slice(&GZIP_HEADER);
    put_stored(&mut start, false, head);
    let mut checksum = Hasher::new();
    checksum.update(head);
    checksum.combine(&Hasher::new_with_initial_len(crc32, content.len() as u64));
    checksum.update(end);
    let mut rest = Vec::with_capacity(5 + end.len() + 8);
    put_stored(&mut rest, true, end);
    rest.put_u32_le(checksum.finalize());
    rest.put_u32_le((head.len() + content.len() + end.len()) as u32);
    Some([start.into(), deflate.clone(), rest.into()])
}

/// A deflate block that is not compressed; it begins at a whole byte.
fn put_stored(out: &mut Vec<u8>, is_last: bool, bytes: &[u8]) {
    let len = bytes.len() as u16;
    out.put_u8(is_last.into());
    out.put_u16_le(len);
    out.put_u16_le(!len);
    out.extend_from_slice(bytes);
}

/// One zstd frame ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)). Its blocks refer to each other by distances,
/// so one before them changes nothing.
fn zstd([head, content, end]: &Frames, blocks: &Bytes) -> Option<Frames> {
    if blocks.is_empty() || head.len() > MAX_BLOCK || end.len() > MAX_BLOCK {
        return None;
    }
    let mut start = Vec::with_capacity(ZSTD_HEADER.len() + 8 + 3 + head.len());
    start.extend_from_slice(&ZSTD_HEADER);
    start.put_u64_le((head.len() + content.len() + end.len()) as u64);
    put_raw(&mut start, false, head);
    let mut rest = Vec::with_capacity(3 + end.len());
    put_raw(&mut rest, true, end);
    Some([start.into(), blocks.clone(), rest.into()])
}

/// A zstd block that is not compressed.
fn put_raw(out: &mut Vec<u8>, is_last: bool, bytes: &[u8]) {
    let header = (bytes.len() as u32) << 3 | u32::from(is_last);
    out.extend_from_slice(&header.to_le_bytes()[..3]);
    out.extend_from_slice(bytes);
}

/// Frames on their way through gzip.
pub(crate) struct Compressing {
    frames: VecDeque<Bytes>,
    /// Gone when its last bytes are out.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Compressing {
    pub(crate) fn new(frames: VecDeque<Bytes>) -> Self {
        Self { frames, encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())) }
    }

    /// The next bytes that go out, after a bounded amount of work; nothing at the end.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let encoder = self.encoder.as_mut()?;
        while let Some(frame) = self.frames.front_mut() {
            let chunk = frame.split_to(frame.len().min(CHUNK));
            if frame.is_empty() {
                self.frames.pop_front();
            }
            // Writing to memory does not fail.
            let _ = encoder.write_all(&chunk);
            let out = std::mem::take(encoder.get_mut());
            if !out.is_empty() {
                return Some(out.into());
            }
        }
        self.encoder.take().and_then(|encoder| encoder.finish().ok()).map(Bytes::from)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.encoder.is_none()
    }
}
