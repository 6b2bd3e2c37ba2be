//! What becomes of posts: an array of objects, one Markdown document, or what a template makes of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcpress_catalog::source::{Definition, Format, OutputField, PostField, WpQuery};
use minijinja::{Environment, Value as Context, context, value::Serde};
use serde_json::{Map, Value};

use super::{
    super::{EntryError, Fetched, Payload, client::Client, error::FetchError, template::Template},
    fields::{rest_field, value},
    markdown,
    posts::Found,
    site::{Parameters, Site, pair},
};

/// How the contents of an entry are made.
pub(super) struct Output {
    fields: Vec<OutputField>,
    format: Format,
    mime_type: Option<String>,
    template: Option<Template>,
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
        let template = query.template.as_ref().map(|template| Template::new(template, environment)).transpose()?;
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
            (Some(template), _) => {
                let context = context! {
                    posts => Context::from(Serde(&posts)), total, args => arguments, vars => self.vars.clone()
                };
                (template.render(context)?, "text/plain")
            }
            (None, Format::Json) => {
                let text = serde_json::to_string(&posts)
                    .map_err(|error| FetchError::failed("the posts could not be written as JSON").because(error))?;
                (text, "application/json")
            }
            (None, Format::Markdown) => (markdown::document(&self.fields, &posts), "text/markdown"),
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
}
