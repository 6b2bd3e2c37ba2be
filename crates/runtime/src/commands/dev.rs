//! `mcpress dev`: serves a tree from disk, and what becomes of it while its authors write.
//!
//! After each change (`watched`) the whole tree is compiled, one compilation at a time. What compiles takes the place of
//! what was served; what does not is reported, and what compiled last stays.

mod watched;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use mcpress_catalog::Catalog;
use mcpress_compiler::{Compiled, Diagnostic, compile};
use tokio::{sync::watch, task::spawn_blocking};

use self::watched::Watched;
use super::{print, serve::serve, surroundings, unusable};
use crate::{
    config::Serve,
    mcp::{Changes, Missing, Site, SiteError, Surroundings},
};

/// Serves the tree at `dir` until a signal says to stop. `poll` looks for changes instead of waiting to be told.
pub(crate) async fn dev(dir: &Path, poll: bool, flags: &Serve) -> io::Result<ExitCode> {
    if !dir.is_dir() {
        return Ok(unusable(format_args!("there is no folder `{}`", dir.display())));
    }
    let surroundings = match surroundings(&flags.fetch, flags.limits().subscriptions) {
        Ok(surroundings) => Surroundings { reloads: true, ..surroundings },
        Err(error) => return Ok(unusable(error)),
    };
    // Before the tree is read, so that no change is missed.
    let mut watched = Watched::start(dir, poll)?;
    let nothing = Site::new(Catalog::default(), surroundings).map_err(io::Error::other)?;
    let (published, site) = watch::channel(Arc::new(nothing));
    let mut tree = Tree { dir: dir.to_owned(), published, said: Vec::new(), is_broken: false };
    tree.load().await;
    let reloading = async {
        loop {
            if let Err(error) = watched.changed().await {
                return error;
            }
            tree.load().await;
        }
    };
    tokio::select! {
        code = serve(site, flags) => code,
        error = reloading => Err(error),
    }
}

/// A content tree, and what of it is served.
struct Tree {
    dir: PathBuf,
    published: watch::Sender<Arc<Site>>,
    /// What was last found to be wrong with it.
    said: Vec<Diagnostic>,
    /// Whether what is served is not what is there.
    is_broken: bool,
}

impl Tree {
    /// Compiles the tree, publishes what comes of it, and says so.
    async fn load(&mut self) {
        let (dir, old) = (self.dir.clone(), Arc::clone(&self.published.borrow()));
        let is_serving = !old.catalog().hash.is_empty();
        let loaded = spawn_blocking(move || load(&dir, &old)).await.unwrap_or_else(|error| {
            Err(vec![fault(&self.dir.to_string_lossy(), format!("the compilation stopped: {error}"))])
        });
        let was_broken = self.is_broken;
        self.is_broken = loaded.is_err();
        match loaded {
            Ok(Loaded { site, warnings, is_new, changes: Changes { added, removed, changed } }) => {
                self.say(warnings);
                self.published.send_replace(Arc::new(site));
                if was_broken || (is_serving && is_new) {
                    tell(&format!("reloaded: {added} added, {removed} removed, {changed} changed"));
                }
            }
            Err(errors) => {
                self.say(errors);
                if !was_broken {
                    tell(match is_serving {
                        true => "not reloaded: what compiled last is still served",
                        false => "nothing is served until the tree compiles",
                    });
                }
            }
        }
    }

    /// Says what is wrong with the tree, unless nothing else was said of it before.
    fn say(&mut self, found: Vec<Diagnostic>) {
        if found != self.said {
            print(&found);
            self.said = found;
        }
    }
}

/// A tree that takes the place of another.
struct Loaded {
    site: Site,
    warnings: Vec<Diagnostic>,
    /// Whether any byte of the tree is another.
    is_new: bool,
    changes: Changes,
}

/// Compiles what is to take the place of a site.
fn load(dir: &Path, old: &Site) -> Result<Loaded, Vec<Diagnostic>> {
    let Compiled { catalog, warnings } = compile(dir)?;
    // What the compiler could not know is in the environment.
    let of_environment = |place: &str, message: String| {
        let hint = "a program that runs gets no new variables: set it and start again";
        fault(place, message).relative_to(dir).hint(hint)
    };
    let missing = |Missing { name, place }: &Missing| {
        of_environment(place, format!("the variable `{name}` is missing in the environment"))
    };
    let site = match old.reload(catalog) {
        Ok(site) => site,
        Err(SiteError { place, message }) => {
            return Err(warnings.into_iter().chain([of_environment(&place, message)]).collect());
        }
    };
    match site.missing() {
        [] => {
            let hash = |site: &Site| site.catalog().text(site.catalog().hash).to_owned();
            let (is_new, changes) = (hash(old) != hash(&site), Changes::between(old, &site));
            Ok(Loaded { site, warnings, is_new, changes })
        }
        names => Err(warnings.into_iter().chain(names.iter().map(missing)).collect()),
    }
}

fn fault(place: &str, message: String) -> Diagnostic {
    Diagnostic::error(place, None, "", message)
}

/// A line for who watches the terminal. That nobody does is no failure.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
