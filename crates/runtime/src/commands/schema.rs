//! `mcpress schema`: the JSON Schemas of the files that authors write.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use mcpress_compiler::{SCHEMAS, schema};

use super::{failure, shown, unless_unread};

/// Writes all schemas into a folder, in place of older ones.
pub(crate) fn write_schemas(out: &Path) -> io::Result<ExitCode> {
    if let Err(error) = fs::create_dir_all(out) {
        return Ok(failure(format_args!("cannot make the folder `{}`: {error}", out.display())));
    }
    for name in SCHEMAS {
        let path = out.join(file_name(name));
        if let Err(error) = fs::write(&path, schema(name).unwrap_or_default()) {
            return Ok(failure(format_args!("cannot write `{}`: {error}", path.display())));
        }
        unless_unread(writeln!(io::stdout(), "wrote {}", shown(&path)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints one schema.
pub(crate) fn print_schema(name: &str) -> io::Result<ExitCode> {
    let Some(schema) = schema(name) else {
        return Ok(failure(format_args!("there is no schema `{name}`; there are {}", SCHEMAS.join(", "))));
    };
    unless_unread(io::stdout().write_all(schema.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// What the file of a schema is called.
pub(super) fn file_name(name: &str) -> String {
    format!("{name}.schema.json")
}
