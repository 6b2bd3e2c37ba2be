//! The arguments of a resource template in the values of a query.

use std::{collections::BTreeMap, str::FromStr};

use serde::{Deserialize, Serialize};

/// A value of a query, or a text that becomes one when the resource template's arguments are known.
///
/// In a text, `{name}` stands for an argument; what is in braces and cannot be a name is text like any other. The
/// argument is filled in as text, and the text is read as any other value is: an argument can choose a value, never
/// which values there are, because lists are divided before arguments are filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Param<T> {
    /// Known when the content was compiled.
    Value(T),
    /// A text with `{name}` in it.
    Template(String),
}

impl<T: FromStr + Clone> Param<T> {
    /// The value for these arguments; `None` if an argument that it needs is absent, which leaves the value out.
    ///
    /// # Errors
    /// The arguments give no valid value.
    pub fn resolve(&self, arguments: &BTreeMap<String, String>) -> Result<Option<T>, T::Err> {
        let template = match self {
            Self::Value(value) => return Ok(Some(value.clone())),
            Self::Template(template) => template,
        };
        let mut text = String::new();
        let mut rest = template.as_str();
        while let Some((before, name, after)) = next_placeholder(rest) {
            let Some(value) = arguments.get(name) else { return Ok(None) };
            text.push_str(before);
            text.push_str(value);
            rest = after;
        }
        text.push_str(rest);
        text.parse().map(Some)
    }
}

/// The names in braces in a text.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next_placeholder(rest)?;
        rest = after;
        Some(name)
    })
}

/// The text before the next name in braces, the name, and the text behind it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
    text.match_indices('{').find_map(|(open, _)| {
        let inner = &text[open + 1..];
        let name = &inner[..inner.bytes().take_while(|byte| is_name(*byte)).count()];
        let after = inner[name.len()..].strip_prefix('}').filter(|_| !name.is_empty())?;
        Some((&text[..open], name, after))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn resolve<T: FromStr + Clone>(template: &str) -> Result<Option<T>, T::Err> {
        let arguments = [("id", "12"), ("q", "{id}"), ("list", "1,2")];
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Param::Template(template.to_owned()).resolve(&arguments)
    }

    #[test]
    fn fills_in_arguments_once() {
        for (template, expected) in [
            ("{id}", Some("12")),
            ("a{id}b{id}", Some("a12b12")),
            ("{q}", Some("{id}")),
            ("{ id } {} {{id}", Some("{ id } {} {12")),
            ("{other}", None),
        ] {
            assert_eq!(resolve::<String>(template), Ok(expected.map(str::to_owned)), "{template}");
        }
    }

    #[test]
    fn reads_what_comes_of_it_as_its_type() {
        assert_eq!(resolve::<u64>("{id}"), Ok(Some(12)));
        assert_eq!(resolve::<u64>("1{id}"), Ok(Some(112)));
        assert!(resolve::<u64>("{list}").is_err());
        assert!(resolve::<u64>("-{id}").is_err());
    }

    #[test]
    fn names_the_arguments() {
        assert_eq!(placeholders("{a} {b_1}{{c}} { d } {}").collect::<Vec<_>>(), ["a", "b_1", "c"]);
    }

    proptest! {
        #[test]
        fn any_text_is_filled_in(text in "\\PC*|[{}ab]{0,10}") {
            prop_assert!(resolve::<String>(&text).is_ok());
        }
    }
}
