//! Matching: a template and a URI give the values.
//!
//! A template is a few steps. A table says for each step and each place of the URI whether the rest can match from
//! there; it is filled from the end to the start, so that the cost is the number of steps times the length of the URI,
//! whatever the template: there is nothing to backtrack. Where a URI can be divided in several ways, a variable takes as
//! much as it can, the first one first.

use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
};

use super::{Kind, Operator, Part, Template, is_reserved, is_unreserved, triplet};
use crate::uri::push_encoded;

/// No longer URI is matched, so that a client cannot have a megabyte compared with each template.
const MAX_URI: usize = 8 * 1024;

/// What matching does next. Variables are indices into [`Template::variables`], jumps lead forward only.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Compares.
    Literal(String),
    /// The variable is defined, and empty if nothing follows.
    Define(usize),
    /// Takes one or more characters as the variable's value; true where reserved ones are allowed.
    Value(usize, bool),
    /// Goes on with the next step if that leads to a match, else with this one.
    Else(usize),
    /// Goes on with this step.
    Jump(usize),
}

impl Template {
    /// The values for which [`Template::expand`] gives this URI.
    ///
    /// Both are compared in normal form: percent-encoding in upper case and only where it is needed, scheme and
    /// authority of the literals in any case. Values are decoded once; with `{+x}` and `{#x}`, what was encoded
    /// although it need not be stays encoded. A variable of `{;x}`, `{?x}` or `{&x}` may be absent or empty, every
    /// other one takes at least one character.
    pub fn match_uri(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let uri = (uri.len() <= MAX_URI).then(|| Normal::new(uri))?;
        if let Some(Step::Literal(start)) = self.steps.first()
            && !uri.has(0, start)
        {
            return None;
        }
        let values = self.assign(&uri, &self.reachable(&uri))?;
        // Whatever was divided wrongly (a variable used twice with different values) ends here.
        uri.is(&Normal::new(&self.expand(&values))).then_some(values)
    }

    /// For each step and each place, whether the rest of the steps match the rest of the URI.
    fn reachable(&self, uri: &Normal) -> Vec<Vec<bool>> {
        let end = uri.text.len();
        let mut rows = vec![Vec::new(); self.steps.len()];
        rows.push(vec![false; end + 1]);
        rows[self.steps.len()][end] = true;
        for (index, step) in self.steps.iter().enumerate().rev() {
            let next = &rows[index + 1];
            let row = match step {
                Step::Literal(text) => {
                    let place = |at: usize| next.get(at + text.len()) == Some(&true) && uri.has(at, text);
                    (0..=end).map(place).collect()
                }
                Step::Define(_) => next.clone(),
                Step::Value(_, reserved) => {
                    let mut row = vec![false; end + 1];
                    for at in (0..end).rev() {
                        row[at] = uri.character(at, *reserved).is_some_and(|(_, to)| next[to] || row[to]);
                    }
                    row
                }
                Step::Else(other) => next.iter().zip(&rows[*other]).map(|(next, other)| *next || *other).collect(),
                Step::Jump(other) => rows[*other].clone(),
            };
            rows[index] = row;
        }
        rows
    }

    /// Follows the steps along the places from which the rest can match.
    fn assign(&self, uri: &Normal, rows: &[Vec<bool>]) -> Option<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        let (mut index, mut at) = (0, 0);
        while rows[index][at] {
            let Some(step) = self.steps.get(index) else { return Some(values) };
            index += 1;
            match step {
                Step::Literal(text) => at += text.len(),
                Step::Define(variable) => {
                    values.insert(self.variables[*variable].clone(), String::new());
                }
                Step::Value(variable, reserved) => {
                    let start = at;
                    let mut end = start;
                    while let Some((_, next)) = uri.character(end, *reserved) {
                        end = next;
                        at = if rows[index][end] { end } else { at };
                    }
                    values.insert(self.variables[*variable].clone(), uri.decode(start, at, *reserved));
                }
                Step::Else(other) if !rows[index][at] => index = *other,
                Step::Else(_) => {}
                Step::Jump(other) => index = *other,
            }
        }
        None
    }
}

/// The steps of a template.
pub(super) fn compile(parts: &[Part], indices: &HashMap<&str, usize>) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in parts {
        match part {
            Part::Literal(text) => steps.push(Step::Literal(Normal::new(text).text)),
            Part::Expression(operator, names) => {
                let variables = || names.iter().map(|name| (name.as_str(), indices[name.as_str()]));
                match operator.kind {
                    Kind::Simple | Kind::Reserved => {
                        let mut before = operator.first;
                        for (_, variable) in variables() {
                            steps.push(Step::Literal(before.to_owned()));
                            steps.push(Step::Value(variable, operator.kind == Kind::Reserved));
                            before = operator.separator;
                        }
                    }
                    Kind::Parameter | Kind::Query => {
                        compile_named(&mut steps, *operator, &variables().collect::<Vec<_>>())
                    }
                }
            }
        }
    }
    steps
}

/// The steps of `{;x}`, `{?x}` and `{&x}`: two chains of variables, the first without one that is defined so far,
/// the second behind one.
fn compile_named(steps: &mut Vec<Step>, operator: Operator, variables: &[(&str, usize)]) {
    const LENGTH: usize = 7;
    let first_chain = steps.len();
    let second_chain = first_chain + LENGTH * variables.len() + 1;
    let end = second_chain + LENGTH * variables.len();
    for (chain, before) in [(first_chain, operator.first), (second_chain, operator.separator)] {
        for (position, (name, variable)) in variables.iter().enumerate() {
            let absent = chain + LENGTH * (position + 1);
            let defined = second_chain + LENGTH * (position + 1);
            let equals = if operator.kind == Kind::Parameter { ["", "="] } else { ["=", ""] };
            steps.extend([
                Step::Else(absent),
                Step::Literal(Normal::new(&format!("{before}{name}{}", equals[0])).text),
                Step::Define(*variable),
                Step::Else(defined),
                Step::Literal(equals[1].to_owned()),
                Step::Value(*variable, false),
                Step::Jump(defined),
            ]);
        }
        if chain == first_chain {
            steps.push(Step::Jump(end));
        }
    }
}

/// A URI in normal form, as far as percent-encoding is concerned.
struct Normal {
    text: String,
    /// Bytes before the path. Case means nothing there.
    authority_end: usize,
}

impl Normal {
    fn new(uri: &str) -> Self {
        let bytes = uri.as_bytes();
        let mut text = String::with_capacity(uri.len());
        let mut at = 0;
        while at < bytes.len() {
            match (triplet(bytes, at), bytes[at]) {
                (Some(byte), _) => {
                    if is_unreserved(byte) {
                        text.push(char::from(byte));
                    } else {
                        push_encoded(&mut text, byte);
                    }
                    at += 2;
                }
                (None, byte) if is_unreserved(byte) || is_reserved(byte) || byte == b'%' => text.push(char::from(byte)),
                (None, byte) => push_encoded(&mut text, byte),
            }
            at += 1;
        }
        let scheme_end = text.find(':').map_or(0, |colon| colon + 1);
        let authority_end = match text[scheme_end..].strip_prefix("//") {
            Some(rest) => text.len() - rest.len() + rest.find(['/', '?', '#']).unwrap_or(rest.len()),
            None => scheme_end,
        };
        Self { text, authority_end }
    }

    fn is(&self, other: &Self) -> bool {
        self.text.len() == other.text.len() && self.has(0, &other.text)
    }

    /// True if `literal` stands at this place.
    fn has(&self, at: usize, literal: &str) -> bool {
        let Some(bytes) = self.text.as_bytes().get(at..at + literal.len()) else { return false };
        let insensitive = self.authority_end.saturating_sub(at).min(literal.len());
        bytes[..insensitive].eq_ignore_ascii_case(&literal.as_bytes()[..insensitive])
            && bytes[insensitive..] == literal.as_bytes()[insensitive..]
    }

    /// The character at this place that may belong to a value, and the place behind it. An encoded one is one
    /// character, though it may be twelve bytes.
    fn character(&self, at: usize, reserved: bool) -> Option<(char, usize)> {
        let bytes = self.text.as_bytes();
        let byte = *bytes.get(at)?;
        if is_unreserved(byte) || (reserved && is_reserved(byte)) {
            return Some((char::from(byte), at + 1));
        }
        let mut encoded = Vec::with_capacity(4);
        let found = (at..).step_by(3).take(4).try_for_each(|at| {
            let Some(byte) = triplet(bytes, at) else { return ControlFlow::Break(None) };
            encoded.push(byte);
            match std::str::from_utf8(&encoded) {
                Ok(text) => ControlFlow::Break(text.chars().next()),
                Err(error) if error.error_len().is_none() => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(None),
            }
        });
        Some((found.break_value()??, at + 3 * encoded.len()))
    }

    /// The text that expansion encodes as what stands between these places.
    fn decode(&self, start: usize, end: usize, reserved: bool) -> String {
        let mut out = String::new();
        let mut at = start;
        while let Some((character, next)) = self.character(at, reserved).filter(|(_, next)| *next <= end) {
            let encoded = &self.text[at..next];
            at = next;
            let stays = match character {
                // Decoded, it would be taken for the start of an encoded character.
                '%' => [at, at + 1].iter().all(|at| *at < end && self.text.as_bytes()[*at].is_ascii_hexdigit()),
                _ => encoded.len() > 1 && character.is_ascii() && is_reserved(character as u8),
            };
            if reserved && stays {
                out.push_str(encoded);
            } else {
                out.push(character);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn matched(template: &str, uri: &str) -> Option<BTreeMap<String, String>> {
        Template::parse(template).unwrap().match_uri(uri)
    }

    #[test]
    fn matches_what_expansion_gives() {
        for (template, uri, expected) in [
            ("docs://{page}", "docs://intro", Some(&[("page", "intro")][..])),
            ("docs://{page}", "docs://", None),
            ("docs://{page}", "docs://a/b", None),
            ("docs://{page}", "docs://a%2fb", Some(&[("page", "a/b")])),
            ("docs://{page}", "docs://a%2525", Some(&[("page", "a%25")])),
            ("docs://{page}", "docs://a!", None),
            ("docs://{page}", "docs://%FF", None),
            ("docs://{page}", "docs://%C3", None),
            ("docs://{page}", "docs://%zz", None),
            ("docs://{page}", "docs://%c3%bc ü", Some(&[("page", "ü ü")])),
            ("docs://{page}", "docs://%41", Some(&[("page", "A")])),
            ("Docs://API/{page}", "docs://api/Intro", Some(&[("page", "Intro")])),
            ("docs://api/Guide/{page}", "docs://api/guide/x", None),
            ("docs://{a}-{b}", "docs://x-y-z", Some(&[("a", "x-y"), ("b", "z")])),
            ("docs://{a}{b}", "docs://%C3%BCx", Some(&[("a", "ü"), ("b", "x")])),
            ("docs://{a}{b}", "docs://x", None),
            ("docs://{a,b}", "docs://x,y", Some(&[("a", "x"), ("b", "y")])),
            ("docs://{a}/{a}", "docs://x/x", Some(&[("a", "x")])),
            ("docs://{a}/{a}", "docs://x/y", None),
            ("docs://{+path}", "docs://a/b?c#d", Some(&[("path", "a/b?c#d")])),
            ("docs://{+path}", "docs://a%2Fb%20c", Some(&[("path", "a%2Fb c")])),
            ("docs://{+path}", "docs://100%25", Some(&[("path", "100%")])),
            ("docs://{+path}", "docs://%2541", Some(&[("path", "%2541")])),
            ("docs://{+path}/{page}", "docs://a/b/c", Some(&[("path", "a/b"), ("page", "c")])),
            ("docs://x{/a,b}", "docs://x/1/2", Some(&[("a", "1"), ("b", "2")])),
            ("docs://x{/a,b}", "docs://x/1", None),
            ("docs://x{.ext}", "docs://x.tar.gz", Some(&[("ext", "tar.gz")])),
            ("docs://x{#part}", "docs://x#a/b", Some(&[("part", "a/b")])),
            ("docs://x{#part}", "docs://x#", None),
            ("docs://x{;a,b}", "docs://x;a;b=2", Some(&[("a", ""), ("b", "2")])),
            ("docs://x{;a,b}", "docs://x;a=;b=2", None),
            ("docs://x{;a,ab}", "docs://x;ab=2", Some(&[("ab", "2")])),
            ("docs://x{?a,b}", "docs://x", Some(&[])),
            ("docs://x{?a,b}", "docs://x?a=&b=2", Some(&[("a", ""), ("b", "2")])),
            ("docs://x{?a,b}", "docs://x?b=2", Some(&[("b", "2")])),
            ("docs://x{?a,b}", "docs://x&b=2", None),
            ("docs://x{?a,b}", "docs://x?b=2&a=1", None),
            ("docs://x{?a}{+rest}", "docs://x&a=1", Some(&[("rest", "&a=1")])),
            ("docs://x?q=1{&a}", "docs://x?q=1&a=%26", Some(&[("a", "&")])),
            ("docs://x", "docs://x", Some(&[])),
            ("docs://x", "docs://xy", None),
            ("", "", Some(&[])),
        ] {
            assert_eq!(matched(template, uri), expected.map(values), "{template} {uri}");
        }
    }

    #[test]
    fn takes_time_that_grows_with_the_length_alone() {
        let template = Template::parse(&format!("x{}y", "{+a}{b}{+c}".repeat(20))).unwrap();
        assert_eq!(template.match_uri(&format!("x{}", "a".repeat(MAX_URI - 1))), None);
        assert_eq!(matched("{+x}", &"a".repeat(MAX_URI + 1)), None);
        assert!(matched("{+x}", &"a".repeat(MAX_URI)).is_some());
    }

    /// Templates in which no character of a value can be taken for what follows it.
    fn unambiguous() -> impl Strategy<Value = String> {
        let segments = proptest::sample::select(vec![
            "/{NAME}",
            "/{NAME,NAME}",
            "/x!{NAME}",
            "{/NAME}",
            "{/NAME,NAME}",
            "/a{;NAME,NAME}",
            "/a:{NAME}",
        ]);
        let tail =
            proptest::sample::select(vec!["", "{?NAME}", "{?NAME,NAME,NAME}", "?fixed=1{&NAME,NAME}", "{#NAME}"]);
        (proptest::collection::vec(segments, 0..4), tail).prop_map(|(segments, tail)| {
            let template = format!("docs://h{}{tail}", segments.concat());
            let mut parts = template.split("NAME");
            let first = parts.next().unwrap().to_owned();
            parts.enumerate().fold(first, |template, (index, part)| format!("{template}v{index}{part}"))
        })
    }

    /// The names in `{;…}`, `{?…}` and `{&…}`, which may be absent.
    fn optional(template: &Template) -> Vec<&str> {
        let names = |part| match part {
            &Part::Expression(operator, ref names) if matches!(operator.kind, Kind::Parameter | Kind::Query) => names,
            _ => const { &Vec::new() },
        };
        template.parts.iter().flat_map(names).map(String::as_str).collect()
    }

    proptest! {
        #[test]
        fn matching_gives_back_what_was_expanded(
            template in unambiguous(),
            texts in proptest::collection::vec((any::<bool>(), "\\PC{1,8}|[a-z%/ü&=;,]{1,6}"), 16),
        ) {
            let parsed = Template::parse(&template).unwrap();
            let optional = optional(&parsed);
            let mut values = BTreeMap::new();
            for (name, (absent, text)) in parsed.variables().zip(&texts) {
                // An encoded character in the value of `{#x}` cannot be told from one that expansion encoded.
                let text = if template.contains(&format!("{{#{name}}}")) { &text.replace('%', "p") } else { text };
                if !(*absent && optional.contains(&name)) {
                    values.insert(name.to_owned(), text.clone());
                }
            }
            let uri = parsed.expand(&values);
            prop_assert_eq!(parsed.match_uri(&uri), Some(values), "{} {}", template, uri);
        }

        #[test]
        fn what_is_matched_expands_to_the_uri(
            template in "([a/:.%;-]|\\{[+#./;?&]?[xy](,[xyz])?\\}){0,5}",
            uri in "[a/:?&#;=.,%2Fxy-]{0,20}|\\PC{0,20}",
        ) {
            if let Ok(parsed) = Template::parse(&template)
                && let Some(values) = parsed.match_uri(&uri)
            {
                let expanded = Normal::new(&parsed.expand(&values));
                prop_assert!(Normal::new(&uri).is(&expanded), "{} {:?}", uri, values);
            }
        }

        #[test]
        fn matching_finds_every_uri_that_values_expand_to(
            template in prop_oneof![
                Just("{a}{b}"), Just("{+a}{b}"), Just("{+a,b}"), Just("x{?a,b}{&c}"), Just("{a}{+b}{?c}"),
                Just("{;a,b}{;c}"), Just("{a}.{b}{.c}"), Just("{+a}%2F{b}"), Just("x{#a,b}"), Just("{+a}{+b}"),
            ],
            texts in proptest::collection::vec("([a./,;?=&ü]|% |%25|%2F){1,4}", 3),
        ) {
            let parsed = Template::parse(template).unwrap();
            let values: BTreeMap<_, _> = ["a", "b", "c"].map(str::to_owned).into_iter().zip(texts).collect();
            let uri = parsed.expand(&values);
            prop_assert!(parsed.match_uri(&uri).is_some(), "{} {} {:?}", template, uri, values);
        }

        #[test]
        fn any_text_is_a_template_or_refused(template in "\\PC*", uri in "\\PC*") {
            if let Ok(parsed) = Template::parse(&template) {
                let _ = parsed.match_uri(&uri);
            }
        }
    }
}
