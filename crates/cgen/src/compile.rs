//! Runs the system's C compiler and caches its results.
//!
//! What enters: C text. What leaves: a shared object, from a private cache if the same text was compiled before with
//! the same runtime headers, flags, compiler and machine.

use crate::cache_entry::CacheEntry;
use crate::{cache, runtime};
use base::private;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a program is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// The compiler, optionally with arguments, separated by spaces. None: `$CC`, else the first of `cc`, `clang` and
    /// `gcc` that is installed. Under an emulator, it may be a cross compiler for the emulated machine.
    pub compiler: Option<String>,
    /// The machine to compile for, as `aarch64-linux-gnu`: the compiler is then `aarch64-linux-gnu-gcc` unless one is
    /// named (clang gets `--target`), and the result is for no particular processor. None: this machine.
    pub target: Option<String>,
    /// Where results are cached. None: `$XDG_CACHE_HOME/wirespeed` or `~/.cache/wirespeed`. If nothing can be written
    /// to it or loaded from it, a private temporary folder is used instead. The cache is limited to 256 MiB; the least
    /// recently used results are deleted.
    pub cache_dir: Option<PathBuf>,
    /// How much the compiler optimises.
    pub optimise: Optimise,
    /// Undefined behaviour of the C code stops the process (for tests).
    pub sanitize: bool,
    /// All warnings are errors (for tests).
    pub deny_warnings: bool,
}

/// How much the compiler optimises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Optimise {
    /// Not at all: compiling is fast.
    None,
    /// Fully: the code is fast.
    #[default]
    Full,
}

/// Why there is no shared object.
#[derive(Debug)]
pub enum CompileError {
    /// There is no compiler.
    NoCompiler {
        /// The names of those that were tried.
        tried: Vec<String>,
    },
    /// There is no compiler for another machine.
    NoCrossCompiler {
        /// The machine.
        target: String,
        /// The names of those that were tried.
        tried: Vec<String>,
    },
    /// The compiler failed.
    Failed {
        /// The command.
        command: String,
        /// Its error output.
        stderr: String,
    },
    /// A file or folder cannot be used.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::NoCompiler { tried } => write!(
                f,
                "no C compiler found (tried {}); install gcc or clang, or name one in the environment variable CC",
                tried.join(", ")
            ),
            CompileError::NoCrossCompiler { target, tried } => write!(
                f,
                "no C compiler for {target} found (tried {}); on Debian install the package {}",
                tried.join(", "),
                debian_package(target)
            ),
            CompileError::Failed { command, stderr } => write!(f, "the C compiler failed: {command}\n{stderr}"),
            CompileError::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for CompileError {}

/// A compiled program.
#[derive(Debug)]
pub struct SharedObject {
    /// The file.
    pub path: PathBuf,
    /// Whether it comes from the cache.
    pub from_cache: bool,
    /// Why it is not in the cache, if there is one.
    pub aside: Option<String>,
    /// Deletes the file in the end, if there is no cache to keep it in.
    _temporary: Option<tempfile::TempDir>,
}

/// Compiles C text to a shared object, or finds it in the cache.
pub fn compile(c_text: &str, options: &CompileOptions) -> Result<SharedObject, CompileError> {
    let job = Job::new(c_text, options)?;
    match job.in_cache(|place| place.holds(c_text)) {
        Err(error @ CompileError::Io { .. }) => match job.aside(&error.to_string(), |_| Ok::<(), Infallible>(())) {
            Ok(Ok(((), object))) => Ok(object),
            Err(_) => Err(error),
        },
        made => made,
    }
}

/// Compiles C text and loads what was made. An object of the cache that does not load is made again, once: it may be
/// of another system that shares the cache. If that does not load either, as where nothing in the cache may be
/// executed, it is made in another folder. Also returns why the cache was not used.
pub(crate) fn compile_and_load<T, E: std::fmt::Display>(
    c_text: &str,
    options: &CompileOptions,
    load: impl Fn(&Path) -> Result<T, E>,
) -> Result<Result<(T, Option<String>), E>, CompileError> {
    let job = Job::new(c_text, options)?;
    let mut why = None;
    for trusts in [true, false] {
        match job.in_cache(|place| trusts && place.holds(c_text)) {
            Ok(object) => match load(&object.path) {
                Ok(loaded) => return Ok(Ok((loaded, object.aside))),
                Err(error) => why = Some(error.to_string()),
            },
            Err(error @ CompileError::Io { .. }) => {
                why = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let made = job.aside(&why.unwrap_or_default(), load)?;
    Ok(made.map(|(loaded, object)| (loaded, object.aside)))
}

/// More than what the compiler makes of most programs.
const ROOM_BYTES: usize = 4 << 20;

/// Folders for temporary files, beside that of the environment.
const TEMPORARY_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// C text that is to be compiled.
struct Job<'a> {
    text: &'a str,
    options: &'a CompileOptions,
    compiler: Compiler,
    flags: Vec<OsString>,
    key: String,
}

impl<'a> Job<'a> {
    fn new(text: &'a str, options: &'a CompileOptions) -> Result<Job<'a>, CompileError> {
        let compiler = Compiler::find(options)?;
        let flags = flags(options, &compiler);
        let key = cache_key(text, &flags, &compiler, options.target.is_none());
        Ok(Job { text, options, compiler, flags, key })
    }

    /// An object in the cache.
    fn in_cache(&self, is_there: impl Fn(&CacheEntry) -> bool) -> Result<SharedObject, CompileError> {
        let folder = cache_folder(self.options)?;
        let place = CacheEntry::new(&folder, &self.key);
        if is_there(&place) {
            cache::note_use(&place.object);
            return Ok(SharedObject { path: place.object, from_cache: true, aside: None, _temporary: None });
        }
        self.make(&folder, &place, None)?;
        cache::shrink(&folder, cache::BYTES_MAX, cache::KEPT_FOR);
        Ok(SharedObject { path: place.object, from_cache: false, aside: None, _temporary: None })
    }

    /// An object in the first temporary folder where it can be made and loaded: a folder may be full, or on a file
    /// system where nothing may be executed. `why` says what is wrong with the cache.
    fn aside<T, E>(
        &self,
        why: &str,
        load: impl Fn(&Path) -> Result<T, E>,
    ) -> Result<Result<(T, SharedObject), E>, CompileError> {
        let (mut not_made, mut not_loaded) = (None, None);
        for above in std::iter::once(std::env::temp_dir()).chain(TEMPORARY_FOLDERS.map(PathBuf::from)) {
            let object = match self.temporary(&above, why) {
                Ok(object) => object,
                Err(error @ CompileError::Io { .. }) => {
                    not_made = not_made.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            match load(&object.path) {
                Ok(loaded) => return Ok(Ok((loaded, object))),
                Err(error) => not_loaded = not_loaded.or(Some(error)),
            }
        }
        match (not_loaded, not_made) {
            (Some(error), _) => Ok(Err(error)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(CompileError::Io { path: std::env::temp_dir(), error: io::ErrorKind::NotFound.into() }),
        }
    }

    /// An object in a new folder in this one.
    fn temporary(&self, above: &Path, why: &str) -> Result<SharedObject, CompileError> {
        let temporary = temporary_folder(above)?;
        let place = CacheEntry::new(temporary.path(), &self.key);
        self.make(temporary.path(), &place, Some(temporary.path()))?;
        let aside = Some(why.to_owned());
        Ok(SharedObject { path: place.object, from_cache: false, aside, _temporary: Some(temporary) })
    }

    fn make(&self, folder: &Path, place: &CacheEntry, scratch_folder: Option<&Path>) -> Result<(), CompileError> {
        let include = write_runtime(folder)?;
        write_atomically(&place.text, self.text.as_bytes())?;
        let scratch = folder.join(temporary_name(&self.key));
        let mut arguments = self.flags.clone();
        arguments.extend(["-I".into(), include.into(), "-o".into(), scratch.clone().into(), place.text.clone().into()]);
        let made = run(&self.compiler, arguments, scratch_folder).and_then(|()| {
            let put = place.put(&scratch, &folder.join(temporary_name(&self.key)));
            put.map_err(|error| CompileError::Io { path: place.object.clone(), error })
        });
        // What may be left is of no use; the error that counts is the first.
        let _left = fs::remove_file(&scratch);
        made.map_err(|error| match error {
            CompileError::Failed { .. } => {
                let temporary = scratch_folder.map_or_else(std::env::temp_dir, Path::to_owned);
                let full = [folder, &*temporary].into_iter().find_map(|it| Some((it, room(it).err()?)));
                full.map_or(error, |(full, why)| CompileError::Io { path: full.to_owned(), error: why })
            }
            other => other,
        })
    }
}

/// An error if what a compiler makes has no room in the folder.
fn room(folder: &Path) -> io::Result<()> {
    use std::io::Write as _;
    let mut file = tempfile::tempfile_in(folder)?;
    (0..ROOM_BYTES / 4096).try_for_each(|_| file.write_all(&[0; 4096]))
}

/// Runs the compiler, whose temporary files go to this folder, if it is not the usual one.
fn run(compiler: &Compiler, mut arguments: Vec<OsString>, scratch_folder: Option<&Path>) -> Result<(), CompileError> {
    let run = |arguments: &[OsString]| {
        let mut command = compiler.private_command();
        if let Some(folder) = scratch_folder {
            command.env("TMPDIR", folder);
        }
        let output = command.args(arguments).output();
        output.map_err(|error| CompileError::Io { path: compiler.words[0].clone().into(), error })
    };
    let mut output = run(&arguments)?;
    if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("native") {
        // The compiler does not know the processor that it runs on: a cross compiler under an emulator.
        arguments.retain(|argument| argument != THIS_PROCESSOR);
        output = run(&arguments)?;
    }
    if output.status.success() {
        return Ok(());
    }
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = format!("{} {}", compiler.words.join(" "), words.join(" "));
    Err(CompileError::Failed { command, stderr: String::from_utf8_lossy(&output.stderr).into_owned() })
}

/// The flag for code for the processor that the compiler runs on.
const THIS_PROCESSOR: &str = "-march=native";

/// The Debian package that has gcc for a machine.
fn debian_package(target: &str) -> String {
    format!("gcc-{}", target.replace('_', "-"))
}

struct Compiler {
    /// The command and its first arguments.
    words: Vec<String>,
    /// The output of `--version`.
    version: String,
}

impl Compiler {
    fn find(options: &CompileOptions) -> Result<Compiler, CompileError> {
        let from_environment = || std::env::var("CC").ok().filter(|value| !value.trim().is_empty());
        let candidates: Vec<String> = match (&options.compiler, &options.target) {
            (Some(compiler), _) => vec![compiler.clone()],
            (None, Some(target)) => vec![format!("{target}-gcc"), format!("{target}-clang"), "clang".into()],
            (None, None) => match from_environment() {
                Some(compiler) => vec![compiler],
                None => vec!["cc".into(), "clang".into(), "gcc".into()],
            },
        };
        for candidate in &candidates {
            let words: Vec<String> = candidate.split_whitespace().map(str::to_owned).collect();
            let Some((program, arguments)) = words.split_first() else { continue };
            let output = Command::new(program).args(arguments).arg("--version").output();
            if let Ok(output) = output.as_ref().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()) {
                let compiler = Compiler { words, version: output };
                // A clang may support the machine without having its libraries.
                if candidate != "clang" || options.target.as_ref().is_none_or(|target| compiler.links_for(target)) {
                    return Ok(compiler);
                }
            }
        }
        Err(match &options.target {
            Some(target) => CompileError::NoCrossCompiler { target: target.clone(), tried: candidates },
            None => CompileError::NoCompiler { tried: candidates },
        })
    }

    /// Whether it makes shared objects for another machine.
    fn links_for(&self, target: &str) -> bool {
        let mut command = self.command();
        command.args(["-x", "c", "-shared", "-fPIC", "-o", "/dev/null", "/dev/null"]);
        command.arg(format!("--target={target}")).output().is_ok_and(|output| output.status.success())
    }

    fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// The same, with a umask: a linker gives its output a mode of its own, and replaces a file that is there already.
    fn private_command(&self) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 077 && exec \"$0\" \"$@\""]).args(&self.words);
        command
    }
}

fn flags(options: &CompileOptions, compiler: &Compiler) -> Vec<OsString> {
    let mut flags = vec!["-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-g1"];
    flags.push(match options.optimise {
        Optimise::None => "-O0",
        Optimise::Full => "-O3",
    });
    if compiler.is_clang() {
        // Generated code nests as deeply as the program.
        flags.push("-fbracket-depth=65536");
    }
    // Some compilers only warn about these, and the code would be wrong.
    flags.extend(["-Werror=incompatible-pointer-types", "-Werror=int-conversion"]);
    if options.sanitize {
        flags.extend(["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]);
    }
    if options.deny_warnings {
        flags.extend(["-Wall", "-Wextra", "-Wshadow", "-Werror"]);
    }
    let mut flags: Vec<OsString> = flags.into_iter().map(Into::into).collect();
    match &options.target {
        None => flags.push(THIS_PROCESSOR.into()),
        Some(target) if compiler.is_clang() => flags.push(format!("--target={target}").into()),
        Some(_) => {}
    }
    flags
}

/// The cache's folder, which is made if it is missing. An error of input or output if there can be no cache.
fn cache_folder(options: &CompileOptions) -> Result<PathBuf, CompileError> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let of_environment = || {
        let folder = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        folder.map(|folder| folder.join("wirespeed"))
    };
    let Some(folder) = options.cache_dir.clone().or_else(of_environment) else {
        let error = io::Error::other("neither XDG_CACHE_HOME nor HOME is the absolute path of a folder");
        return Err(CompileError::Io { path: "the cache of compiled programs".into(), error });
    };
    match make_private(&folder) {
        Ok(()) => Ok(folder),
        Err(error) => Err(CompileError::Io { path: folder, error }),
    }
}

/// A new private folder, which is deleted in the end.
fn temporary_folder(above: &Path) -> Result<tempfile::TempDir, CompileError> {
    let made = tempfile::Builder::new().prefix("wirespeed-").tempdir_in(above);
    made.map_err(|error| CompileError::Io { path: above.to_owned(), error })
}

/// Makes the folder, and makes sure that it is ours and no one else's: what lies in it is loaded and run.
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    private::make_folder(folder)?;
    let metadata = fs::symlink_metadata(folder)?;
    if !metadata.is_dir() || metadata.uid() != private::user()? {
        return Err(io::Error::other("the cache is not a folder that belongs to this user"));
    }
    if metadata.mode() & 0o777 != private::FOLDER_MODE {
        fs::set_permissions(folder, fs::Permissions::from_mode(private::FOLDER_MODE))?;
    }
    Ok(())
}

fn cache_key(c_text: &str, flags: &[OsString], compiler: &Compiler, for_this_machine: bool) -> String {
    let mut hash = Fnv::new();
    hash.part(env!("CARGO_PKG_VERSION").as_bytes());
    hash.part(c_text.as_bytes());
    for (name, text) in runtime::FILES {
        hash.part(name.as_bytes());
        hash.part(text.as_bytes());
    }
    flags.iter().for_each(|flag| hash.part(flag.as_encoded_bytes()));
    compiler.words.iter().for_each(|word| hash.part(word.as_bytes()));
    hash.part(compiler.version.as_bytes());
    if for_this_machine {
        hash.part(processor().as_bytes());
    }
    format!("{:032x}", hash.number())
}

/// The cache's folder, if there is a cache. An error if the caller names one that cannot be used.
pub(crate) fn lasting_folder(options: &CompileOptions) -> Result<Option<PathBuf>, CompileError> {
    match (cache_folder(options), &options.cache_dir) {
        (Err(error), Some(_)) => Err(error),
        (folder, _) => Ok(folder.ok()),
    }
}

/// The properties of the processor that `-march=native` depends on, so that several machines can share a cache.
pub(crate) fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let telling = ["model name", "flags", "Features", "CPU part", "isa"];
    let first = text.split("\n\n").next().unwrap_or_default();
    first.lines().filter(|line| telling.iter().any(|name| line.starts_with(name))).collect()
}

/// FNV-1a with 128 bits, over parts with their lengths.
pub(crate) struct Fnv(u128);

impl Fnv {
    pub(crate) fn new() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// The hash of the parts so far.
    pub(crate) fn number(&self) -> u128 {
        self.0
    }

    pub(crate) fn part(&mut self, bytes: &[u8]) {
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

/// Writes the runtime headers to a folder named by their contents.
fn write_runtime(folder: &Path) -> Result<PathBuf, CompileError> {
    let mut hash = Fnv::new();
    for (name, text) in runtime::FILES {
        hash.part(name.as_bytes());
        hash.part(text.as_bytes());
    }
    let include = folder.join(format!("runtime-{:032x}", hash.number()));
    let make = || {
        if !fs::symlink_metadata(&include).is_ok_and(|found| found.is_dir()) {
            private::remove(&include)?;
        }
        make_private(&include)
    };
    make().map_err(|error| CompileError::Io { path: include.clone(), error })?;
    for (name, text) in runtime::FILES {
        let path = include.join(name);
        if !private::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            write_atomically(&path, text.as_bytes())?;
        }
    }
    Ok(include)
}

pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), CompileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let scratch = path.with_file_name(temporary_name(&name));
    private::replace(path, &scratch, bytes).map_err(|error| CompileError::Io { path: path.to_owned(), error })
}

/// A name that no other process or thread uses. `cache` deletes such files when nobody writes them any more.
pub(crate) fn temporary_name(name: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{name}.{}.{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed), cache::TEMPORARY)
}
