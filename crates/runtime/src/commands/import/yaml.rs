//! What was read, as YAML that gives back the same.

use serde_json::Value;

/// A value as YAML, ending in a line end.
///
/// Where it holds characters that versions of YAML take differently, it is written as JSON with these escaped, which is
/// YAML too.
///
/// # Errors
/// It cannot be written; no value is known for which this is so.
pub(super) fn yaml(value: &Value) -> Result<String, String> {
    if !is_delicate(value) {
        return serde_yaml::to_string(value).map_err(|error| error.to_string());
    }
    let json = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    let mut escaped = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        match character {
            // The line ends between values; those in texts are escapes already.
            '\n' => escaped.push('\n'),
            character if is_delicate_character(character) => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            character => escaped.push(character),
        }
    }
    escaped.push('\n');
    Ok(escaped)
}

/// A value as an item of a YAML list.
///
/// # Errors
/// As [`yaml`].
pub(super) fn item(value: &Value) -> Result<String, String> {
    let yaml = yaml(value)?;
    let lines = yaml.lines().enumerate().map(|(index, line)| match (index, line) {
        (0, line) => format!("- {line}\n"),
        (_, "") => "\n".to_owned(),
        (_, line) => format!("  {line}\n"),
    });
    Ok(lines.collect())
}

/// The lines of a YAML text, each as a comment.
pub(super) fn commented(yaml: &str) -> String {
    yaml.lines().map(|line| if line.is_empty() { "#\n".to_owned() } else { format!("# {line}\n") }).collect()
}

fn is_delicate(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => is_delicate_text(text),
        Value::Array(items) => items.iter().any(is_delicate),
        Value::Object(members) => members.iter().any(|(name, value)| is_delicate_text(name) || is_delicate(value)),
    }
}

fn is_delicate_text(text: &str) -> bool {
    // A block that keeps the line ends behind it would keep those behind the definition too.
    text.ends_with("\n\n")
        || text.starts_with(['\n', ' '])
        || text.chars().any(|character| character != '\n' && is_delicate_character(character))
}

/// Control characters, line ends of one version of YAML only, and marks of byte order.
fn is_delicate_character(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stay_on_their_lines() {
        assert_eq!(commented("a: 1\n\nb: 2\n"), "# a: 1\n#\n# b: 2\n");
    }
}
