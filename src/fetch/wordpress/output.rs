//! What becomes of posts: an array of objects, one Markdown document, or what a template makes of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcpress_catalog::source::{Definition, Format, Html, OutputField, PostField, WpQuery};
use minijinja::{Environment, Value as Context, context, value::Serde};
use serde_json::{Map, Value};

use super::{
    super::{EntryError, Fetched, Payload, client::Client, error::FetchError, html},
    posts::Found,
    site::{Parameters, Site, pair},
    slug,
};

/// How the contents of an entry are made.
pub(super) struct Output {
    fields: Vec<OutputField>,
    format: Format,
    mime_type: Option<String>,
    /// Environment and name of the template.
    template: Option<(Environment<'static>, String)>,
    vars: Context,
}

/// Posts with all that the contents are made of.
pub(super) struct Material {
    found: Found,
    /// The names of categories and tags.
    names: HashMap<u64, String>,
}

impl Output {
    pub(super) fn new(
        definition: &Definition,
        query: &WpQuery,
        environment: &Environment<'static>,
    ) -> Result<Self, EntryError> {
        let template = match &query.template {
            Some(template) => {
                let mut environment = environment.clone();
                let added = environment.add_template_owned(template.name.clone(), template.source.clone());
                added.map_err(|error| EntryError::Invalid(error.to_string()))?;
                Some((environment, template.name.clone()))
            }
            None => None,
        };
        Ok(Self {
            fields: query.fields.clone(),
            format: query.format,
            mime_type: definition.mime_type.clone(),
            template,
            vars: Context::from(Serde(definition.context.get("vars"))),
        })
    }

    /// The parameters that ask for what is needed of each post, and for no more.
    pub(super) fn parameters(&self) -> Parameters {
        let mut fields: Vec<&str> = vec!["id", "sticky"];
        let mut embedded = Vec::new();
        for OutputField { field, .. } in &self.fields {
            match field {
                PostField::Author => embedded.push("author"),
                PostField::FeaturedImage => embedded.push("wp:featuredmedia"),
                // Links in it are relative to the address of the post.
                PostField::Content => fields.extend(["content", "link"]),
                _ => fields.push(rest_field(field)),
            }
        }
        for protected in ["content", "excerpt"] {
            if !fields.contains(&protected) {
                fields.push(if protected == "content" { "content.protected" } else { "excerpt.protected" });
            }
        }
        if !embedded.is_empty() {
            // Without these two, nothing is embedded.
            fields.extend(["_links", "_embedded"]);
        }
        let mut seen = HashSet::new();
        fields.retain(|field| seen.insert(*field));
        let mut parameters = vec![pair("_fields", fields.join(","))];
        if !embedded.is_empty() {
            parameters.push(pair("_embed", embedded.join(",")));
        }
        parameters
    }

    /// Looks up the names of terms: embedded, there would be ten of them at most.
    pub(super) async fn complete(&self, site: &Site, client: &Client, found: Found) -> Result<Material, FetchError> {
        let mut names = HashMap::new();
        for (field, member, taxonomy) in
            [(PostField::Categories, "categories", "category"), (PostField::Tags, "tags", "post_tag")]
        {
            let lists = found.posts.iter().filter_map(|post| post[member].as_array());
            let mut ids: Vec<u64> = lists.flatten().filter_map(Value::as_u64).collect();
            if ids.is_empty() || !self.fields.iter().any(|output| output.field == field) {
                continue;
            }
            ids.sort_unstable();
            ids.dedup();
            let taxonomy = site.taxonomy(client, taxonomy).await?;
            names.extend(site.names(client, &taxonomy, &ids).await?);
        }
        Ok(Material { found, names })
    }

    /// Makes the contents. May take long: it reads what anybody wrote.
    pub(super) fn contents(
        &self,
        material: &Material,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Fetched, FetchError> {
        let Found { posts, total, left_out } = &material.found;
        let posts = posts.iter().map(|post| self.item(post, &material.names));
        let posts: Vec<Map<String, Value>> = posts.collect::<Result<_, _>>()?;
        let (text, mime_type) = match (&self.template, self.format) {
            (Some((environment, name)), _) => {
                let context = context! {
                    posts => Context::from(Serde(&posts)), total, args => arguments, vars => self.vars.clone()
                };
                let rendered = environment.get_template(name).and_then(|template| template.render(context));
                let text = rendered.map_err(|error| {
                    let place = format!("{}:{}", error.name().unwrap_or(name), error.line().unwrap_or_default());
                    FetchError::failed("the template of this resource failed").because(format!("{place}: {error}"))
                })?;
                (text, "text/plain")
            }
            (None, Format::Json) => {
                let text = serde_json::to_string(&posts)
                    .map_err(|error| FetchError::failed("the posts could not be written as JSON").because(error))?;
                (text, "application/json")
            }
            (None, Format::Markdown) => (self.document(&posts), "text/markdown"),
        };
        Ok(Fetched {
            payload: Payload::Text(text.into()),
            mime_type: self.mime_type.clone().unwrap_or_else(|| mime_type.to_owned()),
            stale: None,
            left_out: (*left_out > 0).then_some(*left_out),
        })
    }

    fn item(&self, post: &Value, names: &HashMap<u64, String>) -> Result<Map<String, Value>, FetchError> {
        let member = |output: &OutputField| Ok((output.name.clone(), value(post, &output.field, names)?));
        self.fields.iter().map(member).collect()
    }

    /// A heading, the fields and the content of each post.
    fn document(&self, posts: &[Map<String, Value>]) -> String {
        let sections: Vec<String> = posts.iter().map(|post| self.section(post)).collect();
        sections.join("\n\n")
    }

    fn section(&self, post: &Map<String, Value>) -> String {
        let get = |output: &OutputField| post.get(&output.name).filter(|value| !value.is_null());
        let text = |field: PostField| {
            self.fields.iter().filter(|output| output.field == field).find_map(|output| get(output)?.as_str())
        };
        let id = || self.fields.iter().find(|output| output.field == PostField::Id).and_then(get);
        let title = text(PostField::Title).filter(|title| !title.is_empty()).or_else(|| text(PostField::Slug));
        let title = title.map_or_else(|| id().map_or_else(|| "Untitled".to_owned(), plain), one_line);
        let mut parts = vec![format!("# {}", escape(&title))];
        let fields = self.fields.iter().filter(|output| !is_body(&output.field) && output.field != PostField::Title);
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
        for output in self.fields.iter().filter(|output| is_body(&output.field)) {
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
}

fn is_body(field: &PostField) -> bool {
    matches!(field, PostField::Content | PostField::ContentHtml | PostField::Excerpt)
}

/// The member of a post that REST has to give.
fn rest_field(field: &PostField) -> &str {
    match field {
        PostField::Id => "id",
        PostField::Title => "title",
        PostField::Link => "link",
        PostField::Date => "date",
        PostField::Modified => "modified",
        PostField::Excerpt => "excerpt",
        PostField::Slug => "slug",
        PostField::Status => "status",
        PostField::Type => "type",
        PostField::Author => "author",
        PostField::Content | PostField::ContentHtml => "content",
        PostField::Categories => "categories",
        PostField::Tags => "tags",
        PostField::FeaturedImage => "featured_media",
        PostField::Meta(_) => "meta",
        PostField::Acf(_) => "acf",
        PostField::Other(name) => name,
    }
}

fn value(post: &Value, field: &PostField, names: &HashMap<u64, String>) -> Result<Value, FetchError> {
    let rendered = |member: &str| post[member]["rendered"].as_str();
    let convert = |html: &str, format: Html| {
        let base = post["link"].as_str().unwrap_or_default();
        html::convert_to(format, html, base)
            .map(|text| Value::from(text.trim()))
            .map_err(|error| FetchError::failed("a post holds HTML that cannot be converted").because(error))
    };
    let terms = |member: &str| {
        let ids = post[member].as_array().into_iter().flatten().filter_map(Value::as_u64);
        ids.filter_map(|id| names.get(&id).cloned()).collect::<Vec<_>>()
    };
    Ok(match field {
        PostField::Title => rendered("title").map_or(Value::Null, |title| Value::from(text(title))),
        PostField::Excerpt => match rendered("excerpt") {
            Some(excerpt) => convert(excerpt, Html::Text)?,
            None => Value::Null,
        },
        PostField::Content => match rendered("content") {
            Some(content) => convert(content, Html::Markdown)?,
            None => Value::Null,
        },
        PostField::ContentHtml => rendered("content").map_or(Value::Null, Value::from),
        PostField::Author => {
            let name = post.pointer("/_embedded/author/0/name").and_then(Value::as_str);
            name.map_or(Value::Null, |name| Value::from(text(name)))
        }
        PostField::FeaturedImage => {
            post.pointer("/_embedded/wp:featuredmedia/0/source_url").cloned().unwrap_or_default()
        }
        PostField::Categories => terms("categories").into(),
        PostField::Tags => terms("tags").into(),
        PostField::Meta(key) => post["meta"][key.as_str()].clone(),
        PostField::Acf(key) => post["acf"][key.as_str()].clone(),
        _ => post[rest_field(field)].clone(),
    })
}

/// Rendered text: tags are removed, then entities decoded, once.
fn text(html: &str) -> String {
    html_escape::decode_html_entities(slug::without_tags(html).trim()).into_owned()
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
