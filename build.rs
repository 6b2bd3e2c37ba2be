//! Compiles the content tree (`content/`, or the folder in `MCPRESS_CONTENT`) into `content.rs` and `content.bin` in
//! `OUT_DIR`.

use std::{env, fs, io, path::Path};

use mcpress_compiler::{Cache, Compiled, Diagnostic, Severity, compile, emit, encode};

fn main() -> io::Result<()> {
    let root = env::var("MCPRESS_CONTENT").ok().filter(|root| !root.is_empty());
    let root = root.unwrap_or_else(|| "content".to_owned());
    println!("cargo::rerun-if-changed={root}");
    println!("cargo::rerun-if-env-changed=MCPRESS_CONTENT");
    println!("cargo::rerun-if-env-changed=MCPRESS_DENY_WARNINGS");
    let deny_warnings = env::var("MCPRESS_DENY_WARNINGS").is_ok_and(|value| !is_falsy(&value));
    match compile(Path::new(&root)) {
        Ok(Compiled { catalog, warnings }) => {
            print(&warnings, deny_warnings);
            let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo gave no OUT_DIR"))?;
            let out = Path::new(&out);
            // What the last build compressed and this one finds unchanged is not compressed again.
            let mut cache = Cache::from_bytes(fs::read(out.join("encoded.bin")).unwrap_or_default());
            let catalog = encode(catalog, &mut cache).map_err(io::Error::other)?;
            fs::write(out.join("encoded.bin"), cache.to_bytes())?;
            write_if_changed(&out.join("content.bin"), &catalog.blob)?;
            write_if_changed(&out.join("content.rs"), emit(&catalog).as_bytes())
        }
        Err(diagnostics) => {
            print(&diagnostics, deny_warnings);
            Ok(())
        }
    }
}

/// What means no to the flags of the program, `check --deny-warnings` among them: clap's list.
fn is_falsy(value: &str) -> bool {
    ["", "0", "f", "false", "n", "no", "off"].contains(&value.to_ascii_lowercase().as_str())
}

/// Cargo shows one line for each directive, and fails the build if there was an error.
fn print(diagnostics: &[Diagnostic], deny_warnings: bool) {
    for diagnostic in diagnostics {
        let error = deny_warnings || diagnostic.severity == Severity::Error;
        for line in diagnostic.to_string().lines() {
            println!("cargo::{}={line}", if error { "error" } else { "warning" });
        }
    }
}

fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) { Ok(()) } else { fs::write(path, bytes) }
}
