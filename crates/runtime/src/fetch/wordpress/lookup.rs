//! A site's post types and taxonomies, and the ids behind slugs and names.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use futures_util::FutureExt;
use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    api::at,
    site::{MAX_LISTED, PAGE, Parameters, Site, ids, join, pair, strings},
    slug,
};

/// A post type that REST exposes.
pub(super) struct PostType {
    pub(super) name: String,
    /// Of its posts.
    pub(super) route: String,
    /// Its taxonomies that REST exposes: name and parameter.
    pub(super) taxonomies: HashMap<String, String>,
    /// What its route takes. Anything else would be ignored.
    pub(super) parameters: HashSet<String>,
    /// What `orderby` takes.
    pub(super) orders: HashSet<String>,
}

/// A taxonomy that REST exposes.
pub(super) struct Taxonomy {
    pub(super) name: String,
    pub(super) types: Vec<String>,
    pub(super) hierarchical: bool,
    route: String,
}

impl Site {
    /// A post type by its name.
    pub(super) async fn post_type(&self, client: &Client, name: &str) -> Result<Arc<PostType>, FetchError> {
        self.types.get(name, self.find_post_type(client, name).boxed()).await
    }

    async fn find_post_type(&self, client: &Client, name: &str) -> Result<PostType, FetchError> {
        let types = self.known(client, "/wp/v2/types", &[]).await?;
        let found = &types[name];
        let Some(base) = found["rest_base"].as_str() else {
            return Err(self.not_exposed("post type", name));
        };
        let namespace = found["rest_namespace"].as_str().unwrap_or("wp/v2");
        let route = format!("/{namespace}/{base}");
        let arguments = self.arguments(client, namespace, &route).await?;
        let Some(arguments) = arguments.as_object() else { return Err(self.not_exposed("post type", name)) };
        let taxonomies = self.known(client, "/wp/v2/taxonomies", &[]).await?;
        let taxonomies = taxonomies.as_object().into_iter().flatten().filter(|(name, taxonomy)| {
            strings(&found["taxonomies"]).any(|own| own == **name)
                || strings(&taxonomy["types"]).any(|own| own == found["slug"])
        });
        Ok(PostType {
            name: name.to_owned(),
            route,
            taxonomies: taxonomies
                .map(|(name, taxonomy)| (name.clone(), taxonomy["rest_base"].as_str().unwrap_or(name).to_owned()))
                .collect(),
            parameters: arguments.keys().cloned().collect(),
            orders: strings(&arguments.get("orderby").unwrap_or(&Value::Null)["enum"]).map(str::to_owned).collect(),
        })
    }

    /// The types that a search is made in: all that are public.
    pub(super) async fn searched_types(&self, client: &Client) -> Result<Vec<String>, FetchError> {
        let arguments = self.arguments(client, "wp/v2", "/wp/v2/search").await?;
        let types = self.known(client, "/wp/v2/types", &[]).await?;
        let listed = strings(&arguments["subtype"]["items"]["enum"]);
        Ok(listed.filter(|name| types.get(name).is_some()).map(str::to_owned).collect())
    }

    /// A taxonomy by its name.
    pub(super) async fn taxonomy(&self, client: &Client, name: &str) -> Result<Taxonomy, FetchError> {
        let taxonomies = self.known(client, "/wp/v2/taxonomies", &[]).await?;
        let found = &taxonomies[name];
        let Some(base) = found["rest_base"].as_str() else { return Err(self.not_exposed("taxonomy", name)) };
        Ok(Taxonomy {
            name: name.to_owned(),
            types: strings(&found["types"]).map(str::to_owned).collect(),
            hierarchical: found["hierarchical"].as_bool().unwrap_or_default(),
            route: format!("/{}/{base}", found["rest_namespace"].as_str().unwrap_or("wp/v2")),
        })
    }

    /// The terms of these slugs; unknown ones are left out.
    pub(super) async fn terms_by_slug(
        &self,
        client: &Client,
        taxonomy: &Taxonomy,
        slugs: &[String],
    ) -> Result<Vec<u64>, FetchError> {
        let mut parameters: Parameters = slugs.iter().map(|slug| ("slug[]".to_owned(), slug.clone())).collect();
        parameters.extend([pair("per_page", PAGE), pair("_fields", "id")]);
        Ok(ids(&*self.known(client, &taxonomy.route, &parameters).await?))
    }

    /// The terms of these names, which the database compares without case and accents.
    pub(super) async fn terms_by_name(
        &self,
        client: &Client,
        taxonomy: &Taxonomy,
        names: &[String],
    ) -> Result<Vec<u64>, FetchError> {
        let mut found = Vec::new();
        for name in names {
            // Names are stored with entities, so that a search for more than a word could miss them.
            let word = name.split(|character: char| !character.is_alphanumeric()).max_by_key(|word| word.len());
            let mut parameters = vec![pair("per_page", PAGE), pair("_fields", "id,name")];
            parameters.extend(word.filter(|word| !word.is_empty()).map(|word| pair("search", word)));
            let terms = self.known(client, &taxonomy.route, &parameters).await?;
            let same = |term: &&Value| {
                let other = term["name"].as_str().unwrap_or_default();
                slug::fold(&html_escape::decode_html_entities(other)) == slug::fold(name)
            };
            found.extend(terms.as_array().into_iter().flatten().filter(same).filter_map(|term| term["id"].as_u64()));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// All terms below one.
    pub(super) async fn descendants(
        &self,
        client: &Client,
        taxonomy: &Taxonomy,
        term: u64,
    ) -> Result<Vec<u64>, FetchError> {
        let key = format!("{} all", taxonomy.route);
        let ask = async {
            let parameters = [pair("_fields", "id,parent"), pair("orderby", "id")];
            let listed = self.list(client, &taxonomy.route, &parameters, 0, MAX_LISTED).await?;
            Ok(Value::Array(listed.items))
        };
        let tree = self.answers.get(&key, ask.boxed()).await?;
        let mut found = vec![term];
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            let children =
                tree.as_array().into_iter().flatten().filter(|child| child["parent"].as_u64() == Some(parent));
            let children: Vec<u64> = children.filter_map(|child| child["id"].as_u64()).collect();
            found.extend(children.into_iter().filter(|child| !found.contains(child)).collect::<Vec<_>>());
            next += 1;
        }
        Ok(found.split_off(1))
    }

    /// The user of a slug, if it has published anything: REST shows no others.
    pub(super) async fn user(&self, client: &Client, slug: &str) -> Result<Option<u64>, FetchError> {
        let parameters = [pair("slug[]", slug), pair("_fields", "id")];
        let users = self.known(client, "/wp/v2/users", &parameters).await;
        Ok(ids(&*users.map_err(at("cannot look up an author"))?).first().copied())
    }

    /// The names of terms.
    pub(super) async fn names(
        &self,
        client: &Client,
        taxonomy: &Taxonomy,
        terms: &[u64],
    ) -> Result<HashMap<u64, String>, FetchError> {
        let mut names = HashMap::new();
        for some in terms.chunks(PAGE as usize) {
            let parameters = [pair("include", join(some)), pair("per_page", PAGE), pair("_fields", "id,name")];
            let found = self.known(client, &taxonomy.route, &parameters).await?;
            for term in found.as_array().into_iter().flatten() {
                if let (Some(id), Some(name)) = (term["id"].as_u64(), term["name"].as_str()) {
                    names.insert(id, html_escape::decode_html_entities(name).into_owned());
                }
            }
        }
        Ok(names)
    }

    async fn arguments(&self, client: &Client, namespace: &str, route: &str) -> Result<Value, FetchError> {
        let fields = [pair("_fields", format!("routes.{route}.endpoints"))];
        let index = self.known(client, &format!("/{namespace}"), &fields).await?;
        let endpoints = index["routes"][route]["endpoints"].as_array().into_iter().flatten();
        let mut reading = endpoints.filter(|endpoint| strings(&endpoint["methods"]).any(|method| method == "GET"));
        Ok(reading.next().map(|endpoint| endpoint["args"].clone()).unwrap_or_default())
    }

    /// Asks a route whose answer is good for a while.
    async fn known(
        &self,
        client: &Client,
        route: &str,
        parameters: &[(String, String)],
    ) -> Result<Arc<Value>, FetchError> {
        let key = format!("{route} {parameters:?}");
        let ask = async { Ok(self.get(client, route, parameters).await?.json) };
        self.answers.get(&key, ask.boxed()).await
    }

    fn not_exposed(&self, what: &str, name: &str) -> FetchError {
        FetchError::upstream(&self.api.host(), format_args!("does not expose the {what} `{name}` in its REST API"))
    }
}
