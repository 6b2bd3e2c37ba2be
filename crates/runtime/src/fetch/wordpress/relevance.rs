//! How relevant a post is for a search, as WordPress ranks it before it looks at the date.

use super::slug;

/// The lower, the more relevant. Only the title counts, since REST does not give what else WordPress looks at.
pub(super) fn rank(search: &str, title: &str) -> u8 {
    let title = slug::fold(title);
    let terms = terms(search);
    let has = |term: &String| title.contains(term.as_str());
    match terms.as_slice() {
        [term] => u8::from(!has(term)),
        _ if title.contains(&slug::fold(search.trim())) => 0,
        terms if terms.iter().all(has) => 1,
        terms if terms.iter().any(has) => 2,
        _ => 3,
    }
}

/// Phrases in quotes and words; those that are excluded count for nothing.
fn terms(search: &str) -> Vec<String> {
    let parts = search.split('"').enumerate();
    let terms = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().filter(|word| !word.starts_with('-')).collect(),
        _ => vec![part],
    });
    terms.filter(|term| !term.trim().is_empty()).map(slug::fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_titles() {
        for (search, title, expected) in [
            ("apple", "An Äpple a day", 0),
            ("apple", "Nothing", 1),
            ("apple -banana", "apple", 0),
            ("apple banana", "The apple banana", 0),
            ("apple banana", "banana, apple", 1),
            ("apple banana", "banana", 2),
            ("apple banana", "none", 3),
            ("\"apple banana\"", "banana, apple", 1),
            ("\"apple banana\"", "apple banana", 0),
        ] {
            assert_eq!(rank(search, title), expected, "{search} in {title}");
        }
    }
}
