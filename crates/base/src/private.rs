//! Files and folders that only this user can access: those from which code is loaded or a state is restored.
//!
//! What enters: paths. What leaves: open files and folders with the modes 0600 and 0700, whatever the umask, or an
//! error that states what is wrong. The last component of a path is never followed if it is a symbolic link, and
//! opening a pipe or a device does not block.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The mode of a private file.
pub const FILE_MODE: u32 = 0o600;

/// The mode of a private folder.
pub const FOLDER_MODE: u32 = 0o700;

/// The user that this process runs as.
pub fn user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

/// Creates a folder and its missing parents. New folders are private; a folder that exists is not changed.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && fs::symlink_metadata(it).is_err()).collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
            // The umask can only have removed permissions.
            Ok(()) => fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    match fs::metadata(folder)?.is_dir() {
        true => Ok(()),
        false => Err(io::Error::other("it is not a folder")),
    }
}

/// The reason why the file found at a path (without following a link) is not private; `None` if it is private.
pub fn objection(found: &Metadata) -> io::Result<Option<&'static str>> {
    let mode = found.mode();
    Ok(match () {
        () if found.is_symlink() => Some("it is a symbolic link"),
        () if found.is_dir() => Some("it is a folder"),
        () if !found.is_file() => Some("it is not a regular file"),
        () if found.nlink() != 1 => Some("it has other names (hard links)"),
        () if found.uid() != user()? => Some("it belongs to another user"),
        () if mode & 0o022 != 0 => Some("others can write to it"),
        () => None,
    })
}

/// Opens a private file for reading. Anything else is an error.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match objection(&file.metadata()?)? {
        None => Ok(file),
        Some(why) => Err(io::Error::other(why)),
    }
}

/// Reads the bytes of a private file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates a file, which must not exist, for appending.
pub fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create_new(true).append(true).mode(FILE_MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Removes whatever exists at a path. It is not an error if nothing exists there.
pub fn remove(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Replaces the file at a path atomically: readers see either the old contents or all of the new ones. The new file
/// is flushed to storage before it gets its name. `scratch` is a path in the same folder that nothing else uses; a
/// file that a killed process left there is removed.
pub fn replace(path: &Path, scratch: &Path, bytes: &[u8]) -> io::Result<()> {
    let write = || {
        remove(scratch)?;
        let mut file = create(scratch)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            // A file cannot be renamed over a folder.
            fs::remove_dir_all(path)?;
        }
        fs::rename(scratch, path)
    };
    write().inspect_err(|_| {
        // The first error is the one to report.
        let _left = fs::remove_file(scratch);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn new_files_and_folders_are_private() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a/b");
        make_folder(&folder).unwrap();
        let file = folder.join("file");
        replace(&file, &folder.join("scratch"), b"text").unwrap();
        assert_eq!((mode(&above.path().join("a")), mode(&folder), mode(&file)), (0o700, 0o700, 0o600));
        assert_eq!(read(&file).unwrap(), b"text");
        assert!(make_folder(&file).is_err());
    }

    #[test]
    fn nothing_but_a_private_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let refused = |name: &str| open(&path(name)).unwrap_err().to_string();
        create(&path("file")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        assert!(refused("link").contains("symbolic link"), "{}", refused("link"));
        assert_eq!(refused("folder"), "it is a folder");
        assert_eq!(refused("pipe"), "it is not a regular file");
        for writable in [0o620, 0o602] {
            fs::set_permissions(path("file"), Permissions::from_mode(writable)).unwrap();
            assert_eq!(refused("file"), "others can write to it");
        }
        fs::set_permissions(path("file"), Permissions::from_mode(0o644)).unwrap();
        assert!(open(&path("file")).is_ok(), "others may read");
        fs::hard_link(path("file"), path("second")).unwrap();
        assert_eq!(refused("file"), "it has other names (hard links)");
        assert!(create(&path("link")).is_err(), "what is there is not followed");
    }
}
