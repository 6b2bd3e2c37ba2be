//! The requests a second of each case, as bars beside those of the bare hyper.

use minijinja::{Environment, Value, context, value::Serde};

use crate::report::Report;

const TEMPLATE: &str = include_str!("plot.svg.jinja");

pub(crate) fn draw(report: &Report) -> Result<String, minijinja::Error> {
    Environment::new().render_str(TEMPLATE, context! { report => Value::from(Serde(report)) })
}
