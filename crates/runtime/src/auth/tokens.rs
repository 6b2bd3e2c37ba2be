//! Tokens that the environment lists. Only their digests are kept, and nothing here shows one.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{Caller, Denied};

/// Characters below which a token can be guessed, or was made up by a person.
const MIN_LENGTH: usize = 32;

/// What begins the hash of a token.
const HASH: &str = "sha256:";

/// The digests of all tokens that are good.
pub(super) struct Tokens(Vec<[u8; 32]>);

/// What is wrong with a list of tokens. It never says what stands there.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenError(String);

impl Tokens {
    /// Reads a list: tokens and hashes, between them commas, blanks or line ends.
    pub(super) fn parse(list: &str) -> Result<Self, TokenError> {
        let entries = list.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|entry| !entry.is_empty());
        let digests = (1..).zip(entries).map(|(number, entry)| match entry.strip_prefix(HASH) {
            Some(hex) => digest_of_hex(hex)
                .ok_or_else(|| TokenError(format!("entry {number} is no hash: `{HASH}` and 64 hex digits make one"))),
            None if !entry.bytes().all(is_token68) => {
                Err(TokenError(format!("entry {number} holds what no bearer token may; `mcpress token` makes one")))
            }
            None if digest_of_hex(entry).is_some() => Err(TokenError(format!(
                "entry {number} looks like the hash of a token; write `{HASH}` in front of it, or take a token that is \
                 not 64 hex digits"
            ))),
            None if entry.len() < MIN_LENGTH => Err(TokenError(format!(
                "entry {number} is shorter than {MIN_LENGTH} characters; `mcpress token` makes one that is long enough"
            ))),
            None => Ok(digest(entry)),
        });
        match digests.collect::<Result<Vec<_>, _>>()? {
            none if none.is_empty() => Err(TokenError("it lists no token; `mcpress token` makes one".to_owned())),
            digests => Ok(Self(digests)),
        }
    }

    /// Compares with every entry, whichever fits.
    pub(super) fn check(&self, token: &str) -> Result<Caller, Denied> {
        let given = digest(token);
        let found = self.0.iter().fold(0_u8, |found, good| u8::conditional_select(&found, &1, good.ct_eq(&given)));
        if bool::from(Choice::from(found)) { Ok(Caller(given)) } else { Err(Denied::Invalid("the token is not known")) }
    }
}

/// A token that was just made.
pub struct Token(String);

impl Token {
    /// Makes a token of 256 bits of the system's randomness.
    ///
    /// # Errors
    /// The system has none.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The token, for its client only.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// What stands for it in the environment of a server.
    pub fn hash(&self) -> String {
        let hex = digest(&self.0).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("{HASH}{hex}")
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TokenError {}

pub(super) fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn digest_of_hex(hex: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(digest)
}

/// What a token in `Authorization` is made of, by RFC 6750 section 2.1.
fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_tokens_of_the_list_and_no_others() {
        let (first, second) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(first.secret(), second.secret());
        assert_eq!(first.secret().len(), 43);
        let tokens = Tokens::parse(&format!(
            " {},\n{}\n",
            first.secret(),
            second.hash().to_uppercase().replace("SHA256", "sha256")
        ))
        .unwrap();
        assert_eq!(tokens.0.len(), 2);
        let (one, two) = (tokens.check(first.secret()).unwrap(), tokens.check(second.secret()).unwrap());
        assert_ne!(one, two);
        for other in ["", &second.hash(), &first.secret()[1..], Token::random().unwrap().secret()] {
            assert_eq!(tokens.check(other), Err(Denied::Invalid("the token is not known")));
        }
    }

    #[test]
    fn says_what_is_wrong_and_not_what_stands_there() {
        for (list, message) in [
            ("", "it lists no token; `mcpress token` makes one"),
            (" ,\n", "it lists no token; `mcpress token` makes one"),
            ("hunter2", "entry 1 is shorter than 32 characters; `mcpress token` makes one that is long enough"),
            (
                "sha256:0000000000000000000000000000000000000000000000000000000000000000,sha256:12",
                "entry 2 is no hash: `sha256:` and 64 hex digits make one",
            ),
            (
                "9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "entry 1 looks like the hash of a token; write `sha256:` in front of it, or take a token that is not 64 \
                 hex digits",
            ),
            (
                "pässword-pässword-pässword-pässword",
                "entry 1 holds what no bearer token may; `mcpress token` makes one",
            ),
        ] {
            assert_eq!(Tokens::parse(list).err().unwrap().to_string(), message);
        }
    }
}
