//! The program, with the content that `build.rs` compiled. All that it does stands in the runtime, so that another
//! content means to compile no more than this.

mod content;

use std::process::ExitCode;

fn main() -> ExitCode {
    mcpress_runtime::run(&content::CATALOG)
}
