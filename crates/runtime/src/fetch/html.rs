//! HTML as Markdown or plain text. The input is anybody's, so its nesting is bounded; call it where blocking is allowed.

use html_to_markdown_rs::{ConversionOptions, InlineDataMedia, OutputFormat, PreprocessingOptions, convert};
use mcpress_catalog::source::Html;

/// Elements inside each other; what lies deeper is left out. Pages that people read stay below 60, and half a million
/// elements inside each other would not fit on a stack.
const MAX_DEPTH: usize = 100;

/// Converts a document; `base` is its address, which links in it are relative to.
pub(crate) fn convert_to(format: Html, html: &str, base: &str) -> Result<String, String> {
    let output_format = match format {
        Html::Raw => return Ok(html.to_owned()),
        Html::Markdown => OutputFormat::Markdown,
        Html::Text => OutputFormat::Plain,
    };
    let options = ConversionOptions {
        output_format,
        base_url: Some(base.to_owned()),
        bullets: "-".to_owned(),
        // Text must stay text: `<b>` in it is no tag, and `*` no emphasis.
        escape_asterisks: true,
        escape_underscores: true,
        escape_misc: true,
        // A wide cell would widen every row.
        compact_tables: true,
        inline_data_media: InlineDataMedia::AltTextOnly,
        extract_metadata: false,
        max_depth: Some(MAX_DEPTH),
        // What stands in a form or a header may be the whole page.
        preprocessing: PreprocessingOptions {
            remove_navigation: false,
            remove_forms: false,
            ..PreprocessingOptions::default()
        },
        // `10^6^` and `CO~2~`: without a mark they would be other numbers.
        sup_symbol: "^".to_owned(),
        sub_symbol: "~".to_owned(),
        ..ConversionOptions::default()
    };
    let converted = convert(html, Some(options)).map_err(|error| error.to_string())?;
    Ok(converted.content.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html><html><head><title>T</title><style>p{color:red}</style></head><body>\
        <h1>Über <em>uns</em></h1><script>alert(1)</script><p>Tom &amp; Jerry&#8217;s &lt;b&gt; 2*3*4 <a href=\"/x?a=1\">link</a></p>\
        <ul><li>one<ul><li>two</li></ul></li><li>three</li></ul><pre><code class=\"language-rust\">fn main() {\n    x &lt; y\n}</code></pre>\
        <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2 | 3</td></tr></table></body></html>";

    #[test]
    fn makes_markdown_and_text() {
        insta::assert_snapshot!(convert_to(Html::Markdown, PAGE, "https://example.com/a/b").unwrap());
        insta::assert_snapshot!(convert_to(Html::Text, PAGE, "https://example.com/a/b").unwrap());
        assert_eq!(convert_to(Html::Raw, PAGE, "").unwrap(), PAGE);
    }

    #[test]
    fn loses_nothing_that_people_read() {
        for (page, markdown) in [
            ("<body><form><h1>Head</h1><p>Whole page</p></form></body>", "# Head\n\nWhole page"),
            ("<body><header><h1>Head</h1><p>Lead</p></header><p>Body</p></body>", "# Head\n\nLead\n\nBody"),
            ("<p>10<sup>6</sup> CO<sub>2</sub></p>", "10^6^ CO~2~"),
        ] {
            assert_eq!(convert_to(Html::Markdown, page, "https://example.com/").unwrap().trim(), markdown);
        }
        let menu = convert_to(
            Html::Markdown,
            "<article><nav><a href='/a'>A</a></nav><p>B</p></article>",
            "https://x.example/",
        );
        assert!(menu.unwrap().contains("[A](https://x.example/a)"));
    }

    #[test]
    fn survives_what_is_made_to_break_it() {
        let many = 10_000;
        let pages = [
            "<div>".repeat(many),
            "<span>".repeat(many),
            "<ul><li>".repeat(many),
            "<blockquote>".repeat(many),
            "<table><tr><td>".repeat(many / 5),
            "<b><i><a href=x><p>".repeat(many / 10),
            "</div>".repeat(many),
            "<".repeat(many),
            "&".repeat(many),
            "<!--".repeat(many),
            "<svg><foreignObject><p>".repeat(many),
            format!("{}{}", "<ul><li>".repeat(90), "a<br>".repeat(many)),
            format!("<table><tr><td>{}</td></tr>{}", "w".repeat(many), "<tr><td>a</td></tr>".repeat(many / 10)),
            "<table><tr><td colspan=1000000 rowspan=1000000>a</td></tr></table>".repeat(100),
        ];
        for page in &pages {
            for format in [Html::Markdown, Html::Text] {
                let converted = convert_to(format, &format!("<p>before</p>{page}after"), "https://example.com/");
                assert!(converted.is_ok(), "{}", &page[..40]);
            }
        }
    }
}
