//! Objects in the cache are loaded only if they are unchanged and cannot be changed by other users.

use cgen::{CacheNote, CompileOptions, Native, Optimise, Plan, SharedObject, compile};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

const TEXT: &str = "int answer(void);\nint answer(void) { return 42; }\n";

fn options(folder: &Path) -> CompileOptions {
    CompileOptions { cache_dir: Some(folder.to_owned()), optimise: Optimise::None, ..CompileOptions::default() }
}

fn compiled(folder: &Path) -> SharedObject {
    compile(TEXT, &options(folder)).expect("valid C")
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("our file");
}

/// Does something to a file.
type Damage = fn(&Path);

/// Writes other bytes into the same file.
fn rewrite(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("our file");
    change(&mut bytes);
    fs::write(path, bytes).expect("our file");
}

fn flip(path: &Path, position: impl FnOnce(usize) -> usize) {
    rewrite(path, |bytes| {
        let position = position(bytes.len());
        bytes[position] ^= 0x10;
    });
}

/// Leaves what was there beside the path.
fn move_beside(path: &Path) -> PathBuf {
    let beside = path.with_extension("beside");
    fs::rename(path, &beside).expect("our folder");
    beside
}

const DAMAGES: &[(&str, Damage)] = &[
    ("empty", |path| fs::write(path, "").unwrap()),
    ("cut to a byte", |path| rewrite(path, |bytes| bytes.truncate(1))),
    ("cut in half", |path| rewrite(path, |bytes| bytes.truncate(bytes.len() / 2))),
    ("cut by a byte", |path| rewrite(path, |bytes| bytes.truncate(bytes.len() - 1))),
    ("longer by a byte", |path| rewrite(path, |bytes| bytes.push(0))),
    ("zeroed", |path| rewrite(path, |bytes| bytes.fill(0))),
    ("zeroed from the middle on", |path| {
        rewrite(path, |bytes| {
            let half = bytes.len() / 2;
            bytes[half..].fill(0);
        });
    }),
    ("a bit of the first byte", |path| flip(path, |_| 0)),
    ("a bit in the middle", |path| flip(path, |length| length / 2)),
    ("a bit of the last byte", |path| flip(path, |length| length - 1)),
    ("gone", |path| fs::remove_file(path).unwrap()),
    ("a folder", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
        fs::write(path.join("file"), "").unwrap();
    }),
    ("a pipe", |path| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a link to the same", |path| std::os::unix::fs::symlink(move_beside(path), path).unwrap()),
    ("a link to itself", |path| {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink(path, path).unwrap();
    }),
    ("a second name", |path| fs::hard_link(move_beside(path), path).unwrap()),
    ("writable by a group", |path| set_mode(path, 0o620)),
    ("writable by all", |path| set_mode(path, 0o602)),
];

#[test]
fn what_is_not_as_it_was_put_there_is_compiled_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sound = fs::read(compiled(folder.path()).path).expect("the object");
    for ending in ["so", "seal", "c"] {
        for (name, damage) in DAMAGES {
            let object = compiled(folder.path());
            assert!(object.from_cache, "before {name} of .{ending}");
            damage(&object.path.with_extension(ending));
            let again = compiled(folder.path());
            assert!(!again.from_cache, "{name} of .{ending}");
            // Without a seal, the object was never finished, or it was deleted to free space.
            let is_noticed = matches!(&again.note, Some(CacheNote::Replaced(why)) if why.ends_with("it is damaged"));
            let sealed = (ending, *name) != ("seal", "gone");
            assert_eq!(is_noticed, sealed, "{name} of .{ending}: {:?}", again.note);
            assert!(fs::read(&again.path).expect("the object") == sound, "{name} of .{ending}");
            let _gone = fs::remove_file(object.path.with_extension("beside"));
        }
    }
}

#[test]
fn the_runtime_headers_are_put_right() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let entries = fs::read_dir(folder.path()).expect("the cache").map(|entry| entry.expect("the cache").path());
    let include = entries.into_iter().find(|path| path.is_dir()).expect("the folder of the headers");
    let header = include.join("wirespeed.h");
    let sound = fs::read(&header).expect("a header");
    let uses = "#include \"wirespeed.h\"\nint x;\n";
    for (number, (name, damage)) in DAMAGES.iter().enumerate() {
        damage(&header);
        compile(&format!("{uses}int y{number};\n"), &options(folder.path()))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(fs::read(&header).expect("a header") == sound, "{name}");
        let _gone = fs::remove_file(header.with_extension("beside"));
    }
    fs::remove_dir_all(&include).expect("our folder");
    std::os::unix::fs::symlink("/nonexistent", &include).expect("our folder");
    compile(&format!("{uses}int z;\n"), &options(folder.path())).expect("valid C");
    assert!(fs::symlink_metadata(&include).expect("the folder of the headers").is_dir());
}

#[test]
fn what_belongs_to_another_user_is_not_loaded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = compiled(folder.path());
    if std::os::unix::fs::chown(&object.path, Some(12345), None).is_err() {
        testkit::skip("needs root, to give a file to another user");
        return;
    }
    assert!(!compiled(folder.path()).from_cache);
    assert!(compiled(folder.path()).from_cache);
}

/// An object can be as it was put there, and still not fit: of another program, or of a system with other libraries.
#[test]
fn what_does_not_load_is_compiled_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l3fwd/l3fwd.p4");
    let program = testkit::pipeline::program_of_file(&path).expect("the example router");
    let plan = Plan::new(&program).expect("a plan");
    let text = cgen::emit_c(&program, &plan, &|_| None);
    let options = options(folder.path());
    let object = compile(&text, &options).expect("valid C");
    let other = compiled(folder.path());
    fs::rename(&other.path, &object.path).expect("our folder");
    let key = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).expect("a key").to_owned();
    let seal = fs::read_to_string(other.path.with_extension("seal")).expect("our folder");
    let seal = seal.replace(&key(&other.path), &key(&object.path));
    fs::write(object.path.with_extension("seal"), seal).expect("our folder");
    let found = compile(&text, &options).expect("valid C");
    assert!(found.from_cache && Native::load(&found.path, &plan).is_err(), "it is sealed, and another's");
    Native::build(&text, &plan, &options).expect("it is compiled again");
    Native::load(&compile(&text, &options).expect("valid C").path, &plan).expect("and stays so");
}

/// A process that runs an object is killed if it is mapped and somebody empties its file.
#[test]
fn what_is_loaded_does_not_change_with_its_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l3fwd/l3fwd.p4");
    let program = testkit::pipeline::program_of_file(&path).expect("the example router");
    let plan = Plan::new(&program).expect("a plan");
    let text = cgen::emit_c(&program, &plan, &|_| None);
    let object = compile(&text, &options(folder.path())).expect("valid C");
    let native = Native::load(&object.path, &plan).expect("it fits");
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux");
    let path = object.path.to_str().expect("our folder");
    assert!(!maps.lines().any(|line| line.ends_with(path)), "the file of the cache is mapped");
    let is_left =
        |entry: io::Result<fs::DirEntry>| entry.expect("our folder").path().extension() == Some("tmp".as_ref());
    assert!(!fs::read_dir(folder.path()).expect("our folder").any(is_left), "the copy has no name any more");
    fs::write(path, "").expect("our file");
    let mut copies = vec![native];
    for _ in 0..3 {
        let object = compile(&text, &options(folder.path())).expect("it is compiled again");
        copies.push(Native::load(&object.path, &plan).expect("it fits"));
    }
    drop(copies);
}

/// Two programs whose objects and seals have changed places.
#[test]
fn what_is_another_programs_is_compiled_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = compiled(folder.path());
    let text = TEXT.replace("42", "43");
    let second = compile(&text, &options(folder.path())).expect("valid C");
    let sound = fs::read(&first.path).expect("the object");
    for ending in ["so", "seal"] {
        let (first, second) = (first.path.with_extension(ending), second.path.with_extension(ending));
        let beside = move_beside(&first);
        fs::rename(&second, &first).expect("our folder");
        fs::rename(beside, &second).expect("our folder");
    }
    for text in [TEXT, &*text] {
        assert!(!compile(text, &options(folder.path())).expect("valid C").from_cache);
    }
    assert!(fs::read(&first.path).expect("the object") == sound);
}

/// A cache that cannot be one is no reason to run in the interpreter.
#[test]
fn what_cannot_be_stored_is_made_elsewhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = folder.path().join("cache");
    fs::write(&cache, "a file").expect("our folder");
    let made = compiled(&cache);
    assert!(made.path.exists() && !made.path.starts_with(&cache));
    let is_noted = matches!(&made.note, Some(CacheNote::Aside(why)) if why.contains("cache: it is not a folder"));
    assert!(is_noted, "{made:?}");
    let temporary = made.path.clone();
    drop(made);
    assert!(!temporary.exists(), "what is not stored is deleted");
    // A compiler's complaint is none of the folder's.
    let error = compile("int answer(void) { return", &options(&folder.path().join("other"))).expect_err("wrong C");
    assert!(matches!(error, cgen::CompileError::Failed { .. }), "{error}");
}

/// Run by the test below, in a process with a umask of its own.
#[test]
#[ignore = "run by another test, with a umask"]
fn child_with_a_umask() {
    let folder = PathBuf::from(std::env::var_os("WIRESPEED_TEST_CACHE").expect("the test sets it"));
    compiled(&folder);
}

/// Compiles in a process with this umask, with the compiler `CC` if there is one.
fn with_umask(umask: &str, cache: &Path, compiler: Option<&Path>) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; exec \"$0\" --exact cache::child_with_a_umask --ignored")]);
    command.arg(std::env::current_exe().expect("this test")).env("WIRESPEED_TEST_CACHE", cache);
    compiler.map(|compiler| command.env("CC", compiler));
    command.output().expect("a shell")
}

/// A process that is killed while it compiles leaves what the compiler writes. No other user may read that, and it is
/// deleted some time later.
#[test]
fn what_a_killed_process_leaves_is_private_and_deleted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (cache, compiler) = (folder.path().join("cache"), folder.path().join("cc"));
    let script = "#!/bin/sh\ncc \"$@\" || exit\n[ \"$1\" = --version ] || kill -9 $PPID\n";
    fs::write(&compiler, script).expect("our folder");
    set_mode(&compiler, 0o700);
    let killed = with_umask("000", &cache, Some(&compiler));
    assert_eq!(killed.status.signal(), Some(9), "{killed:?}");
    let left = || {
        let paths = fs::read_dir(&cache).expect("the cache").map(|entry| entry.expect("the cache").path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "tmp")).collect::<Vec<PathBuf>>()
    };
    let [file] = &left()[..] else { panic!("{:?}", left()) };
    assert_eq!(mode(file) & 0o077, 0);
    compiled(&cache);
    assert_eq!(left().len(), 1, "another machine may share the cache");
    let long_ago = SystemTime::now() - Duration::from_secs(3700);
    fs::File::open(file).and_then(|file| file.set_modified(long_ago)).expect("our file");
    compile("int other;\n", &options(&cache)).expect("valid C");
    assert_eq!(left(), [""; 0].map(PathBuf::from));
}

#[test]
fn all_is_private_whatever_the_umask() {
    for umask in ["000", "022", "077", "277"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = folder.path().join("a/cache");
        let done = with_umask(umask, &cache, None);
        assert!(done.status.success(), "{umask}: {done:?}");
        assert_eq!((mode(&folder.path().join("a")), mode(&cache)), (0o700, 0o700), "{umask}");
        let mut folders = vec![cache];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(&folder).expect("the cache").map(|entry| entry.expect("the cache").path()) {
                let expected = if path.is_dir() { 0o700 } else { 0o600 };
                assert_eq!(mode(&path), expected, "{umask}: {}", path.display());
                folders.extend(path.is_dir().then_some(path));
            }
        }
    }
}
