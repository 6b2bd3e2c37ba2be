//! `wp_query`
use crate::{scope::Scope, url::FetchDefinition, yaml::Field};
use mcpress_catalog::source;
use serde::Deserialize;
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WpQueryDefinition {
    pub(crate) site: Field<String>,
}
pub(crate) fn lower(d: &WpQueryDefinition, _f: &FetchDefinition, _s: &mut Scope<'_>) -> Option<source::WpQuery> {
    Some(source::WpQuery { site: d.site.value()?.clone() })
}
