//! Texts as WordPress compares them: slugs as it sanitizes them, and names as its database orders them.

use std::cmp::Ordering;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// What `sanitize_title_for_query` makes of a slug. REST would drop accents too, as is done when a post is saved; in
/// what comes out here it finds none.
pub(super) fn for_query(slug: &str) -> String {
    let mut sanitized = String::new();
    let mut rest = without_tags(slug);
    let lower = rest.to_lowercase();
    rest.clear();
    let bytes = lower.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octet = bytes.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        match byte {
            b'%' if octet.is_some() => {
                rest.push_str(&lower[at..at + 3]);
                at += 3;
                continue;
            }
            b'%' => {}
            _ if byte.is_ascii() => rest.push(char::from(byte)),
            _ => rest.push_str(&format!("%{byte:02x}")),
        }
        at += 1;
    }
    // What follows a `&` up to a `;` is an entity.
    let mut text = rest.as_str();
    let mut plain = String::new();
    while let Some(start) = text.find('&') {
        let Some(length) = text[start + 1..].find(';').filter(|length| *length > 0) else { break };
        plain.push_str(&text[..start]);
        text = &text[start + length + 2..];
    }
    plain.push_str(text);
    for character in plain.chars() {
        let character = if character == '.' || character.is_ascii_whitespace() { '-' } else { character };
        let kept = character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '%' | '_' | '-');
        if kept && !(character == '-' && sanitized.ends_with('-')) {
            sanitized.push(character);
        }
    }
    sanitized.trim_matches('-').to_owned()
}

/// The text without HTML tags.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        // A `<` before a blank is a `<`.
        let is_tag =
            rest[start + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!'));
        match rest[start..].find('>').filter(|_| is_tag) {
            Some(length) => {
                text.push_str(&rest[..start]);
                rest = &rest[start + length + 1..];
            }
            None => {
                text.push_str(&rest[..=start]);
                rest = &rest[start + 1..];
            }
        }
    }
    text.push_str(rest);
    text
}

/// A text without case and accents, which WordPress's database passes over.
pub(super) fn fold(text: &str) -> String {
    let decomposed = text.trim_end().nfkd().filter(|character| !is_combining_mark(*character));
    decomposed.flat_map(char::to_lowercase).collect::<String>().replace('ß', "ss")
}

/// Close to the order of `utf8mb4_unicode_520_ci`: blanks, punctuation, symbols, digits, letters, and then what is
/// younger than Unicode 5.2, as most emoji are.
pub(super) fn collate(left: &str, right: &str) -> Ordering {
    let key = |text: &str| fold(text).chars().map(|character| (class(character), character)).collect::<Vec<_>>();
    key(left).cmp(&key(right))
}

fn class(character: char) -> u8 {
    match character {
        _ if character.is_whitespace() => 0,
        '_' | '-' | ',' | ';' | ':' | '!' | '?' | '.' | '\'' | '"' | '(' | ')' | '[' | ']' | '{' | '}' | '@' | '*'
        | '/' | '\\' | '&' | '#' | '%' => 1,
        '\u{1f300}'.. => 5,
        _ if character.is_numeric() => 3,
        _ if character.is_alphabetic() => 4,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizes_as_wordpress_does() {
        for (slug, sanitized) in [
            ("post-001", "post-001"),
            ("Post 001", "post-001"),
            ("about/team", "aboutteam"),
            ("a.b", "a-b"),
            ("привет", "%d0%bf%d1%80%d0%b8%d0%b2%d0%b5%d1%82"),
            ("%D0%BF", "%d0%bf"),
            ("café", "caf%c3%a9"),
            ("100%", "100"),
            ("a &amp; b", "a-b"),
            ("a & b", "a-b"),
            ("<b>x</b>", "x"),
            (" -x- ", "x"),
            ("AT&T", "att"),
        ] {
            assert_eq!(for_query(slug), sanitized, "{slug}");
        }
    }

    #[test]
    fn removes_tags_only() {
        for (html, text) in [
            ("a <em>b</em>", "a b"),
            ("1 < 2 > 0", "1 < 2 > 0"),
            ("a<br/>b", "ab"),
            ("a <b", "a <b"),
            ("&lt;b&gt;", "&lt;b&gt;"),
            ("a<!-- x -->b", "ab"),
        ] {
            assert_eq!(without_tags(html), text, "{html}");
        }
    }

    #[test]
    fn orders_as_the_database_does() {
        let mut titles = ["🎉", "b", "Ärger", "1", "_", "a", "Apfel", "☃", "你", " "];
        titles.sort_by(|left, right| collate(left, right));
        assert_eq!(titles, [" ", "_", "☃", "1", "a", "Apfel", "Ärger", "b", "你", "🎉"]);
        assert_eq!(collate("Straße", "STRASSE "), Ordering::Equal);
    }
}
