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
    definition::{PageDefinition, ResourceDefinition},
    described::{Described, check_uri},
    diagnostic::{Diagnostic, Position},
    files, front_matter, identity,
    scope::{Located, Scope, template_error},
    server::Server,
    static_source::{self, StaticKind},
    tree::Tree,
    url, wp_query,
    yaml::{self, Field, Mark, Node},
};

/// A text longer than this is cut off by many hosts.
const LONG_TEXT: usize = 100 * 1024;

/// An entry of a list, everything checked.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) uri: Uri,
    /// Where it is defined: the file, and the place of its URI there.
    pub(crate) path: String,
    pub(crate) position: Position,
    pub(crate) described: Described,
    pub(crate) name: String,
    pub(crate) ttl_ms: u64,
    pub(crate) body: Body<'a>,
}

/// What an entry is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Uri {
    Resource(String),
    Template(String),
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
        let Some((content, page, _)) = self.file_content(path, bytes, None) else { return };
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
        self.push_static(Uri::Resource(uri), path, position, described, content);
    }

    /// A file that defines entries.
    pub(crate) fn definition_file(&mut self, path: &str, bytes: &'a [u8]) {
        let Some(source) = content::as_text(bytes) else {
            self.diagnostics.push(Diagnostic::error(path, Position::START, "", "not a UTF-8 text"));
            return;
        };
        let node = match yaml::parse(path, source, 1) {
            Ok(Some(node)) => node,
            Ok(None) => {
                let hint = "write a definition, or remove the file";
                self.diagnostics
                    .push(Diagnostic::error(path, Position::START, "", "the definition file is empty").hint(hint));
                return;
            }
            Err(mut diagnostics) => return self.diagnostics.append(&mut diagnostics),
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
        let Some(definition) = yaml::read::<ResourceDefinition>(path, prefix, node, self.diagnostics) else { return };
        let faults = self.diagnostics.len();
        let names: Vec<String> = match definition.arguments.value() {
            Some(arguments) => arguments.0.iter().map(|(name, _)| name.clone()).collect(),
            None => Vec::new(),
        };
        let mut scope = self.scope(path, prefix, &names);
        let described = Described::of_definition(&definition, &mut scope);
        let uri = identity::uri(&definition, node.mark, &mut scope);
        let arguments = identity::arguments(&definition, &mut scope);
        match (&definition.static_, &definition.url, &definition.wp_query) {
            (Field::Given(static_, mark), Field::Absent, Field::Absent) => match uri {
                Some((Uri::Template(uri), mark_of_uri)) => {
                    let source = static_source::template(static_, *mark, &mut scope);
                    let (Some(template), Some(arguments)) = (source, arguments) else { return };
                    if self.diagnostics.len() == faults {
                        let mut described = described;
                        let mut variables = Map::new();
                        if template.name != path {
                            let Some(page) = self.template_page(&template.name) else { return };
                            variables = page.variables;
                            described = described.or(Described { uri: None, ..page.described });
                            described.mime_type = described.mime_type.or(guessed(&template.name));
                        }
                        let source = Source::Static(template);
                        self.live(path, (Uri::Template(uri), mark_of_uri), described, &variables, arguments, source);
                    }
                }
                Some((Uri::Resource(_), _)) => {
                    self.static_(path, prefix, &definition, described);
                }
                None => {}
            },
            (Field::Absent, Field::Given(url, mark), Field::Absent) => {
                let source = url::lower(url, *mark, &self.server.fetch, &mut self.scope(path, prefix, &names));
                let (Some(source), Some((uri, mark)), Some(arguments)) = (source, uri, arguments) else { return };
                if self.diagnostics.len() == faults {
                    self.live(path, (uri, mark), described, &Map::new(), arguments, Source::Url(Box::new(source)));
                }
            }
            (Field::Absent, Field::Absent, Field::Given(query, mark)) => {
                let (mime_type, fetch) = (described.mime_type.as_deref(), &self.server.fetch);
                let source = wp_query::lower(query, *mark, mime_type, fetch, &mut self.scope(path, prefix, &names));
                let (Some(source), Some((uri, mark)), Some(arguments)) = (source, uri, arguments) else { return };
                if self.diagnostics.len() == faults {
                    self.live(path, (uri, mark), described, &Map::new(), arguments, Source::WpQuery(Box::new(source)));
                }
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
            }
        }
    }

    /// A definition with `uri` and `static`.
    fn static_(&mut self, path: &str, prefix: &str, definition: &ResourceDefinition, described: Described) {
        let (Some((uri, mark_of_uri)), Some((static_, mark))) = (definition.uri.given(), definition.static_.given())
        else {
            return;
        };
        let tree = self.tree;
        let render = static_.render.value().copied().unwrap_or(false);
        let mut scope = self.scope(path, prefix, &[]);
        match static_source::kind(static_, mark, &mut scope) {
            Some(StaticKind::Text(text, mark)) => {
                if !check_uri(uri, mark_of_uri, &mut scope) {
                    return;
                }
                let located = Located { path: path.to_owned(), start: mark.content, text: text.to_owned() };
                let mime_type = described.mime_type.clone().unwrap_or_else(|| "text/plain".to_owned());
                let text = match render {
                    true => {
                        let Some(text) = self.render(&located, uri, &described, &Map::new()) else { return };
                        text
                    }
                    false => located.text,
                };
                let payload = match media_type::is_text(&mime_type) {
                    true => Payload::Text(Cow::Owned(text)),
                    false => Payload::Blob(Cow::Owned(text.into_bytes())),
                };
                let content = Content { mime_type, payload };
                self.push_static(Uri::Resource(uri.clone()), path, mark_of_uri.position, described, content);
            }
            Some(StaticKind::File(file, mark)) => {
                if !check_uri(uri, mark_of_uri, &mut scope) {
                    return;
                }
                match tree.find(path, file) {
                    Ok((file, bytes)) => {
                        let rendered = render.then_some((uri.as_str(), mark));
                        self.defined_file(path, &file, bytes, uri, mark_of_uri, described, rendered);
                    }
                    Err((message, hint)) => {
                        self.scope(path, prefix, &[]).error(mark, "static.file", message).with_hint(&hint);
                    }
                }
            }
            Some(StaticKind::Files(glob, mark)) => {
                if !uri.contains("{path}") {
                    scope
                        .error(mark_of_uri, "uri", "with `files`, the URI must contain `{path}`")
                        .with_hint("for example `docs://handbook/{path}`");
                    return;
                }
                let Some(matches) = files::matching(tree, glob, mark, &mut scope) else { return };
                for file in matches {
                    let uri = fill_path(uri, &file.below);
                    if !check_uri(&uri, mark_of_uri, &mut self.scope(path, prefix, &[])) {
                        return;
                    }
                    let filled = described.clone().with_path(page_path(&file.below));
                    let rendered = render.then_some((uri.as_str(), mark));
                    self.defined_file(path, &file.path, file.bytes, &uri, mark_of_uri, filled, rendered);
                }
            }
            None => {}
        }
    }

    /// A file that a definition names. `rendered` holds its URI and the place that asks for rendering.
    #[expect(clippy::too_many_arguments, reason = "both kinds of definition that name files come together here")]
    fn defined_file(
        &mut self,
        path: &str,
        file: &str,
        bytes: &'a [u8],
        uri: &str,
        mark: Mark,
        described: Described,
        rendered: Option<(&str, Mark)>,
    ) {
        let Some((mut content, page, located)) = self.file_content(file, bytes, described.mime_type.as_deref()) else {
            return;
        };
        let variables = page.as_ref().map(|page| page.variables.clone()).unwrap_or_default();
        let described = match page {
            Some(page) => described.or(Described { uri: None, ..page.described }),
            None => described,
        };
        if let Some((_, asked)) = rendered {
            match located {
                Some(located) => {
                    let Some(text) = self.render(&located, uri, &described, &variables) else { return };
                    content.payload = Payload::Text(Cow::Owned(text));
                }
                None => {
                    let message = format!("`{file}` is binary ({}) and cannot be rendered", content.mime_type);
                    self.diagnostics.push(Diagnostic::error(path, asked.position, "static.render", message));
                    return;
                }
            }
        }
        self.push_static(Uri::Resource(uri.to_owned()), path, mark.position, described, content);
    }

    /// What a file holds, with its front matter, and (for text) where its text stands.
    fn file_content(
        &mut self,
        path: &str,
        bytes: &'a [u8],
        defined: Option<&str>,
    ) -> Option<(Content<'a>, Option<Page<'a>>, Option<Located>)> {
        let text = content::as_text(bytes);
        let page = match text {
            Some(text) => self.page(path, text)?,
            None => None,
        };
        let from_page = page.as_ref().and_then(|page| page.described.mime_type.clone());
        let known = defined.map(str::to_owned).or(from_page).or(guessed(path));
        let textual = known.as_deref().is_none_or(media_type::is_text);
        match text {
            Some(text) if textual => {
                let body = page.as_ref().map_or(front_matter::Part { text, first_line: 1 }, |page| page.body);
                if content::mixes_line_ends(text) {
                    let message = "the file mixes LF and CRLF line ends";
                    self.diagnostics
                        .push(Diagnostic::warning(path, Position::START, message).hint("save it with one of them"));
                }
                let start = Position { line: body.first_line, column: 1 };
                let located = Located { path: path.to_owned(), start, text: body.text.to_owned() };
                let mime_type = known.unwrap_or_else(|| "text/plain".to_owned());
                Some((Content { mime_type, payload: Payload::Text(Cow::Borrowed(body.text)) }, page, Some(located)))
            }
            _ => {
                if let (Some(mime_type), None, true) = (&known, text, textual) {
                    let message =
                        format!("`{mime_type}` is a text type, but the file is not UTF-8, so it is served as blob");
                    self.diagnostics.push(Diagnostic::warning(path, Position::START, message).hint("save it as UTF-8"));
                }
                let mime_type = known.unwrap_or_else(|| "application/octet-stream".to_owned());
                Some((Content { mime_type, payload: Payload::Blob(Cow::Borrowed(bytes)) }, page, None))
            }
        }
    }

    /// The front matter of a Markdown file. `None` if it is wrong; `Some(None)` if there is none.
    fn page(&mut self, path: &str, text: &'a str) -> Option<Option<Page<'a>>> {
        self.diagnostics.extend(front_matter::unclosed(path, text));
        let (Some(part), body) = front_matter::split(path, text) else { return Some(None) };
        let node = match yaml::parse(path, part.text, part.first_line) {
            Ok(Some(node)) => node,
            Ok(None) => {
                return Some(Some(Page { described: Described::default(), variables: Map::new(), body }));
            }
            Err(mut diagnostics) => {
                self.diagnostics.append(&mut diagnostics);
                return None;
            }
        };
        let Value::Object(variables) = yaml::free_form(&node) else {
            let message = "front matter must be a mapping of keys and values";
            let hint = "to begin a page with a rule, write `***`";
            self.diagnostics.push(Diagnostic::error(path, node.mark.position, "", message).hint(hint));
            return None;
        };
        let definition = yaml::read::<PageDefinition>(path, "", &node, self.diagnostics)?;
        let described = Described::of_page(&definition, &mut self.scope(path, "", &[]));
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
        page: &Map<String, Value>,
    ) -> Option<String> {
        let name = described.name.clone().unwrap_or_else(|| after_scheme(uri).to_owned());
        let mut context = self.context(&name, described, page);
        context["resource"]["uri"] = uri.into();
        let rendered = self
            .environment
            .template_from_named_str(&located.path, &located.text)
            .and_then(|template| template.render(minijinja::value::Serde(&context)));
        rendered.map_err(|error| self.diagnostics.push(template_error(&error, located))).ok()
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
            name,
            ttl_ms: described.ttl_ms.unwrap_or(default_ttl),
            described: Described { mime_type: definition.mime_type.clone(), ..described },
            body: Body::Live(Box::new(definition)),
        });
    }

    fn push_static(
        &mut self,
        uri: Uri,
        path: &str,
        position: Position,
        mut described: Described,
        content: Content<'a>,
    ) {
        if let Payload::Text(text) = &content.payload {
            if text.len() > LONG_TEXT {
                let message = format!("a text of {} KB; many hosts cut off what is over 100 KB", text.len() / 1024);
                let hint = "split it into several resources";
                self.diagnostics.push(Diagnostic::warning(path, position, message).hint(hint));
            }
            if described.title.is_none() && content::is_markdown(&content.mime_type) {
                described.title = content::first_heading(text);
            }
        }
        let (Uri::Resource(text) | Uri::Template(text)) = &uri;
        self.entries.push(Entry {
            name: described.name.clone().unwrap_or_else(|| after_scheme(text).to_owned()),
            uri,
            path: path.to_owned(),
            position,
            ttl_ms: described.ttl_ms.unwrap_or(self.server.ttl_ms),
            described: Described { mime_type: Some(content.mime_type.clone()), ..described },
            body: Body::Static(content),
        });
    }

    fn scope<'s>(&'s mut self, path: &'s str, prefix: &'s str, arguments: &'s [String]) -> Scope<'s> {
        Scope {
            tree: self.tree,
            path,
            prefix,
            arguments,
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
