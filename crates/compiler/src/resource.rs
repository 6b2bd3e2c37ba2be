//! One file below `resources/`, lowered to entries: a plain file to one, a definition file to one or many.

use std::{borrow::Cow, collections::BTreeMap};

use mcpress_catalog::{
    media_type,
    source::{Argument, Definition, Source},
    uri::encode_path,
};
use minijinja::Environment;
use serde_json::{Map, Value, json};

use crate::{
    content::{self, Content, Payload},
    definition::{PageDefinition, ResourceDefinition, StaticDefinition},
    described::{Described, check_uri},
    diagnostic::{Diagnostic, Position},
    files, front_matter,
    identity::{self, Uri},
    names,
    scope::{Located, Scope, template_error},
    server::Server,
    static_source::{self, StaticKind},
    tree::Tree,
    url, wp_query,
    yaml::{self, Field, Mark, Node, NotYaml},
};

/// What to do with a file in a folder whose name begins with `_`.
const PRIVATE: &str = "a file or folder whose name begins with `_` is never content; move or rename it";

/// A text longer than this is cut off by many hosts.
const LONG_TEXT: usize = 100 * 1024;

/// An entry of a list, everything checked.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) uri: Uri,
    /// Where it is defined: the file, and the place of its URI there.
    pub(crate) path: String,
    pub(crate) position: Position,
    /// The file that holds its content, which may be another.
    pub(crate) file: String,
    pub(crate) described: Described,
    pub(crate) name: String,
    pub(crate) ttl_ms: u64,
    pub(crate) body: Body<'a>,
}

/// What a read of an entry gives.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    Static(Content<'a>),
    Live(Box<Definition>),
}

/// Lowers the files of one server.
pub(crate) struct Lowering<'a, 'd> {
    pub(crate) tree: &'a Tree,
    pub(crate) server: &'d Server,
    pub(crate) environment: &'d Environment<'static>,
    pub(crate) diagnostics: &'d mut Vec<Diagnostic>,
    pub(crate) entries: Vec<Entry<'a>>,
}

/// The definition that is being lowered: its file, what stands before its fields, and its arguments.
#[derive(Clone, Copy)]
struct At<'d> {
    path: &'d str,
    prefix: &'d str,
    arguments: &'d [String],
}

/// Where an entry is defined, and the file that holds its content.
#[derive(Clone, Copy)]
struct Place<'d> {
    path: &'d str,
    position: Position,
    file: &'d str,
}

/// A file that a definition names.
#[derive(Clone, Copy)]
struct FoundFile<'d, 'a> {
    path: &'d str,
    bytes: &'a [u8],
}

/// What a file holds.
struct FileContent<'a> {
    content: Content<'a>,
    page: Option<Page<'a>>,
    /// Its text, unless it is binary.
    text: Option<Located>,
}

/// The front matter of a Markdown text, and the text below it.
struct Page<'a> {
    described: Described,
    variables: Map<String, Value>,
    body: front_matter::Part<'a>,
}

impl<'a> Lowering<'a, '_> {
    /// A file that is content itself. `below` is its path below `resources/`.
    pub(crate) fn plain_file(&mut self, path: &str, below: &str, bytes: &'a [u8]) {
        let name = page_path(below);
        let mut described = Described { name: Some(name.to_owned()), ..Described::default() };
        let derived = if below == "index.md" { self.server.index_uri() } else { self.server.uri_of(name) };
        let Some(FileContent { content, page, .. }) = self.file_content(path, bytes, None) else { return };
        if let Some(page) = page {
            described = Described { name: page.described.name.clone().or(described.name), ..page.described };
        }
        let (uri, position) = match described.uri.take() {
            Some((uri, mark)) => (uri, mark.position),
            None => (derived, Position::START),
        };
        if let Err(reason) = mcpress_catalog::uri::check(&uri) {
            let message = format!("its URI `{uri}` would not be valid: {reason}");
            let hint = "rename the file, or end `uri_prefix` with a `/` so that the path is no host";
            self.diagnostics.push(Diagnostic::error(path, Position::START, "", message).hint(hint));
            return;
        }
        if names::is_definition_in_capitals(path) {
            let message = format!("it defines nothing, for its name ends in capitals, and is served as `{uri}`");
            let hint = "the name of a definition ends in `.yaml` or `.yml`: rename it";
            self.diagnostics.push(Diagnostic::warning(path, Position::START, message).hint(hint));
        }
        self.warn_of_leftover(path, &uri);
        self.push_static(uri, Place { path, position, file: path }, described, content);
    }

    /// Warns of a file that nobody named, and that is served all the same.
    fn warn_of_leftover(&mut self, path: &str, uri: &str) {
        let Some(what) = names::leftover(path) else { return };
        let message = format!("by its name {what}, and served as `{uri}`");
        let hint = "remove it; to publish it all the same, rename it, or name it with `static: {file: …}`";
        self.diagnostics.push(Diagnostic::warning(path, Position::START, message).hint(hint));
    }

    /// A file that defines entries.
    pub(crate) fn definition_file(&mut self, path: &str, bytes: &'a [u8]) {
        let Some(source) = content::as_text(bytes) else {
            self.diagnostics.push(Diagnostic::error(path, Position::START, "", "not a UTF-8 text"));
            return;
        };
        let node = match yaml::parse(path, source, 1, self.diagnostics) {
            Ok(Some(node)) => node,
            Ok(None) => {
                let hint = "write a definition, or remove the file";
                self.diagnostics
                    .push(Diagnostic::error(path, Position::START, "", "the definition file is empty").hint(hint));
                return;
            }
            Err(NotYaml) => return,
        };
        match &node.value {
            yaml::Value::Sequence(nodes) if nodes.is_empty() => {
                let hint = "write a definition, or remove the file";
                let position = node.mark.position;
                self.diagnostics.push(Diagnostic::error(path, position, "", "the list holds no definition").hint(hint));
            }
            yaml::Value::Sequence(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    self.definition(path, &format!("[{index}]"), node);
                }
            }
            _ => self.definition(path, "", &node),
        }
    }

    fn definition(&mut self, path: &str, prefix: &str, node: &Node) {
        let faults = self.diagnostics.len();
        let Some(definition) = yaml::read::<ResourceDefinition>(path, prefix, node, self.diagnostics) else { return };
        let names: Vec<String> = match definition.arguments.value() {
            Some(arguments) => arguments.0.iter().map(|(name, _)| name.clone()).collect(),
            None => Vec::new(),
        };
        let at = At { path, prefix, arguments: &names };
        let mut scope = self.scope(at);
        let described = Described::of_definition(&definition, &mut scope);
        let uri = identity::uri(&definition, node.mark, &mut scope);
        let arguments = identity::arguments(&definition, &mut scope);
        let (mut described, mut variables) = (described, Map::new());
        let source = match (&definition.static_, &definition.url, &definition.wp_query) {
            (Field::Given(static_, mark), Field::Absent, Field::Absent) if definition.uri_template.is_absent() => {
                let uri = uri.map(|(_, mark)| mark);
                return self.static_(at, &definition, (static_, *mark), described, uri);
            }
            (Field::Given(static_, mark), Field::Absent, Field::Absent) => {
                let template = static_source::template(static_, *mark, &mut scope);
                if let Some(template) = template.as_ref().filter(|template| template.name != path) {
                    let Some(page) = self.template_page(&template.name) else { return };
                    variables = page.variables;
                    described = described.or(Described { uri: None, ..page.described });
                    described.mime_type = described.mime_type.or(guessed(&template.name));
                }
                template.map(Source::Static)
            }
            (Field::Absent, Field::Given(url, mark), Field::Absent) => {
                let source = url::lower(url, *mark, &self.server.fetch, &mut self.scope(at));
                source.map(|source| Source::Url(Box::new(source)))
            }
            (Field::Absent, Field::Absent, Field::Given(query, mark)) => {
                let (mime_type, fetch) = (described.mime_type.as_deref(), &self.server.fetch);
                let source = wp_query::lower(query, *mark, mime_type, fetch, &mut self.scope(at));
                source.map(|source| Source::WpQuery(Box::new(source)))
            }
            (static_, url, query) => {
                let sources = [!static_.is_absent(), !url.is_absent(), !query.is_absent()];
                match sources.iter().filter(|given| **given).count() {
                    0 => scope
                        .error(node.mark, "", "no source of content")
                        .with_hint("give one of `static`, `url` and `wp_query`"),
                    1 => {}
                    _ => scope.error(node.mark, "", "more than one source of content").with_hint(
                        "keep one of `static`, `url` and `wp_query`; several resources are several definitions",
                    ),
                }
                return;
            }
        };
        if let (Some(uri), Some(arguments), Some(source)) = (uri, arguments, source)
            && self.diagnostics.len() == faults
        {
            self.live(path, uri, described, &variables, arguments, source);
        }
    }

    /// A definition with `uri` and `static`. `uri` is the place of its URI, if that is sound.
    fn static_(
        &mut self,
        at: At<'_>,
        definition: &ResourceDefinition,
        (static_, mark): (&StaticDefinition, Mark),
        described: Described,
        uri: Option<Mark>,
    ) {
        let written = definition.uri.value().map(String::as_str).unwrap_or_default();
        let render = static_.render.given().filter(|(render, _)| **render).map(|(_, mark)| mark);
        match static_source::kind(static_, mark, &mut self.scope(at)) {
            Some(StaticKind::Text(text, mark)) => {
                let located = self.scope(at).inline(text, mark, "static.text");
                let mime_type = described.mime_type.clone().unwrap_or_else(|| "text/plain".to_owned());
                let text = match render {
                    Some(_) => self.render(&located, written, &described, &mime_type, &Map::new()),
                    None => Some(located.text),
                };
                let (Some(text), Some(mark)) = (text, uri) else { return };
                let payload = match media_type::is_text(&mime_type) {
                    true => Payload::Text(Cow::Owned(text)),
                    false => Payload::Blob(Cow::Owned(text.into_bytes())),
                };
                let place = Place { path: at.path, position: mark.position, file: at.path };
                self.push_static(written.to_owned(), place, described, Content { mime_type, payload });
            }
            Some(StaticKind::File(file, mark)) => match self.tree.find(at.path, file) {
                Ok((path, _)) if is_private(&path) => {
                    self.scope(at).error(mark, "static.file", format!("`{file}` is never content")).with_hint(PRIVATE);
                }
                Ok((path, bytes)) => {
                    let file = FoundFile { path: &path, bytes };
                    self.defined_file(at, file, (written, uri), described, render);
                }
                Err((message, hint)) => {
                    self.scope(at).error(mark, "static.file", message).with_hint(&hint);
                }
            },
            Some(StaticKind::Files(glob, mark)) => {
                let has_path = written.contains("{path}");
                if let Some(mark) = uri.filter(|_| !has_path) {
                    self.scope(at)
                        .error(mark, "uri", "with `files`, the URI must contain `{path}`")
                        .with_hint("for example `docs://handbook/{path}`");
                }
                let Some(matches) = files::matching(self.tree, glob, mark, &mut self.scope(at)) else { return };
                for file in matches {
                    let filled = fill_path(written, &file.below);
                    let uri = uri.filter(|mark| has_path && check_uri(&filled, *mark, &mut self.scope(at)));
                    let described = described.clone().with_path(page_path(&file.below));
                    self.warn_of_leftover(&file.path, &filled);
                    let file = FoundFile { path: &file.path, bytes: file.bytes };
                    self.defined_file(at, file, (&filled, uri), described, render);
                }
            }
            None => {}
        }
    }

    /// A file that a definition names. `render` is the place that asks for rendering, if one does.
    fn defined_file(
        &mut self,
        at: At<'_>,
        file: FoundFile<'_, 'a>,
        (written, uri): (&str, Option<Mark>),
        described: Described,
        render: Option<Mark>,
    ) {
        let content = self.file_content(file.path, file.bytes, described.mime_type.as_deref());
        let Some(FileContent { mut content, page, text }) = content else { return };
        let (variables, described) = match page {
            Some(page) => (page.variables, described.or(Described { uri: None, ..page.described })),
            None => (Map::new(), described),
        };
        match (render, text) {
            (None, _) => {}
            (Some(_), Some(located)) => {
                let rendered = self.render(&located, written, &described, &content.mime_type, &variables);
                let Some(text) = rendered else { return };
                content.payload = Payload::Text(Cow::Owned(text));
            }
            (Some(mark), None) => {
                let message = format!("`{}` is binary ({}) and cannot be rendered", file.path, content.mime_type);
                self.scope(at).error(mark, "static.render", message).with_hint("remove `render`");
                return;
            }
        }
        if let Some(mark) = uri {
            let place = Place { path: at.path, position: mark.position, file: file.path };
            self.push_static(written.to_owned(), place, described, content);
        }
    }

    /// What a file holds, with its front matter.
    fn file_content(&mut self, path: &str, bytes: &'a [u8], defined: Option<&str>) -> Option<FileContent<'a>> {
        let text = content::as_text(bytes);
        let page = match text {
            Some(text) => self.page(path, text)?,
            None => None,
        };
        let from_page = page.as_ref().and_then(|page| page.described.mime_type.clone());
        let known = defined.map(str::to_owned).or(from_page).or(guessed(path));
        let textual = known.as_deref().is_none_or(media_type::is_text);
        let body = page.as_ref().map(|page| page.body);
        if let Some(text) = text.filter(|_| textual) {
            if let Some(line) = content::first_odd_line_end(text) {
                let message = "the file mixes LF and CRLF line ends";
                let hint = "its line ends change in this line; save it with one kind";
                self.diagnostics.push(Diagnostic::warning(path, Position { line, column: 1 }, message).hint(hint));
            }
            let body = body.unwrap_or(front_matter::Part { text, first_line: 1 });
            let mime_type = known.unwrap_or_else(|| "text/plain".to_owned());
            let content = Content { mime_type, payload: Payload::Text(Cow::Borrowed(body.text)) };
            return Some(FileContent { content, page, text: Some(Located::file(path.to_owned(), body)) });
        }
        if let (Some(mime_type), None, true) = (&known, text, textual) {
            let (reason, hint) = match bytes.contains(&0) {
                true => ("holds NUL bytes", "remove them, or give it a `mime_type` that is no text"),
                false => ("is not UTF-8", "save it as UTF-8"),
            };
            let message = format!("`{mime_type}` is a text type, but the file {reason}, so it is served as blob");
            self.diagnostics.push(Diagnostic::warning(path, Position::START, message).hint(hint));
        }
        let mime_type = known.unwrap_or_else(|| "application/octet-stream".to_owned());
        let bytes = body.map_or(bytes, |body| body.text.as_bytes());
        Some(FileContent {
            content: Content { mime_type, payload: Payload::Blob(Cow::Borrowed(bytes)) },
            page,
            text: None,
        })
    }

    /// The front matter of a Markdown file. `None` if it is wrong; `Some(None)` if there is none.
    fn page(&mut self, path: &str, text: &'a str) -> Option<Option<Page<'a>>> {
        self.diagnostics.extend(front_matter::unclosed(path, text));
        let (Some(part), body) = front_matter::split(path, text) else { return Some(None) };
        let node = match yaml::parse(path, part.text, part.first_line, self.diagnostics) {
            Ok(Some(node)) => node,
            Ok(None) => {
                return Some(Some(Page { described: Described::default(), variables: Map::new(), body }));
            }
            Err(NotYaml) => return None,
        };
        let Value::Object(variables) = yaml::free_form(&node) else {
            let message = "front matter must be a mapping of keys and values";
            let hint = "to begin a page with a rule, write `***`";
            self.diagnostics.push(Diagnostic::error(path, node.mark.position, "", message).hint(hint));
            return None;
        };
        let definition = yaml::read::<PageDefinition>(path, "", &node, self.diagnostics)?;
        let at = At { path, prefix: "", arguments: &[] };
        let described = Described::of_page(&definition, &mut self.scope(at));
        Some(Some(Page { described, variables, body }))
    }

    /// The front matter of the file that holds a template.
    fn template_page(&mut self, file: &str) -> Option<Page<'a>> {
        let tree = self.tree;
        let text = tree.get(file).and_then(content::as_text).unwrap_or_default();
        let body = front_matter::Part { text, first_line: 1 };
        let none = Page { described: Described::default(), variables: Map::new(), body };
        self.page(file, text).map(|page| page.unwrap_or(none))
    }

    /// Renders a text at build time.
    fn render(
        &mut self,
        located: &Located,
        uri: &str,
        described: &Described,
        mime_type: &str,
        page: &Map<String, Value>,
    ) -> Option<String> {
        let name = described.name.clone().unwrap_or_else(|| after_scheme(uri).to_owned());
        let mut described = Described { title: described.title.clone(), ..Described::default() };
        if described.title.is_none() && content::is_markdown(mime_type) {
            // A heading that is a template itself cannot be known before it is rendered.
            described.title = content::first_heading(&located.text).filter(|heading| !heading.contains("{{"));
        }
        let mut context = self.context(&name, &described, page);
        context["resource"]["uri"] = uri.into();
        let template = self.environment.template_from_named_str(&located.path, &located.text);
        let rendered = template.and_then(|template| template.render(minijinja::value::Serde(&context)));
        let report = |error| self.diagnostics.push(template_error(&error, located, &context, self.tree));
        rendered.map_err(report).ok()
    }

    /// What templates see, but for the URI.
    fn context(&self, name: &str, described: &Described, page: &Map<String, Value>) -> Value {
        let title = described.title.as_deref().unwrap_or(name);
        json!({
            "vars": self.server.variables,
            "server": self.server.context(),
            "resource": { "name": name, "title": title },
            "page": page,
        })
    }

    fn live(
        &mut self,
        path: &str,
        (uri, mark): (Uri, Mark),
        described: Described,
        page: &Map<String, Value>,
        arguments: BTreeMap<String, Argument>,
        source: Source,
    ) {
        let (Uri::Resource(text) | Uri::Template(text)) = &uri;
        let name = described.name.clone().unwrap_or_else(|| after_scheme(text).to_owned());
        let Value::Object(context) = self.context(&name, &described, page) else { return };
        let default_type = matches!(source, Source::Static(_)).then(|| "text/plain".to_owned());
        let definition = Definition {
            uri: text.clone(),
            place: format!("{path}:{}", mark.position.line),
            mime_type: described.mime_type.clone().or(default_type),
            meta: described.meta.clone(),
            arguments,
            context,
            source,
        };
        let default_ttl = match &definition.source {
            Source::Static(_) => self.server.ttl_ms,
            Source::Url(url) => url.fetch.cache.map_or(0, |cache| cache.ttl_ms),
            Source::WpQuery(query) => query.fetch.cache.map_or(0, |cache| cache.ttl_ms),
        };
        self.entries.push(Entry {
            uri,
            path: path.to_owned(),
            position: mark.position,
            file: path.to_owned(),
            name,
            ttl_ms: described.ttl_ms.unwrap_or(default_ttl),
            described: Described { mime_type: definition.mime_type.clone(), ..described },
            body: Body::Live(Box::new(definition)),
        });
    }

    fn push_static(&mut self, uri: String, place: Place<'_>, mut described: Described, content: Content<'a>) {
        if let Payload::Text(text) = &content.payload {
            if text.len() > LONG_TEXT {
                let position = if place.file == place.path { place.position } else { Position::START };
                let message = format!("a text of {} KB; many hosts cut off what is over 100 KB", text.len() / 1024);
                let hint = "split it into several resources";
                self.diagnostics.push(Diagnostic::warning(place.file, position, message).hint(hint));
            }
            if described.title.is_none() && content::is_markdown(&content.mime_type) {
                described.title = content::first_heading(text);
            }
        }
        self.entries.push(Entry {
            name: described.name.clone().unwrap_or_else(|| after_scheme(&uri).to_owned()),
            uri: Uri::Resource(uri),
            path: place.path.to_owned(),
            position: place.position,
            file: place.file.to_owned(),
            ttl_ms: described.ttl_ms.unwrap_or(self.server.ttl_ms),
            described: Described { mime_type: Some(content.mime_type.clone()), ..described },
            body: Body::Static(content),
        });
    }

    fn scope<'s>(&'s mut self, at: At<'s>) -> Scope<'s> {
        Scope {
            tree: self.tree,
            path: at.path,
            prefix: at.prefix,
            arguments: at.arguments,
            variables: &self.server.variables,
            environment: self.environment,
            diagnostics: self.diagnostics,
        }
    }
}

impl Described {
    /// The same with `{path}` filled in, unencoded.
    fn with_path(self, path: &str) -> Self {
        let fill = |text: Option<String>| text.map(|text| text.replace("{path}", path));
        Self { name: fill(self.name), title: fill(self.title), description: fill(self.description), ..self }
    }
}

fn is_private(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('_'))
}

/// A path without `.md`, and without a last part `index.md`.
fn page_path(path: &str) -> &str {
    let page = path.strip_suffix(".md").unwrap_or(path);
    match page.strip_suffix("/index") {
        Some(folder) if page.len() < path.len() => folder,
        _ => page,
    }
}

/// A URI with `{path}` filled in. `index.md` at the top stands for its folder, as it does for plain files.
fn fill_path(uri: &str, below: &str) -> String {
    if below == "index.md" {
        let folder = uri.replace("/{path}", "");
        if !folder.contains("{path}") && !folder.ends_with(['/', ':']) {
            return folder;
        }
    }
    let mut encoded = String::new();
    encode_path(&mut encoded, page_path(below));
    uri.replace("{path}", &encoded)
}

fn guessed(path: &str) -> Option<String> {
    content::guess_mime_type(path).map(str::to_owned)
}

fn after_scheme(uri: &str) -> &str {
    let rest = uri.split_once(':').map_or(uri, |(_, rest)| rest);
    rest.strip_prefix("//").unwrap_or(rest)
}
