//! Posts as one Markdown document.

use mcpress_catalog::source::{OutputField, PostField};
use serde_json::{Map, Value};

/// A heading, the fields and the content of each post.
pub(super) fn document(fields: &[OutputField], posts: &[Map<String, Value>]) -> String {
    let sections: Vec<String> = posts.iter().map(|post| section(fields, post)).collect();
    sections.join("\n\n")
}

fn section(all: &[OutputField], post: &Map<String, Value>) -> String {
    let get = |output: &OutputField| post.get(&output.name).filter(|value| !value.is_null());
    let text =
        |field: PostField| all.iter().filter(|output| output.field == field).find_map(|output| get(output)?.as_str());
    let id = || all.iter().find(|output| output.field == PostField::Id).and_then(get);
    let title = text(PostField::Title).filter(|title| !title.is_empty()).or_else(|| text(PostField::Slug));
    let title = title.map_or_else(|| id().map_or_else(|| "Untitled".to_owned(), plain), one_line);
    let mut parts = vec![format!("# {}", escape(&title))];
    let fields = all.iter().filter(|output| !is_body(&output.field) && output.field != PostField::Title);
    let fields: Vec<String> = fields
        .filter_map(|output| Some((output, plain(get(output)?))))
        .filter(|(_, text)| !text.is_empty())
        .map(|(output, text)| match output.field {
            PostField::Link | PostField::FeaturedImage => format!("- {}: <{text}>", output.name),
            _ => format!("- {}: {}", output.name, escape(&text)),
        })
        .collect();
    if !fields.is_empty() {
        parts.push(fields.join("\n"));
    }
    for output in all.iter().filter(|output| is_body(&output.field)) {
        let body = get(output).and_then(Value::as_str).unwrap_or_default().trim();
        // The headings of a post are below its own.
        let body = match output.field {
            PostField::Content => below(body),
            PostField::Excerpt => escape(body),
            _ => body.to_owned(),
        };
        if !body.is_empty() {
            parts.push(body);
        }
    }
    parts.join("\n\n")
}

fn is_body(field: &PostField) -> bool {
    matches!(field, PostField::Content | PostField::ContentHtml | PostField::Excerpt)
}

/// A value for people.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            items.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text that must stay text in Markdown.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '#' | '&') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Markdown whose headings are one level lower.
fn below(markdown: &str) -> String {
    let mut fence: Option<&str> = None;
    let lines = markdown.lines().map(|line| {
        let start = line.trim_start();
        match fence {
            Some(open) => {
                if start.starts_with(open) {
                    fence = None;
                }
            }
            None if start.starts_with("```") => fence = Some("```"),
            None if start.starts_with("~~~") => fence = Some("~~~"),
            None => {
                let level = line.bytes().take_while(|byte| *byte == b'#').count();
                if (1..6).contains(&level) && line[level..].starts_with(' ') {
                    return format!("#{line}");
                }
            }
        }
        line.to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn writes_a_section_for_each_post() {
        let field = |name: &str| OutputField { name: name.to_owned(), field: name.parse().unwrap() };
        let fields = ["id", "title", "link", "tags", "excerpt", "content"].map(field);
        let posts = [
            json!({
                "id": 1, "title": "A *b*\nc", "link": "https://e.example/a", "tags": ["x", "y_z"],
                "excerpt": "1 < 2", "content": "# H\n\n```\n# no heading\n```\n\n###### deep",
            }),
            json!({ "id": 2, "title": "", "link": null, "tags": [], "excerpt": null, "content": "" }),
        ];
        let posts: Vec<Map<String, Value>> = posts.iter().map(|post| post.as_object().unwrap().clone()).collect();
        let expected = "# A \\*b\\* c\n\n- id: 1\n- link: <https://e.example/a>\n- tags: x, y\\_z\n\n1 \\< 2\n\n\
            ## H\n\n```\n# no heading\n```\n\n###### deep\n\n# 2\n\n- id: 2";
        assert_eq!(document(&fields, &posts), expected);
    }
}
