//! Puts a folder into place as a whole, or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::tree::Files;

/// Says why the folder of a server cannot be made in `out`, if it cannot.
pub(super) fn check(out: &Path, slug: &str) -> Result<(), String> {
    let folder = out.join(slug);
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("cannot look at `{}`: {error}", folder.display())),
        Ok(_) => Err(format!(
            "`{}` exists already, and nothing is overwritten\n  hint: move it away, or give another folder with --out",
            folder.display()
        )),
    }
}

/// Writes the files, whose paths all begin with the slug. They are written beside, where the compiler passes them over,
/// and moved as a whole.
pub(super) fn write(out: &Path, slug: &str, files: &Files) -> Result<(), String> {
    fs::create_dir_all(out).map_err(|error| format!("cannot make the folder `{}`: {error}", out.display()))?;
    let unfinished = out.join(format!(".{slug}.unfinished"));
    fs::create_dir(&unfinished).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => "\n  hint: an import that was interrupted has left it; remove it",
            _ => "",
        };
        format!("cannot make the folder `{}`: {error}{hint}", unfinished.display())
    })?;
    let written = write_into(&unfinished, slug, files).and_then(|()| {
        check(out, slug)?;
        let folder = out.join(slug);
        fs::rename(&unfinished, &folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))
    });
    if written.is_err() {
        // What could not be written is what there is to say.
        let _ = fs::remove_dir_all(&unfinished);
    }
    written
}

fn write_into(folder: &Path, slug: &str, files: &Files) -> Result<(), String> {
    for (path, bytes) in files {
        let path: PathBuf = folder.join(path.strip_prefix(slug).unwrap_or(path).trim_start_matches('/'));
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    }
    Ok(())
}
