//! `static`: which of its keys says what the content is.

use mcpress_catalog::source;

use crate::{
    definition::StaticDefinition,
    scope::Scope,
    values::TextOrFile,
    yaml::{Field, Mark},
};

/// The template of a `static` with `uri_template`.
pub(crate) fn template(definition: &StaticDefinition, mark: Mark, scope: &mut Scope<'_>) -> Option<source::Template> {
    if let Some((_, mark)) = definition.render.given() {
        scope
            .error(mark, "static.render", "with `uri_template`, the text is rendered at each read anyway")
            .with_hint("remove `render`");
    }
    let source = match kind(definition, mark, scope)? {
        StaticKind::Files(_, mark) => {
            scope
                .error(mark, "static.files", "`files` cannot stand behind a `uri_template`")
                .with_hint("give `uri` with `{path}` in it: one resource for each file");
            return None;
        }
        StaticKind::Text(..) | StaticKind::File(..) => {
            TextOrFile { text: definition.text.clone(), file: definition.file.clone() }
        }
    };
    scope.template(&source, mark, "static", &["server", "resource", "page"])
}

/// The one key of `static` that says what the content is.
pub(crate) enum StaticKind<'a> {
    Text(&'a str, Mark),
    File(&'a str, Mark),
    Files(&'a str, Mark),
}

pub(crate) fn kind<'a>(definition: &'a StaticDefinition, mark: Mark, scope: &mut Scope<'_>) -> Option<StaticKind<'a>> {
    let given = [&definition.text, &definition.file, &definition.files];
    let hint = "give one of `text`, `file` and `files`";
    match given.iter().filter(|field| !field.is_absent()).count() {
        0 => {
            scope.error(mark, "static", "no content").with_hint(hint);
            None
        }
        1 => match (&definition.text, &definition.file, &definition.files) {
            (Field::Given(text, mark), ..) => Some(StaticKind::Text(text, *mark)),
            (_, Field::Given(file, mark), _) => Some(StaticKind::File(file, *mark)),
            (.., Field::Given(files, mark)) => Some(StaticKind::Files(files, *mark)),
            _ => None,
        },
        _ => {
            scope.error(mark, "static", "more than one content").with_hint(hint);
            None
        }
    }
}
