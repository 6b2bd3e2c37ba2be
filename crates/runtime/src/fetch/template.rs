//! The template of a fetched entry: compiled once, rendered at each read.

use mcpress_catalog::source;
use minijinja::{Environment, Value};

use super::{EntryError, error::FetchError};

/// A template, in an environment that knows the partials.
pub(super) struct Template {
    environment: Environment<'static>,
    name: String,
}

impl Template {
    pub(super) fn new(template: &source::Template, environment: &Environment<'static>) -> Result<Self, EntryError> {
        let mut environment = environment.clone();
        let added = environment.add_template_owned(template.name.clone(), template.source.clone());
        added.map_err(|error| EntryError::Invalid(error.to_string()))?;
        Ok(Self { environment, name: template.name.clone() })
    }

    /// What goes wrong in it is the cause of the error, with file and line, and not for the client.
    pub(super) fn render(&self, context: Value) -> Result<String, FetchError> {
        let rendered = self.environment.get_template(&self.name).and_then(|template| template.render(context));
        rendered.map_err(|error| {
            let place = format!("{}:{}", error.name().unwrap_or(&self.name), error.line().unwrap_or_default());
            FetchError::failed("the template of this resource failed").because(format!("{place}: {error}"))
        })
    }
}
