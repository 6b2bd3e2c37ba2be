//! `${NAME}`, `${NAME:-default}` and `$$`, filled in from the environment when the server starts.

use std::fmt;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it is.
    Text(&'a str),
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: &'a str,
        /// What stands in its place where it is unset or empty.
        default: Option<&'a str>,
    },
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Bytes of the text before the fault.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Divides a text into its pieces.
///
/// # Errors
/// A `$` that begins none of the three forms.
pub fn parse(text: &str) -> Result<Vec<Piece<'_>>, Error> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = rest.find('$').unwrap_or(rest.len());
        if length > 0 {
            pieces.push(Piece::Text(&rest[..length]));
            at += length;
            continue;
        }
        let fault = |message: String| Error { offset: at, message };
        match rest.as_bytes().get(1) {
            Some(b'$') => {
                pieces.push(Piece::Text("$"));
                at += 2;
            }
            Some(b'{') => {
                let length = rest.find('}').ok_or_else(|| fault("`${` without a `}`".to_owned()))?;
                pieces.push(variable(&rest[2..length]).map_err(fault)?);
                at += length + 1;
            }
            _ => return Err(fault("a `$` that begins no `${NAME}`".to_owned())),
        }
    }
    Ok(pieces)
}

fn variable(inner: &str) -> Result<Piece<'_>, String> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.bytes().all(is_name) {
        return Err(format!("`{name}` is no name of a variable: letters, digits and `_` make one"));
    }
    if default.is_some_and(|default| default.contains("${")) {
        return Err(format!("the default of `{name}` holds another variable"));
    }
    Ok(Piece::Variable { name, default })
}

/// The text with its variables filled in.
///
/// # Errors
/// The names of the variables that are missing.
pub fn fill<'a>(pieces: &[Piece<'a>], lookup: impl Fn(&str) -> Option<String>) -> Result<String, Vec<&'a str>> {
    let mut filled = String::new();
    let mut missing = Vec::new();
    for piece in pieces {
        match *piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Variable { name, default } => match (lookup(name), default) {
                (Some(value), _) if !value.is_empty() => filled.push_str(&value),
                (_, Some(default)) => filled.push_str(default),
                (Some(_), None) => {}
                (None, None) => missing.push(name),
            },
        }
    }
    if missing.is_empty() { Ok(filled) } else { Err(missing) }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn divides_and_fills() {
        let lookup = |name: &str| match name {
            "A" => Some("one".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, expected) in [
            ("", Ok("")),
            ("no variable", Ok("no variable")),
            ("${A}", Ok("one")),
            ("x-${A}-${A}", Ok("x-one-one")),
            ("${A:-two}", Ok("one")),
            ("${B:-two}", Ok("two")),
            ("${B:-}", Ok("")),
            ("${B:-a:-b $$ {c}", Ok("a:-b $$ {c")),
            ("${EMPTY:-two}", Ok("two")),
            ("<${EMPTY}>", Ok("<>")),
            ("$$", Ok("$")),
            ("$${A}", Ok("${A}")),
            ("$$$${A}", Ok("$${A}")),
            ("${B} ${A} ${_C1}", Err(vec!["B", "_C1"])),
        ] {
            assert_eq!(fill(&parse(text).unwrap(), lookup), expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn refuses_every_other_dollar() {
        for (text, offset, message) in [
            ("cost: 5$", 7, "a `$` that begins no `${NAME}`"),
            ("$A", 0, "a `$` that begins no `${NAME}`"),
            ("a ${A", 2, "`${` without a `}`"),
            ("${}", 0, "`` is no name of a variable: letters, digits and `_` make one"),
            ("${1A}", 0, "`1A` is no name of a variable: letters, digits and `_` make one"),
            ("${A-b}", 0, "`A-b` is no name of a variable: letters, digits and `_` make one"),
            ("${ A }", 0, "` A ` is no name of a variable: letters, digits and `_` make one"),
            ("${A:-${B}}", 0, "the default of `A` holds another variable"),
        ] {
            assert_eq!(parse(text), Err(Error { offset, message: message.to_owned() }), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_divided_or_refused(text in "\\PC*|[${}A:-]{0,12}") {
            if let Ok(pieces) = parse(&text) {
                let _ = fill(&pieces, |_| None);
            }
        }

        #[test]
        fn doubling_dollars_keeps_any_text(text in "\\PC*") {
            let doubled = text.replace('$', "$$");
            prop_assert_eq!(fill(&parse(&doubled).unwrap(), |_| None), Ok(text));
        }
    }
}
