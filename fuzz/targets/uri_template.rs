//! URI templates, addresses and normal forms. The input is a template and a URI, on a line each.
//!
//! What a URI gives expands to a URI that gives the same again; no value changes the server that is asked; the normal
//! form of a normal form is itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpress_catalog::{source::Href, uri, uri_template::Template};
use url::Url;

/// Longer URIs are not matched.
const MAX_URI: usize = 8 * 1024;

fuzz_target!(|input: &str| {
    let (template, text) = input.split_once('\n').unwrap_or((input, ""));
    if let Some(normal) = uri::normalize(text) {
        assert_eq!(uri::check(&normal), Ok(()), "{text}");
        assert_eq!(uri::normalize(&normal).as_ref(), Some(&normal), "{text}");
    }
    let mut encoded = "x://h/".to_owned();
    uri::encode_path(&mut encoded, text);
    assert_eq!(uri::check(&encoded), Ok(()), "{text}");
    let Ok(parsed) = Template::parse(template) else { return };
    let variables: Vec<&str> = parsed.variables().collect();
    let values = parsed.match_uri(text);
    if let Some(values) = &values {
        assert!(values.keys().all(|name| variables.contains(&name.as_str())));
        let expanded = parsed.expand(values);
        if expanded.len() <= MAX_URI {
            assert_eq!(parsed.match_uri(&expanded).as_ref(), Some(values), "{template} {text} {expanded}");
        }
    }
    let Ok(href) = Href::parse(template, &variables) else { return };
    // Whatever the values are, the server stays the same, and so does the depth of the path.
    let with = |value: &str| {
        let values = variables.iter().map(|name| ((*name).to_owned(), value.to_owned()));
        href.expand(&values.collect()).and_then(|href| Url::parse(&href).ok())
    };
    if let (Some(plain), Some(hostile)) = (with("1"), with(text)) {
        assert_eq!(plain.origin(), hostile.origin(), "{template} {text}");
        assert_eq!(
            plain.path().split('/').count() + usize::from(text.is_empty()),
            hostile.path().split('/').count() + usize::from(text.is_empty()),
            "{template} {text}"
        );
        assert_eq!(hostile.fragment(), None);
        assert_eq!(hostile.username(), "");
    }
});
