//! Reads the values of a query with WordPress's own looseness, and reports what is wrong at its place.

use std::{collections::BTreeMap, str::FromStr};

use mcpress_catalog::source::{Param, placeholders};

use super::{
    refused::Refusal,
    written::{Members, Written},
};
use crate::{
    diagnostic::{Diagnostic, nearest},
    scope::Scope,
    yaml::Mark,
};

pub(super) struct Reader<'r, 's> {
    pub(super) scope: &'r mut Scope<'s>,
}

/// Where a value stands, and what it is called in diagnostics.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) field: String,
    pub(super) mark: Mark,
}

impl Reader<'_, '_> {
    pub(super) fn error(&mut self, place: &Place, message: impl Into<String>) -> &mut Diagnostic {
        self.scope.error(place.mark, &place.field, message)
    }

    /// Reports that something else stands where `expected` should.
    pub(super) fn expected(&mut self, place: &Place, expected: &str, found: &Written) {
        let error = self.error(place, format!("expected {expected}, found {}", found.describe()));
        if let Some(name) = found.unquoted_placeholder() {
            error.with_hint(&format!("quote an argument: `\"{{{name}}}\"`"));
        }
    }

    pub(super) fn scalar<'w>(&mut self, place: &Place, expected: &str, value: &'w Written) -> Option<&'w str> {
        match value {
            Written::Scalar(text) => Some(text),
            _ => {
                self.expected(place, expected, value);
                None
            }
        }
    }

    /// A value, or a text over the template's arguments.
    pub(super) fn param<T: FromStr>(&mut self, place: &Place, expected: &str, value: &Written) -> Option<Param<T>> {
        let text = self.scalar(place, expected, value)?;
        self.typed(place, expected, text)
    }

    pub(super) fn typed<T: FromStr>(&mut self, place: &Place, expected: &str, text: &str) -> Option<Param<T>> {
        if self.is_template(place, text)? {
            return Some(Param::Template(text.to_owned()));
        }
        match text.parse() {
            Ok(value) => Some(Param::Value(value)),
            Err(_) => {
                self.expected(place, expected, &Written::Scalar(text.to_owned()));
                None
            }
        }
    }

    /// Whether a text holds `{name}`; `None` if a name is not that of an argument, which is reported.
    pub(super) fn is_template(&mut self, place: &Place, text: &str) -> Option<bool> {
        let mut holds_some = false;
        for name in placeholders(text) {
            holds_some = true;
            if self.scope.arguments.iter().any(|argument| argument == name) {
                continue;
            }
            let hint = match nearest(name, self.scope.arguments.iter().map(String::as_str)) {
                _ if text.contains(&format!("${{{name}}}")) => {
                    "the environment is read in `site`, `headers` and `auth` only".to_owned()
                }
                Some(near) => format!("did you mean `{{{near}}}`?"),
                None if self.scope.arguments.is_empty() => {
                    "`{name}` stands for an argument of `uri_template`; this entry has none".to_owned()
                }
                None => format!("arguments are {}", self.scope.arguments.join(", ")),
            };
            self.error(place, format!("`{{{name}}}` is no argument of this entry")).with_hint(&hint);
            return None;
        }
        Some(holds_some)
    }

    /// The items of a list that is not empty.
    pub(super) fn items<'w>(&mut self, place: &Place, value: &'w Written) -> Vec<(Place, &'w Written)> {
        match value {
            Written::List(items) if items.is_empty() => {
                let hint = "WordPress takes an empty list for no filter at all; leave it out if that is meant";
                self.error(place, "the list is empty").with_hint(hint);
                Vec::new()
            }
            Written::List(items) => {
                let given = items.iter().enumerate();
                given
                    .filter_map(|(index, item)| {
                        let (item, mark) = item.given()?;
                        Some((Place { field: format!("{}[{index}]", place.field), mark }, item))
                    })
                    .collect()
            }
            Written::Scalar(text) => {
                let hint = format!("write a list: `[{}]`", text.trim());
                self.error(place, format!("expected a list, found `{text}`")).with_hint(&hint);
                Vec::new()
            }
            Written::Nothing | Written::Mapping(_) => {
                self.expected(place, "a list", value);
                Vec::new()
            }
        }
    }

    /// A list that is not empty; `expected` is what each item is.
    pub(super) fn list<T: FromStr>(&mut self, place: &Place, expected: &str, value: &Written) -> Vec<Param<T>> {
        let items = self.items(place, value);
        items.iter().filter_map(|(place, item)| self.param(place, expected, item)).collect()
    }

    /// One value, or a list that is not empty.
    pub(super) fn one_or_list<'w>(
        &mut self,
        place: &Place,
        expected: &str,
        value: &'w Written,
    ) -> Vec<(Place, &'w Written)> {
        match value {
            Written::Scalar(_) => vec![(place.clone(), value)],
            Written::List(_) => self.items(place, value),
            Written::Nothing | Written::Mapping(_) => {
                self.expected(place, &format!("{expected} or a list"), value);
                Vec::new()
            }
        }
    }

    /// `true` or `false`, for which WordPress's authors write `1` and `0` too.
    pub(super) fn boolean(&mut self, place: &Place, value: &Written) -> Option<bool> {
        match value {
            Written::Scalar(text) if matches!(text.as_str(), "true" | "1") => Some(true),
            Written::Scalar(text) if matches!(text.as_str(), "false" | "0") => Some(false),
            _ => {
                self.expected(place, "`true` or `false`", value);
                None
            }
        }
    }

    /// The members of a mapping that are known, by name. The others are reported, with the reason if there is one.
    pub(super) fn members<'w>(
        &mut self,
        place: &Place,
        members: &'w Members,
        known: &[&str],
        refusals: &[Refusal],
        otherwise: &str,
    ) -> BTreeMap<&'w str, (Place, &'w Written)> {
        let mut found = BTreeMap::new();
        for (key, value) in members {
            let Some((name, key_mark)) = key.given() else { continue };
            let field = format!("{}.{name}", place.field);
            if known.contains(&name.as_str()) {
                if let Some((value, mark)) = value.given() {
                    found.insert(name.as_str(), (Place { field, mark }, value));
                }
                continue;
            }
            let place = Place { field, mark: key_mark };
            match refusals.iter().find(|refusal| refusal.names.contains(&name.as_str())) {
                Some(refusal) => self.error(&place, refusal.reason).with_hint(refusal.hint),
                None => {
                    let near = nearest(name, known.iter().copied());
                    let hint = near.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"));
                    self.error(&place, "unknown key").with_hint(&hint);
                }
            }
        }
        found
    }
}
