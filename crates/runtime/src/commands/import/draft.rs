//! An exported resource → a draft of a definition: what the tree would say, and what speaks against it.

use mcpress_catalog::uri_template::Template;
use serde_json::{Map, Value, json};

use super::{
    export::{Resource, is_empty},
    names, query,
};

/// The first line of what Git LFS leaves in the place of a file.
const LFS_POINTER: &str = "version https://git-lfs.github.com/spec/";

/// A definition that may become part of the tree.
#[derive(Debug)]
pub(super) struct Draft {
    /// Where it stands in the export, such as `resources[2]`.
    pub(super) place: String,
    /// Its URI or URI template, as far as it has one.
    pub(super) uri: Option<String>,
    pub(super) is_template: bool,
    /// Where its contents come from, as the export calls it.
    pub(super) kind: String,
    /// The keys of the content format and their values.
    pub(super) definition: Map<String, Value>,
    /// The contents, if they are static.
    pub(super) text: Option<String>,
    /// The file that holds them, by its path in the server's folder; without one they stand in the definition.
    pub(super) file: Option<String>,
    /// Why it cannot be carried over.
    pub(super) reasons: Vec<String>,
    /// What differs without changing what a read gives.
    pub(super) notes: Vec<String>,
    /// Members of the export that have no place in the definition.
    pub(super) unknown: Map<String, Value>,
}

/// What drafts have in common.
pub(super) struct Drafting<'a> {
    /// Where `wp_query` asks.
    pub(super) site: Option<&'a str>,
    pub(super) files: names::Files,
}

impl Drafting<'_> {
    /// The drafts of one exported resource: two where it has both a URI and a template, for a definition has one of them.
    pub(super) fn drafts(&mut self, resource: &Resource) -> Vec<Draft> {
        let both = [(resource.uri.as_ref(), false), (resource.template_uri.as_ref(), true)];
        let mut drafts = Vec::new();
        for (uri, is_template) in both {
            // A template that was entered as the URI too is a template.
            if uri.is_some() && (is_template || resource.uri != resource.template_uri) {
                drafts.push(self.draft(resource, uri, is_template));
            }
        }
        if drafts.is_empty() {
            let mut draft = self.draft(resource, None, false);
            draft.reasons.push("it has neither `uri` nor `template_uri`".to_owned());
            drafts.push(draft);
        }
        drafts
    }

    fn draft(&mut self, resource: &Resource, uri: Option<&String>, is_template: bool) -> Draft {
        let mut draft = Draft {
            place: resource.place.clone(),
            uri: uri.cloned(),
            is_template,
            kind: resource.data_source_type.clone().unwrap_or_default(),
            definition: Map::new(),
            text: None,
            file: None,
            reasons: Vec::new(),
            notes: Vec::new(),
            unknown: resource.unknown.clone(),
        };
        let described = [
            (if is_template { "uri_template" } else { "uri" }, uri),
            ("name", resource.name.as_ref()),
            ("title", resource.title.as_ref()),
            ("description", resource.description.as_ref()),
            ("mime_type", resource.mime_type.as_ref()),
        ];
        for (key, text) in described {
            if let Some(text) = text {
                draft.definition.insert(key.to_owned(), text.as_str().into());
            }
        }
        if let (Some(template), true) = (uri.and_then(|uri| Template::parse(uri).ok()), is_template) {
            let arguments: Map<String, Value> =
                template.variables().map(|variable| (variable.to_owned(), json!({}))).collect();
            draft.definition.insert("arguments".to_owned(), Value::Object(arguments));
        }
        match (draft.kind.as_str(), &resource.data_source_config) {
            (_, Err(config)) => {
                draft.reasons.push("`data_source_config` is no object, and no JSON of one".to_owned());
                draft.keep_source(config.clone());
            }
            ("static", Ok(config)) => self.static_(&mut draft, config.clone()),
            ("url", Ok(config)) => draft.url(config.clone()),
            ("wp_query", Ok(config)) => draft.wp_query(config.clone(), self.site.unwrap_or_default()),
            (kind, Ok(config)) => {
                draft.reasons.push(match kind {
                    "callback" => "a callback is PHP that runs inside WordPress; give what it returns an address of \
                                   the site, and fetch that with `url`"
                        .to_owned(),
                    "" => "it has no `data_source_type`".to_owned(),
                    kind => format!("the `data_source_type` `{kind}` is not known"),
                });
                draft.keep_source(Value::Object(config.clone()));
            }
        }
        draft
    }

    fn static_(&mut self, draft: &mut Draft, mut config: Map<String, Value>) {
        let text = match config.shift_remove("content") {
            Some(Value::String(text)) => text,
            content => {
                draft.reasons.push(match content {
                    None | Some(Value::Null) => "`content` is missing".to_owned(),
                    Some(_) => "`content` is no text".to_owned(),
                });
                config.extend(content.map(|content| ("content".to_owned(), content)));
                return draft.keep_source(Value::Object(config));
            }
        };
        if config.shift_remove("cache_ttl").is_some_and(|ttl| !is_empty(&ttl)) {
            draft.notes.push("`cache_ttl` says nothing of a text that is compiled in; left out".to_owned());
        }
        draft.refuse_settings(config);
        if draft.is_template && ["{{", "{%", "{#"].iter().any(|opening| text.contains(opening)) {
            let reason = "the text of a template is rendered at each read, and in this one `{{`, `{%` or `{#` would \
                          then mean something; write them as `{{ \"{{\" }}`";
            draft.reasons.push(reason.to_owned());
        }
        let mime_type = draft.definition.get("mime_type").and_then(Value::as_str);
        let extension = names::extension(mime_type);
        let source = if fits_a_file(&text, extension) && draft.reasons.is_empty() {
            let name = self.files.name(draft.uri.as_deref().unwrap_or_default(), extension);
            draft.file = Some(format!("files/{name}"));
            json!({ "file": format!("../files/{name}") })
        } else {
            json!({ "text": text })
        };
        draft.definition.insert("static".to_owned(), source);
        draft.text = Some(text);
    }
}

impl Draft {
    /// Adds a reason not to carry it over. Its definition then stands alone: no file belongs to a comment.
    pub(super) fn refuse(&mut self, reason: String) {
        self.reasons.push(reason);
        if self.file.take().is_some() {
            self.definition.insert("static".to_owned(), json!({ "text": self.text }));
        }
    }

    fn url(&mut self, mut config: Map<String, Value>) {
        let Some(url) = config.get("url").and_then(Value::as_str).map(str::to_owned) else {
            self.reasons.push("`url` is missing".to_owned());
            return self.keep_source(Value::Object(config));
        };
        config.shift_remove("url");
        let mut source = Map::new();
        // A `$` begins a variable of the environment, and a brace one of the template.
        let mut href = url.trim().replace('$', "$$");
        if !self.is_template {
            href = href.replace('{', "%7B").replace('}', "%7D");
        }
        source.insert("href".to_owned(), href.into());
        self.cache(&mut config, &mut source);
        self.refuse_settings(config);
        self.definition.insert("url".to_owned(), Value::Object(source));
    }

    fn wp_query(&mut self, mut config: Map<String, Value>, site: &str) {
        let mut source = Map::new();
        source.insert("site".to_owned(), site.into());
        self.cache(&mut config, &mut source);
        let (arguments, notes) = query::arguments(config);
        self.notes.extend(notes);
        if !arguments.is_empty() {
            let at = source.len().min(1);
            source.shift_insert(at, "query".to_owned(), Value::Object(arguments));
        }
        self.definition.insert("wp_query".to_owned(), Value::Object(source));
    }

    /// `cache_ttl`: seconds, 0 for no cache.
    fn cache(&mut self, config: &mut Map<String, Value>, source: &mut Map<String, Value>) {
        let Some(ttl) = config.shift_remove("cache_ttl").filter(|ttl| !is_empty(ttl)) else { return };
        let seconds = match &ttl {
            Value::String(text) => text.trim().parse().ok(),
            value => value.as_u64(),
        };
        match seconds {
            Some(0) => {}
            Some(seconds) => drop(source.insert("cache".to_owned(), json!({ "ttl": duration(seconds) }))),
            None => {
                self.reasons.push(format!("`cache_ttl` is {ttl}, which is no number of seconds"));
                self.unknown.insert("cache_ttl".to_owned(), ttl);
            }
        }
    }

    /// Settings of a source that are left: what they asked for is not known, so the answer could be another one.
    fn refuse_settings(&mut self, config: Map<String, Value>) {
        for (name, value) in config.into_iter().filter(|(_, value)| !is_empty(value)) {
            self.reasons.push(format!("the setting `{name}` of `{}` is not known", self.kind));
            self.unknown.insert(name, value);
        }
    }

    /// Keeps a source that no key of the content format stands for, as it is in the export.
    fn keep_source(&mut self, config: Value) {
        if !self.kind.is_empty() {
            self.definition.insert("data_source_type".to_owned(), self.kind.as_str().into());
        }
        self.definition.insert("data_source_config".to_owned(), config);
    }
}

/// Whether a file with this extension gives back the text byte for byte.
fn fits_a_file(text: &str, extension: &str) -> bool {
    let front_matter = extension == "md" && text.lines().next().is_some_and(|line| line.trim_end() == "---");
    !text.starts_with('\u{feff}') && !text.contains('\0') && !text.starts_with(LFS_POINTER) && !front_matter
}

/// Seconds in the largest unit that divides them.
fn duration(seconds: u64) -> String {
    let units = [("d", 86_400), ("h", 3_600), ("m", 60)];
    match units.iter().find(|(_, length)| seconds.is_multiple_of(*length)) {
        Some((unit, length)) => format!("{}{unit}", seconds / length),
        None => format!("{seconds}s"),
    }
}
