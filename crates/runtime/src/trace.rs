//! To which request something belongs: the id by which its client, the log and upstreams know it, and its place in a
//! trace by [Trace Context](https://www.w3.org/TR/trace-context/).

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
};

use bytes::Bytes;

/// Characters of an id that is taken over.
const MAX_REQUEST_ID: usize = 128;

/// The id of a request, and the trace that it is a part of. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Visible ASCII.
    request_id: Bytes,
    parent: Parent,
}

/// What a `traceparent` says that is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parent {
    trace_id: u128,
    is_sampled: bool,
}

impl Trace {
    /// Takes over what a client sent, as far as it is sound: the id from `X-Request-Id`, else the trace id of
    /// `traceparent`. What is missing is made up.
    pub(crate) fn new(request_id: Option<&[u8]>, traceparent: Option<&[u8]>) -> Self {
        let parent = traceparent.and_then(Parent::parse).unwrap_or_else(Parent::made_up);
        let request_id = request_id.filter(|id| is_sound(id)).map(Bytes::copy_from_slice);
        Self { request_id: request_id.unwrap_or_else(|| hex(parent.trace_id).into()), parent }
    }

    /// The id of the request.
    pub fn request_id(&self) -> &str {
        std::str::from_utf8(&self.request_id).unwrap_or_default()
    }

    /// The same, as it stands in a header.
    pub(crate) fn header(&self) -> Bytes {
        self.request_id.clone()
    }

    /// Takes another place, if that is sound. The id of the request stays.
    pub(crate) fn join(&mut self, traceparent: &str) {
        if let Some(parent) = Parent::parse(traceparent.as_bytes()) {
            self.parent = parent;
        }
    }

    /// The `traceparent` for a request to somebody else, each of which has a span id of its own.
    pub(crate) fn traceparent(&self) -> String {
        let Parent { trace_id, is_sampled } = self.parent;
        // The id zero is not allowed.
        format!("00-{trace_id:032x}-{:016x}-{:02x}", random().max(1), u8::from(is_sampled))
    }
}

/// A request that nobody sent, such as that of a command.
impl Default for Trace {
    fn default() -> Self {
        Self::new(None, None)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.request_id())
    }
}

impl Parent {
    fn made_up() -> Self {
        let trace_id = (u128::from(random()) << 64 | u128::from(random())).max(1);
        // Whether it is recorded is not for us to ask for.
        Self { trace_id, is_sampled: false }
    }

    /// `version-traceid-parentid-flags` in lower case. Later versions may have more behind it.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut parts = text.split('-');
        let mut hex =
            |digits: usize| parts.next().filter(|part| part.len() == digits && part.bytes().all(is_lower_hex));
        let (version, trace_id, parent_id, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
        let is_known = version != "ff" && (version != "00" || parts.next().is_none());
        let trace_id = u128::from_str_radix(trace_id, 16).ok().filter(|id| *id != 0 && is_known)?;
        u64::from_str_radix(parent_id, 16).ok().filter(|id| *id != 0)?;
        Some(Self { trace_id, is_sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1 })
    }
}

fn is_sound(request_id: &[u8]) -> bool {
    (1..=MAX_REQUEST_ID).contains(&request_id.len()) && request_id.iter().all(u8::is_ascii_graphic)
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn hex(id: u128) -> Vec<u8> {
    let digit = |place: u32| b"0123456789abcdef"[(id >> (4 * (31 - place)) & 15) as usize];
    (0..32).map(digit).collect()
}

/// Good enough to tell requests apart, here and on other machines: the keys of the hasher come from the system, and
/// are others each time. Nobody has to guess, so nobody has to be kept from guessing.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn takes_the_id_that_is_sent_then_that_of_the_trace() {
        let id = |request_id: Option<&str>, traceparent: Option<&str>| {
            Trace::new(request_id.map(str::as_bytes), traceparent.map(str::as_bytes)).to_string()
        };
        assert_eq!(id(Some("a-1/{\"}"), Some(TRACEPARENT)), "a-1/{\"}");
        assert_eq!(id(Some(&"x".repeat(128)), None), "x".repeat(128));
        assert_eq!(id(None, Some(TRACEPARENT)), "4bf92f3577b34da6a3ce929d0e0e4736");
        for unsound in ["", "a b", "a\tb", "ü", "a\u{7f}", &"x".repeat(129)] {
            assert_eq!(id(Some(unsound), Some(TRACEPARENT)), "4bf92f3577b34da6a3ce929d0e0e4736", "{unsound}");
            let made_up = id(Some(unsound), None);
            assert!(made_up.len() == 32 && made_up.bytes().all(is_lower_hex), "{made_up}");
        }
        assert_ne!(id(None, None), id(None, None));
    }

    #[test]
    fn hands_on_the_trace_with_spans_of_its_own() {
        let trace = Trace::new(Some(b"id"), Some(TRACEPARENT.as_bytes()));
        let (first, second) = (trace.traceparent(), trace.traceparent());
        for child in [&first, &second] {
            assert!(child.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && child.ends_with("-01"), "{child}");
            assert_eq!(Parent::parse(child.as_bytes()), Some(trace.parent));
        }
        assert!(first != second && first != TRACEPARENT);
        let mut joined = Trace::new(Some(b"id"), None);
        assert!(joined.traceparent().ends_with("-00"));
        joined.join("nonsense");
        joined.join(TRACEPARENT);
        assert_eq!((joined.to_string().as_str(), joined.parent), ("id", trace.parent));
    }

    #[test]
    fn a_traceparent_is_as_it_should_be_or_none() {
        for sound in [
            TRACEPARENT,
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what-the-future-will-be-like",
        ] {
            assert!(Parent::parse(sound.as_bytes()).is_some(), "{sound}");
        }
        for unsound in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.x",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00.x",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Parent::parse(unsound.as_bytes()), None, "{unsound}");
        }
    }
}
