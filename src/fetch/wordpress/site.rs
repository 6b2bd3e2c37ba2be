//! What a site has: where its REST API is, its post types and taxonomies, and the ids behind slugs and names. What was
//! asked is known for a minute.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{FutureExt, StreamExt, TryStreamExt, future::BoxFuture, stream};
use jiff::tz::{Offset, TimeZone};
use reqwest::Url;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{
    super::{client::Client, error::FetchError},
    api::{Answer, Api, at},
    slug,
};

/// How long something is known.
const KNOWN: Duration = Duration::from_secs(60);

/// Things that are known at once, so that arguments cannot fill the memory.
const MAX_KNOWN: usize = 1000;

/// What REST gives at most in one answer.
pub(super) const PAGE: u64 = 100;

/// Requests for one list at a time.
pub(super) const AT_A_TIME: usize = 4;

/// Items that are read at most where all of a list are needed.
pub(super) const MAX_LISTED: u64 = 10_000;

/// A site, and the client that asks it.
pub(super) struct Site {
    pub(super) api: Api,
    roots: Known<Root>,
    answers: Known<Value>,
    types: Known<PostType>,
}

/// Where the REST API is, and what it says of the site.
struct Root {
    url: Url,
    time_zone: TimeZone,
}

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

/// Parameters of a request.
pub(super) type Parameters = Vec<(String, String)>;

/// A part of a list.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) items: Vec<Value>,
    /// How many there are in all, if that is known.
    pub(super) total: Option<u64>,
    /// How many requests it took.
    pub(super) pages: usize,
}

impl Site {
    pub(super) fn new(api: Api) -> Self {
        Self { api, roots: Known::default(), answers: Known::default(), types: Known::default() }
    }

    /// Asks a route.
    pub(super) async fn get(
        &self,
        client: &Client,
        route: &str,
        parameters: &[(String, String)],
    ) -> Result<Answer, FetchError> {
        let root = self.root(client).await?;
        self.api.get(client, address(&root.url, route, parameters)).await
    }

    /// Asks for a list, from an item on, and for so many.
    pub(super) async fn list(
        &self,
        client: &Client,
        route: &str,
        parameters: &[(String, String)],
        start: u64,
        count: u64,
    ) -> Result<Listed, FetchError> {
        let page = |number: u64| {
            let mut parameters = parameters.to_vec();
            let (offset, size) = (start + number * PAGE, (count - number * PAGE).min(PAGE));
            parameters.push(("per_page".to_owned(), size.to_string()));
            if offset > 0 {
                parameters.push(("offset".to_owned(), offset.to_string()));
            }
            async move {
                let answer = self.get(client, route, &parameters).await;
                let answer = match answer {
                    Err(error) if number > 0 => {
                        let from = offset + 1;
                        return Err(at(format_args!("page {} ({from} to {})", number + 1, offset + size))(error));
                    }
                    answer => answer?,
                };
                let total = answer.total();
                match answer.json {
                    Value::Array(items) => Ok((items, total)),
                    _ => Err(FetchError::upstream(&self.api.host(), "sent JSON that is no list")),
                }
            }
        };
        if count == 0 {
            return Ok(Listed::default());
        }
        let (mut items, total) = page(0).await?;
        let mut pages = 1;
        match total {
            Some(total) => {
                let last = total.saturating_sub(start).min(count).div_ceil(PAGE);
                pages = last.max(1) as usize;
                let rest: Vec<Vec<Value>> = stream::iter(1..last)
                    .map(|number| async move { page(number).await.map(|(items, _)| items) })
                    .buffered(AT_A_TIME)
                    .try_collect()
                    .await?;
                items.extend(rest.into_iter().flatten());
            }
            // Then only an empty page says where the end is: what may not be read is missing on the others.
            None => {
                let mut found = items.len();
                while found > 0 && (pages as u64) * PAGE < count {
                    let (more, _) = page(pages as u64).await?;
                    found = more.len();
                    items.extend(more);
                    pages += 1;
                }
            }
        }
        let total = total.filter(|total| *total > 0 || start == 0);
        Ok(Listed { items, total, pages })
    }

    /// The site's time zone.
    pub(super) async fn time_zone(&self, client: &Client) -> Result<TimeZone, FetchError> {
        Ok(self.root(client).await?.time_zone.clone())
    }

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

    async fn root(&self, client: &Client) -> Result<Arc<Root>, FetchError> {
        self.roots.get("", self.find_root(client).boxed()).await
    }

    async fn find_root(&self, client: &Client) -> Result<Root, FetchError> {
        if let Some(mut url) = self.api.linked_root(client).await? {
            // A site behind a proxy may take itself for one without TLS.
            if self.api.site.scheme() == "https" && url.scheme() == "http" && url.domain() == self.api.site.domain() {
                let upgraded = url.set_scheme("https");
                debug_assert!(upgraded.is_ok(), "both are schemes of the web");
            }
            return self.ask_root(client, url).await;
        }
        let mut home = self.api.site.clone();
        home.set_path(&format!("{}/", home.path().trim_end_matches('/')));
        let mut pretty = home.clone();
        pretty.set_path(&format!("{}wp-json/", home.path()));
        home.set_query(Some("rest_route=/"));
        match self.ask_root(client, pretty).await {
            Ok(root) => Ok(root),
            Err(first) => self.ask_root(client, home).await.map_err(|_| at("found no REST API")(first)),
        }
    }

    async fn ask_root(&self, client: &Client, url: Url) -> Result<Root, FetchError> {
        if self.api.authorization.is_some() && url.origin() != self.api.site.origin() {
            let origin = url.origin().ascii_serialization();
            let host = self.api.host();
            let what =
                format_args!("has its REST API at {origin}, which gets no password: write that address as `site`");
            return Err(FetchError::upstream(&host, what));
        }
        let fields = [pair("_fields", "namespaces,timezone_string,gmt_offset")];
        let json = self.api.get(client, address(&url, "/", &fields)).await?.json;
        if !strings(&json["namespaces"]).any(|namespace| namespace == "wp/v2") {
            return Err(FetchError::upstream(&self.api.host(), "has no REST API of WordPress"));
        }
        let named = json["timezone_string"].as_str().and_then(|name| TimeZone::get(name).ok());
        // Hours, as a number or a text, and not always whole ones.
        let hours = &json["gmt_offset"];
        let hours = hours.as_f64().or_else(|| hours.as_str()?.parse().ok()).unwrap_or_default();
        let offset = Offset::from_seconds((hours * 3600.0) as i32).unwrap_or(Offset::UTC);
        Ok(Root { url, time_zone: named.unwrap_or_else(|| TimeZone::fixed(offset)) })
    }
}

/// The address of a route, behind either form of root.
fn address(root: &Url, route: &str, parameters: &[(String, String)]) -> Url {
    let mut url = root.clone();
    let is_query = |(name, _): &(std::borrow::Cow<'_, str>, _)| name == "rest_route";
    let plain = root.query_pairs().any(|pair| is_query(&pair));
    let others = root.query_pairs().filter(|pair| !is_query(pair));
    let others: Parameters = others.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let mut query = url.query_pairs_mut();
    query.clear();
    if plain {
        query.append_pair("rest_route", route);
    }
    query.extend_pairs(others.iter().chain(parameters));
    drop(query);
    if !plain {
        url.set_path(&format!("{}{route}", root.path().trim_end_matches('/')));
    }
    if url.query() == Some("") {
        url.set_query(None);
    }
    url
}

/// Answers that are good for a minute; whoever asks for the same meanwhile waits for the first.
struct Known<T>(Mutex<HashMap<String, Entry<T>>>);

/// Since when something is known, and what, unless it is still being asked for.
type Entry<T> = (Instant, Arc<OnceCell<Arc<T>>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Known<T> {
    /// What is asked is seldom asked, and large, so that it lies on the heap.
    async fn get(&self, key: &str, ask: BoxFuture<'_, Result<T, FetchError>>) -> Result<Arc<T>, FetchError> {
        let cell = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, (since, _)| since.elapsed() < KNOWN);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.entry(key.to_owned()).or_insert_with(|| (Instant::now(), Arc::default())).1.clone()
        };
        cell.get_or_try_init(|| async { ask.await.map(Arc::new) }).await.cloned()
    }
}

/// A parameter.
#[expect(clippy::needless_pass_by_value, reason = "so that numbers are written as texts are")]
pub(super) fn pair(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Ids as REST takes them.
pub(super) fn join(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// The ids of a list.
pub(super) fn ids(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(|item| item["id"].as_u64()).collect()
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_routes_behind_either_root() {
        let parameters = [pair("slug[]", "a b"), pair("x", "1")];
        for (root, expected) in [
            ("https://e.example/wp-json/", "https://e.example/wp-json/wp/v2/posts?slug%5B%5D=a+b&x=1"),
            ("https://e.example/a/wp-json", "https://e.example/a/wp-json/wp/v2/posts?slug%5B%5D=a+b&x=1"),
            (
                "https://e.example/index.php?rest_route=/&lang=de",
                "https://e.example/index.php?rest_route=%2Fwp%2Fv2%2Fposts&lang=de&slug%5B%5D=a+b&x=1",
            ),
        ] {
            let url = address(&root.parse().unwrap(), "/wp/v2/posts", &parameters);
            assert_eq!(url.as_str(), expected);
        }
        let root = "https://e.example/wp-json/".parse().unwrap();
        assert_eq!(address(&root, "/", &[]).as_str(), "https://e.example/wp-json/");
    }
}
