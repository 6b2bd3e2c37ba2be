//! RFC 6570 URI templates up to level 3, in both directions: a template and values give a URI, a template and a URI
//! give the values back.
//!
//! Matching compiles a template to a few steps and fills a table that says for each step and each place of the URI
//! whether the rest can match from there, from the end to the start. Its cost is the number of steps times the length
//! of the URI, whatever the template; there is nothing to backtrack. Where a URI can be divided in several ways, a
//! variable takes as much as it can, the first one first.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    ops::ControlFlow,
};

use crate::uri::push_encoded;

/// No longer URI is matched, so that a client cannot have a megabyte compared with each template.
const MAX_URI: usize = 8 * 1024;

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template {
    parts: Vec<Part>,
    /// Each once, in the order of their first use.
    variables: Vec<String>,
    steps: Vec<Step>,
}

/// What is wrong with a template, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Bytes of the template before the fault.
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

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    Expression(Operator, Vec<String>),
}

/// A row of the table in RFC 6570, appendix A.
#[derive(Clone, Copy, Debug)]
struct Operator {
    /// Stands before the first variable that is defined.
    first: &'static str,
    /// Stands before each other one.
    separator: &'static str,
    /// What stands before a value.
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing; reserved characters are encoded.
    Simple,
    /// Nothing; reserved characters stay.
    Reserved,
    /// `name=`, or `name` before an empty value.
    Parameter,
    /// `name=`.
    Query,
}

/// What matching does next. Variables are indices into [`Template::variables`], jumps lead forward only.
#[derive(Clone, Debug)]
enum Step {
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
    /// Parses a template.
    ///
    /// # Errors
    /// What is no template, and the modifiers of level 4 (`{x:3}`, `{x*}`).
    pub fn parse(template: &str) -> Result<Self, Error> {
        let parts = parse(template)?;
        let mut variables: Vec<String> = Vec::new();
        let mut indices = HashMap::new();
        for part in &parts {
            let Part::Expression(_, names) = part else { continue };
            for name in names {
                indices.entry(name.as_str()).or_insert_with(|| {
                    variables.push(name.clone());
                    variables.len() - 1
                });
            }
        }
        let steps = compile(&parts, &indices);
        Ok(Self { parts, variables, steps })
    }

    /// The variables, each once, in the order of their first use.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    /// How literal it is: the bytes that do not come from variables.
    pub fn literal_len(&self) -> usize {
        let literal = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Expression(..) => 0,
        };
        self.parts.iter().map(literal).sum()
    }

    /// The URI for these values; a variable without a value is undefined.
    pub fn expand(&self, values: &BTreeMap<String, String>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => encode(&mut out, text, true),
                Part::Expression(operator, names) => {
                    let mut before = operator.first;
                    for (name, value) in names.iter().filter_map(|name| values.get_key_value(name)) {
                        out.push_str(before);
                        before = operator.separator;
                        operator.expand(&mut out, name, value);
                    }
                }
            }
        }
        out
    }

    /// The values for which [`Template::expand`] gives this URI.
    ///
    /// Both are compared in normal form: percent-encoding in upper case and only where it is needed, scheme and
    /// authority of the literals in any case. Values are decoded once; with `{+x}` and `{#x}`, what was encoded
    /// although it need not be stays encoded. A variable of `{;x}`, `{?x}` or `{&x}` may be absent or empty, every
    /// other one takes at least one character.
    pub fn match_uri(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let uri = (uri.len() <= MAX_URI).then(|| Normal::new(uri))?;
        let values = self.assign(&uri, &self.reachable(&uri))?;
        // Whatever was divided wrongly (a variable used twice with different values) ends here.
        uri.is(&Normal::new(&self.expand(&values))).then_some(values)
    }

    /// For each step and each place, whether the rest of the steps match the rest of the URI.
    fn reachable(&self, uri: &Normal) -> Vec<Vec<bool>> {
        let end = uri.text.len();
        let mut rows = vec![vec![false; end + 1]; self.steps.len() + 1];
        rows[self.steps.len()][end] = true;
        for (index, step) in self.steps.iter().enumerate().rev() {
            for at in (0..=end).rev() {
                rows[index][at] = match step {
                    Step::Literal(text) => uri.has(at, text) && rows[index + 1][at + text.len()],
                    Step::Define(_) => rows[index + 1][at],
                    Step::Value(_, reserved) => {
                        uri.character(at, *reserved).is_some_and(|(_, next)| rows[index + 1][next] || rows[index][next])
                    }
                    Step::Else(other) => rows[index + 1][at] || rows[*other][at],
                    Step::Jump(other) => rows[*other][at],
                };
            }
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

impl Operator {
    fn new(symbol: u8) -> Option<Self> {
        let (first, separator, kind) = match symbol {
            b'+' => ("", ",", Kind::Reserved),
            b'#' => ("#", ",", Kind::Reserved),
            b'.' => (".", ".", Kind::Simple),
            b'/' => ("/", "/", Kind::Simple),
            b';' => (";", ";", Kind::Parameter),
            b'?' => ("?", "&", Kind::Query),
            b'&' => ("&", "&", Kind::Query),
            _ => return None,
        };
        Some(Self { first, separator, kind })
    }

    fn expand(self, out: &mut String, name: &str, value: &str) {
        if matches!(self.kind, Kind::Parameter | Kind::Query) {
            out.push_str(name);
            out.push_str(if value.is_empty() && self.kind == Kind::Parameter { "" } else { "=" });
        }
        encode(out, value, self.kind == Kind::Reserved);
    }
}

fn parse(template: &str) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < template.len() {
        let rest = &template[at..];
        if let Some(inner) = rest.strip_prefix('{') {
            let Some(length) = inner.find('}') else {
                return Err(Error { offset: at, message: "`{` without a `}`".to_owned() });
            };
            parts.push(parse_expression(&inner[..length], at + 1)?);
            at += length + 2;
        } else {
            let length = rest.find('{').unwrap_or(rest.len());
            check_literal(&rest[..length], at)?;
            parts.push(Part::Literal(rest[..length].to_owned()));
            at += length;
        }
    }
    Ok(parts)
}

fn check_literal(literal: &str, offset: usize) -> Result<(), Error> {
    for (index, character) in literal.char_indices() {
        let message = match character {
            '}' => "`}` without a `{`".to_owned(),
            '%' if triplet(literal.as_bytes(), index).is_none() => {
                "`%` must be followed by two hexadecimal digits; `%25` is a percent sign".to_owned()
            }
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' => format!("{character:?} may not stand in a URI"),
            _ if character.is_control() => "a control character may not stand in a URI".to_owned(),
            _ => continue,
        };
        return Err(Error { offset: offset + index, message });
    }
    Ok(())
}

/// Parses what stands between braces.
fn parse_expression(expression: &str, offset: usize) -> Result<Part, Error> {
    let symbol = expression.bytes().next().unwrap_or_default();
    let operator = Operator::new(symbol);
    if b"=,!@|".contains(&symbol) {
        let message = format!("the operator `{}` is reserved by RFC 6570 for extensions", char::from(symbol));
        return Err(Error { offset, message });
    }
    let skipped = usize::from(operator.is_some());
    let mut names = Vec::new();
    let mut at = offset + skipped;
    for name in expression[skipped..].split(',') {
        check_name(name).map_err(|message| Error { offset: at, message })?;
        names.push(name.to_owned());
        at += name.len() + 1;
    }
    Ok(Part::Expression(operator.unwrap_or(Operator { first: "", separator: ",", kind: Kind::Simple }), names))
}

fn check_name(name: &str) -> Result<(), String> {
    let bytes = name.as_bytes();
    let (stem, level_4) = match (name.strip_suffix('*'), name.split_once(':')) {
        (Some(stem), _) | (None, Some((stem, _))) => (stem, true),
        (None, None) => (name, false),
    };
    let mut at = 0;
    while at < stem.len() {
        at += match bytes[at] {
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => 1,
            b'%' if triplet(bytes, at).is_some() => 3,
            b'.' if at > 0 && at + 1 < stem.len() && bytes[at - 1] != b'.' => 1,
            _ => return Err(format!("`{name}` is no name of a variable: letters, digits and `_` make one")),
        };
    }
    match (stem.is_empty(), level_4) {
        (true, _) => Err("the name of a variable is missing".to_owned()),
        (false, true) => Err(format!("`{name}`: the modifiers `:n` and `*` (level 4 of RFC 6570) are not supported")),
        (false, false) => Ok(()),
    }
}

fn compile(parts: &[Part], indices: &HashMap<&str, usize>) -> Vec<Step> {
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

/// Appends a value, or a literal, with what may not stand in a URI percent-encoded.
fn encode(out: &mut String, text: &str, reserved: bool) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().copied().enumerate() {
        let stays = is_unreserved(byte) || (reserved && (is_reserved(byte) || triplet(bytes, at).is_some()));
        if stays {
            out.push(char::from(byte));
        } else {
            push_encoded(out, byte);
        }
    }
}

/// The byte that is encoded at this place as `%XX`.
fn triplet(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = bytes.get(at..at + 3)? else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
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

    /// RFC 6570, section 3.2, without level 4.
    #[test]
    fn expands_as_the_rfc_says() {
        let values = values(&[
            ("dom", "example.com"),
            ("dub", "me/too"),
            ("hello", "Hello World!"),
            ("half", "50%"),
            ("var", "value"),
            ("who", "fred"),
            ("base", "http://example.com/home/"),
            ("path", "/foo/bar"),
            ("v", "6"),
            ("x", "1024"),
            ("y", "768"),
            ("empty", ""),
        ]);
        for (template, expected) in [
            // 3.2.2
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{half}", "50%25"),
            ("O{empty}X", "OX"),
            ("O{undef}X", "OX"),
            ("{x,y}", "1024,768"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("?{x,empty}", "?1024,"),
            ("?{x,undef}", "?1024"),
            ("?{undef,y}", "?768"),
            // 3.2.3
            ("{+var}", "value"),
            ("{+hello}", "Hello%20World!"),
            ("{+half}", "50%25"),
            ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
            ("{+base}index", "http://example.com/home/index"),
            ("O{+empty}X", "OX"),
            ("O{+undef}X", "OX"),
            ("{+path}/here", "/foo/bar/here"),
            ("here?ref={+path}", "here?ref=/foo/bar"),
            ("up{+path}{var}/here", "up/foo/barvalue/here"),
            ("{+x,hello,y}", "1024,Hello%20World!,768"),
            ("{+path,x}/here", "/foo/bar,1024/here"),
            // 3.2.4
            ("{#var}", "#value"),
            ("{#hello}", "#Hello%20World!"),
            ("{#half}", "#50%25"),
            ("foo{#empty}", "foo#"),
            ("foo{#undef}", "foo"),
            ("{#x,hello,y}", "#1024,Hello%20World!,768"),
            ("{#path,x}/here", "#/foo/bar,1024/here"),
            // 3.2.5
            ("{.who}", ".fred"),
            ("{.who,who}", ".fred.fred"),
            ("{.half,who}", ".50%25.fred"),
            ("www{.dom}", "www.example.com"),
            ("X{.var}", "X.value"),
            ("X{.empty}", "X."),
            ("X{.undef}", "X"),
            // 3.2.6
            ("{/who}", "/fred"),
            ("{/who,who}", "/fred/fred"),
            ("{/half,who}", "/50%25/fred"),
            ("{/who,dub}", "/fred/me%2Ftoo"),
            ("{/var}", "/value"),
            ("{/var,empty}", "/value/"),
            ("{/var,undef}", "/value"),
            ("{/var,x}/here", "/value/1024/here"),
            // 3.2.7
            ("{;who}", ";who=fred"),
            ("{;half}", ";half=50%25"),
            ("{;empty}", ";empty"),
            ("{;v,empty,who}", ";v=6;empty;who=fred"),
            ("{;v,bar,who}", ";v=6;who=fred"),
            ("{;x,y}", ";x=1024;y=768"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{;x,y,undef}", ";x=1024;y=768"),
            // 3.2.8
            ("{?who}", "?who=fred"),
            ("{?half}", "?half=50%25"),
            ("{?x,y}", "?x=1024&y=768"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("{?x,y,undef}", "?x=1024&y=768"),
            // 3.2.9
            ("{&who}", "&who=fred"),
            ("{&half}", "&half=50%25"),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{&x,y,empty}", "&x=1024&y=768&empty="),
            ("{&x,y,undef}", "&x=1024&y=768"),
            // Literals, 3.1
            ("docs://ü/{x}/%c3", "docs://%C3%BC/1024/%c3"),
        ] {
            assert_eq!(Template::parse(template).unwrap().expand(&values), expected, "{template}");
        }
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

    #[test]
    fn says_what_is_wrong_and_where() {
        for (template, offset, message) in [
            ("docs://{", 7, "`{` without a `}`"),
            ("docs://}", 7, "`}` without a `{`"),
            ("docs://{}", 8, "the name of a variable is missing"),
            ("docs://{?}", 9, "the name of a variable is missing"),
            ("docs://{a,}", 10, "the name of a variable is missing"),
            ("docs://{a b}", 8, "`a b` is no name of a variable: letters, digits and `_` make one"),
            ("docs://{a.}", 8, "`a.` is no name of a variable: letters, digits and `_` make one"),
            ("docs://{ü}", 8, "`ü` is no name of a variable: letters, digits and `_` make one"),
            ("docs://{{a}}", 8, "`{a` is no name of a variable: letters, digits and `_` make one"),
            ("docs://{?a,b*}", 11, "`b*`: the modifiers `:n` and `*` (level 4 of RFC 6570) are not supported"),
            ("docs://{a:3}", 8, "`a:3`: the modifiers `:n` and `*` (level 4 of RFC 6570) are not supported"),
            ("docs://{!a}", 8, "the operator `!` is reserved by RFC 6570 for extensions"),
            ("docs://%4x", 7, "`%` must be followed by two hexadecimal digits; `%25` is a percent sign"),
            ("docs://a b", 8, "' ' may not stand in a URI"),
            ("docs://\n", 7, "a control character may not stand in a URI"),
        ] {
            let error = Template::parse(template).unwrap_err();
            assert_eq!(error, Error { offset, message: message.to_owned() }, "{template}");
        }
    }

    #[test]
    fn names_its_variables_and_how_literal_it_is() {
        let template = Template::parse("docs://{b}/{?a,b}x").unwrap();
        assert_eq!(template.variables().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(template.literal_len(), "docs:///x".len());
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
