//! Which media types are text.

/// Subtypes of `application` that are text.
const TEXTUAL: [&str; 16] = [
    "json",
    "yaml",
    "x-yaml",
    "toml",
    "xml",
    "javascript",
    "x-javascript",
    "ecmascript",
    "sql",
    "x-sql",
    "graphql",
    "x-sh",
    "x-shellscript",
    "x-csh",
    "ld+json",
    "xml-dtd",
];

/// True for media types whose content is served as text.
pub fn is_text(mime_type: &str) -> bool {
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/').unwrap_or_default();
    let suffixes = ["+json", "+xml", "+yaml"];
    kind == "text"
        || (kind == "application" && TEXTUAL.contains(&subtype))
        || suffixes.iter().any(|suffix| subtype.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_text_from_binary() {
        let text =
            ["text/x-rust", "application/json", "image/svg+xml", "application/ld+json; profile=x", "application/sql"];
        assert!(text.iter().all(|mime_type| is_text(mime_type)));
        let binary = ["image/png", "application/octet-stream", "application/pdf", "model/gltf-binary"];
        assert!(!binary.iter().any(|mime_type| is_text(mime_type)));
    }
}
