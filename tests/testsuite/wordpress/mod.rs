//! `wp_query` entries. Some of the tests ask a real WordPress, which `tests/wordpress/up.sh` starts.

mod faults;
mod oracle;
mod output;
mod requests;

use std::{collections::BTreeMap, env, fs, sync::Arc};

use mcpress_catalog::{
    self as catalog,
    source::{Definition, Source},
    template,
};
use mcpress_runtime::fetch::{Config, FetchError, Fetched, Fetcher, Payload, WpQuery};
use serde_json::{Value, json};

const NEEDS: &str = "needs tests/wordpress/up.sh";

/// The site, as `up.sh` says.
fn setting(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{NEEDS}: {name} is not set"))
}

fn auth() -> Value {
    json!({
        "username": setting("WORDPRESS_USERNAME"),
        "application_password": setting("WORDPRESS_APPLICATION_PASSWORD"),
    })
}

fn ids(fetched: &Fetched) -> Vec<u64> {
    let posts: Vec<Value> = serde_json::from_str(text(fetched)).unwrap();
    posts.iter().map(|post| post["id"].as_u64().unwrap()).collect()
}

/// Reads an entry with nothing kept from elsewhere.
async fn fetch(entry: Value, arguments: &[(&str, &str)]) -> Result<Fetched, FetchError> {
    read(&Fetcher::new(&Config::default()).unwrap(), &compile(&entry).unwrap(), arguments).await
}

fn text(fetched: &Fetched) -> &str {
    match &fetched.payload {
        Payload::Text(text) => text,
        Payload::Blob(_) => panic!("posts are text"),
    }
}

/// Compiles one entry.
fn compile(entry: &Value) -> Result<Definition, String> {
    let root = tempfile::tempdir().unwrap();
    let resources = root.path().join("test/resources");
    fs::create_dir_all(&resources).unwrap();
    fs::write(root.path().join("test/server.yaml"), "name: test\nvariables: {site: Example}\n").unwrap();
    fs::write(resources.join("entry.yaml"), json!([entry]).to_string()).unwrap();
    let compiled = mcpress_compiler::compile(root.path())
        .map_err(|errors| errors.iter().map(|error| format!("{error:?}")).collect::<Vec<_>>().join("; "))?;
    let (catalog, server) = (&compiled.catalog, &compiled.catalog.servers[0]);
    let span = match catalog.rows(server.resources).get(0).map(|resource| resource.source) {
        Some(catalog::Source::Live(span)) => span,
        Some(catalog::Source::Static(_)) => panic!("no live entry"),
        None => catalog.rows(server.templates).get(0).unwrap().definition,
    };
    Ok(serde_json::from_str(compiled.catalog.text(span)).unwrap())
}

async fn read(fetcher: &Fetcher, definition: &Definition, arguments: &[(&str, &str)]) -> Result<Fetched, FetchError> {
    let entry = entry(fetcher, definition);
    let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    fetcher.query(&entry, &arguments.collect::<BTreeMap<_, _>>()).await
}

fn entry(fetcher: &Fetcher, definition: &Definition) -> Arc<WpQuery> {
    let Source::WpQuery(query) = &definition.source else { panic!("no query") };
    let environment = template::environment([]).unwrap();
    fetcher.wp_query(definition, query, &environment, |_| None).unwrap()
}
