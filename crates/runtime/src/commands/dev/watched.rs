//! Tells when a tree has changed: by way of the system, or by looking again and again where the system does not tell.

use std::{
    io::{self, Write},
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use notify::{
    Config, ErrorKind, Event, EventKind, PollWatcher, RecommendedWatcher,
    RecursiveMode::{NonRecursive, Recursive},
    Watcher,
};
use tokio::{
    sync::Notify,
    task::block_in_place,
    time::{Instant, timeout, timeout_at},
};

/// How long nothing must change: editors and version control write several files at once, and one file in several
/// steps.
const QUIET: Duration = Duration::from_millis(100);

/// How long to wait for that. Something in the tree may be written to all the time.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// How often to look where the system does not tell.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How often to look where the path leads: it may lead elsewhere because of any folder or link on the way, and the
/// system tells of what is watched only.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A tree that is watched.
pub(super) struct Watched {
    dir: PathBuf,
    changed: Arc<Notify>,
    watching: Watching,
}

/// How it is watched, as long as this is held.
enum Watching {
    /// By the system, which watches the folder that stood there; nothing if none did.
    Told { _watcher: RecommendedWatcher, folder: Option<Folder> },
    /// By looking, which sees whatever stands there.
    Looking { _watcher: PollWatcher },
}

/// Which folder it is: another one may take its place.
#[derive(PartialEq, Eq)]
struct Folder {
    /// Without links.
    path: PathBuf,
    /// Device and inode.
    #[cfg(unix)]
    id: (u64, u64),
}

impl Watched {
    /// Watches from now on. `poll` does not rely on the system.
    pub(super) fn start(dir: &Path, poll: bool) -> io::Result<Self> {
        let dir = std::path::absolute(dir)?;
        let changed = Arc::new(Notify::new());
        let watching = watch(&dir, &changed, poll)?;
        Ok(Self { dir, changed, watching })
    }

    /// Waits for a change, and until those that come with it are over.
    pub(super) async fn changed(&mut self) -> io::Result<()> {
        while timeout(LOOK_INTERVAL, self.changed.notified()).await.is_err() {
            if let Watching::Told { folder, .. } = &self.watching
                && block_in_place(|| Folder::at(&self.dir)) != *folder
            {
                break;
            }
        }
        let last = Instant::now() + MAX_WAIT;
        let quiet = || last.min(Instant::now() + QUIET);
        while Instant::now() < last && timeout_at(quiet(), self.changed.notified()).await.is_ok() {}
        if matches!(self.watching, Watching::Told { .. }) {
            // Another folder may stand where one was watched. Who looks sees that without further ado.
            self.watching = block_in_place(|| watch(&self.dir, &self.changed, false))?;
        }
        Ok(())
    }
}

impl Folder {
    /// Where a path leads at the moment, if it leads anywhere.
    fn at(dir: &Path) -> Option<Self> {
        let path = dir.canonicalize().ok()?;
        #[cfg(unix)]
        let id = {
            use std::os::unix::fs::MetadataExt;
            let metadata = path.metadata().ok()?;
            (metadata.dev(), metadata.ino())
        };
        Some(Self {
            path,
            #[cfg(unix)]
            id,
        })
    }
}

/// Watches a tree.
fn watch(dir: &Path, changed: &Arc<Notify>, poll: bool) -> io::Result<Watching> {
    if !poll {
        match told(dir, changed) {
            Ok(watching) => return Ok(watching),
            Err(error) => {
                let reason = match error.kind {
                    ErrorKind::MaxFilesWatch => "its limit of watches is reached".to_owned(),
                    _ => error.to_string(),
                };
                let dir = dir.display();
                let _ = writeln!(
                    io::stderr(),
                    "warning: the system does not tell of changes below `{dir}` ({reason}): looking twice a second instead"
                );
            }
        }
    }
    looking(dir, changed).map_err(io::Error::other)
}

/// Asks the system.
fn told(dir: &Path, changed: &Arc<Notify>) -> notify::Result<Watching> {
    let folder = Folder::at(dir);
    let mut roots = vec![dir.to_owned()];
    roots.extend(folder.iter().map(|folder| folder.path.clone()).filter(|path| path != dir));
    let changed = Arc::clone(changed);
    let below = roots.clone();
    // An error is that something is no longer watched, which is found out by watching again.
    let tell = move |event: notify::Result<Event>| {
        if event.map_or(true, |event| concerns(&event, &below)) {
            changed.notify_one();
        }
    };
    // Links lead to places inside the tree, which are watched anyway, or the tree does not compile.
    let mut watcher = RecommendedWatcher::new(tell, Config::default().with_follow_symlinks(false))?;
    for parent in roots.iter().filter_map(|root| root.parent()) {
        // For when the folder itself is removed or replaced, so that this is told at once. Where it is not, it is seen
        // within a second.
        let _ = watcher.watch(parent, NonRecursive);
    }
    let folder = match folder.map(|folder| (watcher.watch(&folder.path, Recursive), folder)) {
        Some((Ok(()), folder)) => Some(folder),
        // It has gone meanwhile. Whatever comes in its place is another one.
        Some((Err(error), _)) if !matches!(error.kind, ErrorKind::PathNotFound) => return Err(error),
        _ => None,
    };
    Ok(Watching::Told { _watcher: watcher, folder })
}

/// Looks, and at the contents too: times are kept by some who replace a file, and not exact everywhere.
fn looking(dir: &Path, changed: &Arc<Notify>) -> notify::Result<Watching> {
    let (changed, below) = (Arc::clone(changed), [dir.to_owned()]);
    // An error is that the folder is not there, which it says each time.
    let tell = move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| concerns(&event, &below)) {
            changed.notify_one();
        }
    };
    let config = Config::default().with_poll_interval(POLL_INTERVAL).with_compare_contents(true);
    let mut watcher = PollWatcher::new(tell, config.with_follow_symlinks(false))?;
    watcher.watch(dir, Recursive)?;
    Ok(Watching::Looking { _watcher: watcher })
}

/// Whether something has happened to a file of the tree. Hidden ones are none, and to be read is nothing: the compiler
/// does that.
fn concerns(event: &Event, roots: &[PathBuf]) -> bool {
    let is_hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    let is_content = |path: &PathBuf| {
        let below = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        below.into_iter().any(|below| !below.components().any(is_hidden))
    };
    !matches!(event.kind, EventKind::Access(_)) && (event.need_rescan() || event.paths.iter().any(is_content))
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, Flag};

    use super::*;

    #[test]
    fn reading_hidden_files_and_neighbours_do_not_concern_it() {
        let roots = [PathBuf::from("/a/content"), PathBuf::from("/b/.real")];
        let created = |path: &str| Event::new(EventKind::Create(CreateKind::Any)).add_path(path.into());
        for (path, expected) in [
            ("/a/content", true),
            ("/a/content/docs/server.yaml", true),
            ("/b/.real/docs/server.yaml", true),
            ("/a", false),
            ("/a/content2/docs/server.yaml", false),
            ("/a/content/.git/index", false),
            ("/a/content/docs/.page.md.swp", false),
        ] {
            assert_eq!(concerns(&created(path), &roots), expected, "{path}");
        }
        let renamed = created("/a/content/.page.md.tmp").add_path("/a/content/page.md".into());
        assert!(concerns(&renamed, &roots));
        let read = Event::new(EventKind::Access(AccessKind::Any)).add_path("/a/content/page.md".into());
        assert!(!concerns(&read, &roots));
        assert!(concerns(&Event::new(EventKind::Other).set_flag(Flag::Rescan), &roots));
    }
}
