//! `url`
use crate::{scope::Scope, yaml::Field};
use mcpress_catalog::source;
use serde::Deserialize;
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename = "short:href")]
pub(crate) struct UrlDefinition {
    pub(crate) href: Field<String>,
}
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FetchDefinition {}
impl FetchDefinition {
    pub(crate) fn or(self, _other: &Self) -> Self {
        self
    }
}
pub(crate) fn lower(d: &UrlDefinition, _f: &FetchDefinition, _s: &mut Scope<'_>) -> Option<source::Url> {
    Some(source::Url { href: d.href.value()?.clone() })
}
