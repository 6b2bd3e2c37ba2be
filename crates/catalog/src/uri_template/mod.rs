//! RFC 6570 URI templates up to level 3, in both directions: a template and values give a URI, a template and a URI
//! give the values back.

mod matching;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use self::matching::{Step, compile};
use crate::uri::push_encoded;

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

    /// The literal text before the first variable.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Literal(text)) => text,
            Some(Part::Expression(..)) | None => "",
        }
    }

    /// True if some variable is expanded with its reserved characters as they are: `{+x}`, `{#x}`.
    pub fn has_reserved(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Expression(operator, _) if operator.kind == Kind::Reserved))
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
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
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
}
