//! The cache of compiled programs on file systems where it cannot be written to, or where nothing may be executed: the
//! program starts with native code from another folder, and one note says why.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The example of plug-ins, whose adapter is compiled, too.
const PLUG_INS: &str = include_str!("../../../docs/plug-ins.md");

/// A note on standard error.
const NOTE: &str = "note: ";

/// The end of that note.
const NOT_KEPT: &str = "is in a temporary folder, and is not kept";

/// Why these tests are skipped.
const NEEDS_MOUNTS: &str = "needs root (CAP_SYS_ADMIN), to mount file systems that no other process sees";

/// Makes file systems, seen only by the command that follows. They are in the folder `cache`, which is the cache, and
/// in other folders for temporary files.
struct Mounted {
    folder: TempDir,
}

impl Mounted {
    /// None if file systems cannot be mounted here; then the test is skipped.
    fn new() -> Option<Mounted> {
        if Command::new("unshare").arg("--version").output().is_err() {
            testkit::skip("needs the program `unshare`");
            return None;
        }
        let folder = TempDir::new().unwrap();
        let mounted = Mounted { folder };
        ["cache/wirespeed", "temporary"].iter().for_each(|name| std::fs::create_dir_all(mounted.path(name)).unwrap());
        let blocks = |language: &str| {
            let (_, rest) = PLUG_INS.split_once(&format!("```{language} file=sketch.{language}\n")).unwrap();
            rest.split_once("```").unwrap().0
        };
        for language in ["p4", "c", "stf"] {
            std::fs::write(mounted.path(&format!("sketch.{language}")), blocks(language)).unwrap();
        }
        let probe = mounted.run("mount -t tmpfs none temporary", &["--version"]);
        if !probe.status.success() {
            testkit::skip(NEEDS_MOUNTS);
            return None;
        }
        Some(mounted)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `wirespeed` after the lines of a shell.
    fn run(&self, mounts: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new("unshare");
        let script = format!("set -e\n{mounts}\nexec \"$@\"");
        command.args(["-m", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_wirespeed")]).args(arguments);
        command.current_dir(self.folder.path());
        command.env("XDG_CACHE_HOME", self.path("cache")).env("TMPDIR", self.path("temporary"));
        command.output().unwrap_or_else(|error| panic!("unshare: {error}"))
    }

    /// Runs a router without packets, as native code. Returns the notes.
    fn notes(&self, mounts: &str) -> Vec<String> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l2fwd/l2fwd.p4");
        let program = program.to_str().unwrap();
        notes(
            &self.run(
                mounts,
                &["run", program, "--backend", "native", "--port", "1=null", "--duration", "0.01", "--quiet"],
            ),
        )
    }

    /// What is left among the temporary files.
    fn left(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.path("temporary")).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// The notes of a command, which must succeed.
fn notes(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    // A note continues on the next line.
    let said = said.replace('\n', " ");
    said.split(NOTE).skip(1).map(str::to_owned).collect()
}

/// A cache that is full, that is on a file system that is only read, and in which nothing may be executed.
const UNUSABLE: [(&str, &str, &str); 3] = [
    (
        "full",
        "mount -t tmpfs -o size=64k,mode=0700 none cache/wirespeed
         head -c 65536 /dev/zero > cache/wirespeed/filler",
        "No space left on device",
    ),
    ("only read", "mount -t tmpfs -o ro,mode=0700 none cache/wirespeed", "Read-only file system"),
    ("not executed", "mount -t tmpfs -o noexec,mode=0700 none cache/wirespeed", "failed to map segment"),
];

#[test]
fn a_cache_that_cannot_be_used_is_reported_once() {
    let Some(mounted) = Mounted::new() else { return };
    for (name, mounts, why) in UNUSABLE {
        let notes = mounted.notes(mounts);
        assert!(matches!(&notes[..], [note] if note.contains(why) && note.contains(NOT_KEPT)), "{name}: {notes:?}");
    }
    // The folder cannot even be made.
    let notes = mounted.notes("mount -t tmpfs -o ro,mode=0700 none cache");
    assert!(matches!(&notes[..], [note] if note.contains("Read-only") && note.contains(NOT_KEPT)), "{notes:?}");
    assert_eq!(mounted.notes("mount -t tmpfs -o mode=0700 none cache/wirespeed"), [""; 0]);
    assert_eq!(mounted.left(), [""; 0], "temporary folders are removed");
}

/// The first folder for temporary files may be unusable, too: another one is used.
#[test]
fn temporary_folders_may_be_unusable_too() {
    let Some(mounted) = Mounted::new() else { return };
    for (name, mounts, why) in UNUSABLE {
        let both = format!("{mounts}\n{}", mounts.replace("cache/wirespeed", "temporary"));
        let notes = mounted.notes(&both);
        assert!(matches!(&notes[..], [note] if note.contains(why) && note.contains(NOT_KEPT)), "{name}: {notes:?}");
    }
}

/// What a cache has is used although nothing can be added to it.
#[test]
fn a_cache_that_is_only_read_is_used() {
    let Some(mounted) = Mounted::new() else { return };
    assert_eq!(mounted.notes(":"), [""; 0]);
    let read_only = "mount --bind cache/wirespeed cache/wirespeed && mount -o remount,ro,bind cache/wirespeed";
    assert_eq!(mounted.notes(read_only), [""; 0]);
}

/// The adapter to a plug-in is compiled and loaded like the program. The interpreter needs nothing else.
#[test]
fn an_adapter_to_a_plug_in_is_reported_like_the_program() {
    let Some(mounted) = Mounted::new() else { return };
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let header = mounted.run(":", &["compile", "sketch.p4", "--emit", "extern-header", "-o", "sketch.h"]);
    assert!(header.status.success(), "{header:?}");
    let arguments = ["-shared", "-fPIC", "-o", "sketch.so", "sketch.c"];
    assert!(Command::new(compiler).args(arguments).current_dir(mounted.path("")).status().unwrap().success());
    let run = ["run", "sketch.p4", "--extern", "./sketch.so", "--port", "1=null", "--duration", "0.01", "--quiet"];
    for (name, mounts, why) in UNUSABLE {
        for (backend, what) in [("interp", "the adapter to the plug-in is in"), ("native", "the native code is in")] {
            let notes = notes(&mounted.run(mounts, &[&run[..], &["--backend", backend]].concat()));
            let is_right = matches!(&notes[..], [note] if note.contains(why) && note.contains(what));
            assert!(is_right, "{name}, {backend}: {notes:?}");
        }
    }
}
