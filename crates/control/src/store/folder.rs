//! The state folder and the file that locks out other switches.
//!
//! What enters: a path. What leaves: a folder that only this user can change, and its lock. Somebody who can write to
//! the folder could make the switch read, truncate or overwrite another file through a link, so access of others is
//! removed or such a folder refused, and no link is followed. Nor is anything restored that a user other than this one
//! or root may have written: the program in the folder is run, and its tables decide where packets go.

use base::private;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Creates the folder if it is missing, and removes the access of others. A folder of another user is refused: its
/// owner can replace what is in it at any time.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    private::make_folder(folder)?;
    let found = fs::metadata(folder)?;
    if let Some(owner) = stranger(&found)? {
        return Err(refusal(format!("it belongs to another user (with the id {owner})")));
    }
    if found.mode() & 0o077 == 0 {
        return Ok(());
    }
    if found.uid() == private::user()? && is_for_state(folder)? {
        return fs::set_permissions(folder, Permissions::from_mode(private::FOLDER_MODE));
    }
    match found.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(io::Error::other(
            "others can write to it: name a folder that is only for the state (a new one is made with the mode 0700)",
        )),
    }
}

/// An error if a user other than this one or root owns a file of the folder.
pub(super) fn check_owner(path: &Path) -> io::Result<Metadata> {
    let found = fs::symlink_metadata(path)?;
    match stranger(&found)? {
        Some(owner) => Err(refusal(format!("{} belongs to another user (with the id {owner})", name(path)))),
        None => Ok(found),
    }
}

/// An error if a user other than this one or root may have written a file of the state.
pub(super) fn check_writer(path: &Path) -> io::Result<()> {
    let found = check_owner(path)?;
    match found.is_file() && found.mode() & 0o022 != 0 {
        true => Err(io::Error::other(format!(
            "others can write to {}: if no other user has changed it, `chmod go-w` it; otherwise name another folder",
            name(path)
        ))),
        false => Ok(()),
    }
}

fn name(path: &Path) -> impl std::fmt::Display {
    path.file_name().unwrap_or_default().display()
}

/// The owner, if it is neither this user nor root.
fn stranger(found: &Metadata) -> io::Result<Option<u32>> {
    Ok((found.uid() != 0 && found.uid() != private::user()?).then(|| found.uid()))
}

fn refusal(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Whether a folder is empty or was used by a switch: the access rights of any other folder are not changed.
fn is_for_state(folder: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(folder.join("lock")).is_ok() || fs::read_dir(folder)?.next().is_none())
}

/// Why the file at the lock's path cannot be the lock; `None` if it can, or if there is no file.
pub(super) fn objection_to_lock(path: &Path) -> Option<&'static str> {
    let found = fs::symlink_metadata(path).ok()?;
    match () {
        () if found.is_symlink() => Some("it is a symbolic link, which is not followed"),
        () if !found.is_file() => Some("it is not a file"),
        () if found.nlink() != 1 => Some("it is also another file (hard links)"),
        () => None,
    }
}

/// Opens the lock, which is created if it is missing.
pub(super) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(private::FILE_MODE);
    let lock = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    let found = lock.metadata()?;
    if found.uid() == private::user()? && found.mode() & 0o777 != private::FILE_MODE {
        lock.set_permissions(Permissions::from_mode(private::FILE_MODE))?;
    }
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use crate::store::Store;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    use std::path::Path;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_folder_and_its_files_are_private() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("state");
        drop(Store::open(&folder).unwrap());
        assert_eq!((mode(&folder), mode(&folder.join("lock"))), (0o700, 0o600));
        // So is one that an earlier version has made.
        set_mode(&folder, 0o777);
        set_mode(&folder.join("lock"), 0o666);
        drop(Store::open(&folder).unwrap());
        assert_eq!((mode(&folder), mode(&folder.join("lock"))), (0o700, 0o600));
    }

    #[test]
    fn a_folder_that_others_write_to_and_that_has_other_things_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes"), "").unwrap();
        set_mode(folder.path(), 0o777);
        let error = Store::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("others can write to it"), "{error}");
        assert_eq!(mode(folder.path()), 0o777);
        set_mode(folder.path(), 0o755);
        drop(Store::open(folder.path()).unwrap());
        assert_eq!(mode(folder.path()), 0o755, "what else is in it may be read by others");
    }

    /// What belongs to root or to this user is restored, and nothing else.
    #[test]
    fn what_another_user_may_have_written_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("state");
        let (store, _) = Store::open(&folder).unwrap();
        let (api, _) = crate::store::tests::api_over(crate::test_program::program());
        api.keep_in(store, serde_json::json!("a program")).unwrap();
        drop(api);
        let refused = || Store::open(&folder).err().unwrap();
        let names = || {
            let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        for name in ["snapshot-1.state", "log-1.state"] {
            let path = folder.join(name);
            for writable in [0o620, 0o602] {
                set_mode(&path, writable);
                let error = refused().to_string();
                assert!(error.contains(&format!("others can write to {name}: ")), "{error}");
            }
            set_mode(&path, 0o644);
        }
        for name in [".", "lock", "snapshot-1.state", "log-1.state"] {
            let path = folder.join(name);
            if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
                return skipped::skip("needs root, to give a file to another user");
            }
            let error = refused();
            assert_eq!(error.source.kind(), std::io::ErrorKind::PermissionDenied);
            let error = error.to_string();
            assert!(error.contains("belongs to another user (with the id 12345)"), "{name}: {error}");
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
        assert_eq!(names(), before, "nothing is set aside");
        let (_, saved) = Store::open(&folder).unwrap();
        assert!(saved.is_some() && saved.complaints.is_empty(), "{:?}", saved.complaints);
    }

    #[test]
    fn no_link_is_followed() {
        for is_there in [true, false] {
            let above = tempfile::tempdir().unwrap();
            let (folder, victim) = (above.path().join("state"), above.path().join("victim"));
            fs::create_dir(&folder).unwrap();
            if is_there {
                fs::write(&victim, "precious").unwrap();
            }
            for name in ["lock", "log-1.unfinished", "snapshot-1.unfinished", "log-1.state", "snapshot-1.state"] {
                symlink(&victim, folder.join(name)).unwrap();
            }
            let (store, saved) = Store::open(&folder).unwrap();
            assert!(saved.complaints[0].contains("symbolic link"), "{:?}", saved.complaints);
            let (api, _) = crate::store::tests::api_over(crate::test_program::program());
            api.keep_in(store, serde_json::Value::Null).unwrap();
            let left = fs::read_to_string(&victim).ok();
            assert_eq!(left.as_deref(), is_there.then_some("precious"));
            let kept = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            let files: Vec<_> = kept.filter(|path| !path.to_str().unwrap().contains("damaged")).collect();
            assert!(files.iter().all(|path| mode(path) == 0o600), "{files:?}");
        }
    }

    #[test]
    fn a_lock_that_is_another_file_is_not_written_to() {
        let above = tempfile::tempdir().unwrap();
        let (folder, victim) = (above.path().join("state"), above.path().join("victim"));
        fs::create_dir(&folder).unwrap();
        fs::write(&victim, "precious").unwrap();
        fs::hard_link(&victim, folder.join("lock")).unwrap();
        let (_, saved) = Store::open(&folder).unwrap();
        assert!(saved.complaints[0].contains("hard links"), "{:?}", saved.complaints);
        assert_eq!(fs::metadata(&victim).unwrap().ino(), fs::metadata(folder.join("lock.damaged-1")).unwrap().ino());
        assert_ne!(fs::metadata(&victim).unwrap().ino(), fs::metadata(folder.join("lock")).unwrap().ino());
    }
}
