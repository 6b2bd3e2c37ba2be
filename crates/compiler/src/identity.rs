//! What an entry is known by: its URI, or its URI template and the template's arguments.

use std::collections::BTreeMap;

use mcpress_catalog::{source::Argument, uri_template};
use regex::Regex;

use crate::{
    definition::{ArgumentDefinition, ResourceDefinition},
    described::check_uri,
    scope::Scope,
    values::Keys,
    yaml::{Field, Mark},
};

/// What an entry is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Uri {
    Resource(String),
    Template(String),
}

/// The `uri` or `uri_template` of a definition and its place.
pub(crate) fn uri(definition: &ResourceDefinition, mark: Mark, scope: &mut Scope<'_>) -> Option<(Uri, Mark)> {
    // A URI with `{path}` in it is checked once that is filled in.
    let has_path = definition.static_.value().is_some_and(|definition| !definition.files.is_absent());
    match (&definition.uri, &definition.uri_template) {
        (Field::Given(uri, mark), Field::Absent) => {
            let valid = has_path || check_uri(uri, *mark, scope);
            if let Some((_, mark)) = definition.arguments.given() {
                scope
                    .error(mark, "arguments", "arguments belong to a `uri_template`")
                    .with_hint("give `uri_template` in place of `uri`, or remove them");
            }
            valid.then(|| (Uri::Resource(uri.clone()), *mark))
        }
        (Field::Absent, Field::Given(template, mark)) => Some((Uri::Template(template.clone()), *mark)),
        (Field::Given(..), Field::Given(_, mark)) => {
            scope.error(*mark, "uri_template", "both `uri` and `uri_template` are given").with_hint("keep one of them");
            None
        }
        (Field::Absent, Field::Absent) => {
            scope
                .error(mark, "", "neither `uri` nor `uri_template` is given")
                .with_hint("give `uri`, such as `docs://guides/intro`, or `uri_template`, such as `docs://users/{id}`");
            None
        }
        _ => None,
    }
}

/// The arguments of a `uri_template`, which are exactly its variables.
pub(crate) fn arguments(definition: &ResourceDefinition, scope: &mut Scope<'_>) -> Option<BTreeMap<String, Argument>> {
    let Some((text, mark)) = definition.uri_template.given() else { return Some(BTreeMap::new()) };
    let template = match uri_template::Template::parse(text) {
        Ok(template) => template,
        Err(error) => {
            let message = format!("not a URI template: {} (at character {})", error.message, error.offset + 1);
            scope.error(mark, "uri_template", message).with_hint("the form is that of RFC 6570 up to level 3");
            return None;
        }
    };
    let variables: Vec<&str> = template.variables().collect();
    let sample = variables.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
    if let Err(reason) = mcpress_catalog::uri::check(&template.expand(&sample)) {
        scope
            .error(mark, "uri_template", format!("it does not expand to a URI: {reason}"))
            .with_hint("begin with a scheme, such as `docs://users/{id}`");
        return None;
    }
    if let Some(name) =
        variables.iter().find(|name| !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    {
        scope
            .error(mark, "uri_template", format!("`{name}` is no name of an argument"))
            .with_hint("letters, digits and `_` make one");
    }
    if variables.is_empty() {
        scope.error(mark, "uri_template", "the template has no variable").with_hint("give it as `uri`");
    }
    let Some((given, arguments_mark)) = definition.arguments.given() else {
        if definition.arguments.is_absent() && !variables.is_empty() {
            scope
                .error(mark, "arguments", format!("missing for {}", quoted(&variables)))
                .with_hint("give each variable of the template, with `{}` if any value will do");
        }
        return None;
    };
    let Keys(pairs) = given;
    let missing: Vec<&str> =
        variables.iter().copied().filter(|name| !pairs.iter().any(|(given, _)| given == name)).collect();
    if !missing.is_empty() {
        scope.error(arguments_mark, "arguments", format!("missing for {}", quoted(&missing)));
    }
    let mut arguments = BTreeMap::new();
    for (name, field) in pairs {
        let Some((definition, mark)) = field.given() else { continue };
        if !variables.contains(&name.as_str()) {
            let known = quoted(&variables);
            scope
                .error(mark, &format!("arguments.{name}"), "no variable of the template has this name")
                .with_hint(&format!("its variables are {known}"));
            continue;
        }
        arguments.insert(name.clone(), argument(name, definition, scope));
    }
    Some(arguments)
}

fn argument(name: &str, definition: &ArgumentDefinition, scope: &mut Scope<'_>) -> Argument {
    let pattern = definition.pattern.given().and_then(|(pattern, mark)| {
        // Compiled the way the server does, so that what passes here works there.
        let whole = || Regex::new(&format!("^(?:{pattern})$"));
        match Regex::new(pattern).and_then(|_| whole()) {
            Ok(regex) => Some((pattern, regex)),
            Err(error) => {
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                scope
                    .error(mark, &format!("arguments.{name}.pattern"), format!("not a regular expression: {reason}"))
                    .with_hint("it must match the whole value, such as `[a-z0-9-]+`; quote it in YAML");
                None
            }
        }
    });
    let mut values: Vec<String> = Vec::new();
    if let Some((given, mark)) = definition.values.given() {
        let field = format!("arguments.{name}.values");
        if given.is_empty() {
            scope.error(mark, &field, "an empty list allows no value").with_hint("leave it out to allow any");
        }
        for (index, (value, mark)) in
            given.iter().enumerate().filter_map(|(index, value)| Some((index, value.given()?)))
        {
            let field = format!("{field}[{index}]");
            if pattern.as_ref().is_some_and(|(_, regex)| !regex.is_match(value)) {
                scope
                    .error(mark, &field, format!("`{value}` does not match the argument's own pattern"))
                    .with_hint("change one of the two");
            } else if values.contains(value) {
                scope.error(mark, &field, format!("`{value}` is given twice")).with_hint("keep one of them");
            } else {
                values.push(value.clone());
            }
        }
    }
    Argument {
        description: definition.description.value().cloned(),
        values,
        pattern: pattern.map(|(pattern, _)| pattern.clone()),
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
