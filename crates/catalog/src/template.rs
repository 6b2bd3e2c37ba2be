//! The minijinja environment: the same rules for templates rendered at build time and at run time.

use minijinja::{AutoEscape, Environment, UndefinedBehavior, syntax::SyntaxConfig};

/// What one rendering may cost, in minijinja instructions: about a second. A client chooses the arguments of a
/// template, so a loop over them must end.
const FUEL: u64 = 5_000_000;

/// An environment in which undefined names are errors, nothing is escaped, the final newline is kept, and the given
/// partials (name, source) can be included.
///
/// # Errors
/// The syntax error of a partial, which names the partial and the line.
pub fn environment<'a>(
    partials: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_syntax(SyntaxConfig::builder().keep_trailing_newline(true).build()?);
    environment.set_fuel(Some(FUEL));
    for (name, source) in partials {
        environment.add_template_owned(name.to_owned(), source.to_owned())?;
    }
    Ok(environment)
}
