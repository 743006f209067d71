//! Runs the system's C compiler and caches its results.
//!
//! What enters: C text. What leaves: a shared object, from a private cache if the same text was compiled before with
//! the same runtime headers, flags, compiler and machine.

use crate::cache_entry::{CacheEntry, Found};
use crate::compiler::{Compiler, flags, run_all};
use crate::{cache, runtime, units};
use base::private;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
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

/// What was wrong with the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CacheNote {
    /// The object is not in the cache, for this reason, but in a temporary folder.
    Aside(String),
    /// The object that was there was damaged or does not load, for this reason. It was compiled again.
    Replaced(String),
}

/// A compiled program.
#[derive(Debug)]
pub struct SharedObject {
    /// The file.
    pub path: PathBuf,
    /// Whether it comes from the cache.
    pub from_cache: bool,
    /// What was wrong with the cache, if anything was.
    pub note: Option<CacheNote>,
    /// Deletes the file in the end, if there is no cache to store it in.
    _temporary: Option<tempfile::TempDir>,
}

/// Compiles C text to a shared object, or finds it in the cache.
pub fn compile(c_text: &str, options: &CompileOptions) -> Result<SharedObject, CompileError> {
    let job = Job::new(c_text, options)?;
    match job.in_cache(None) {
        Err(error @ CompileError::Io { .. }) => match job.aside(&error.to_string(), |_| Ok::<(), Infallible>(())) {
            Ok(Ok(((), object))) => Ok(object),
            Err(_) => Err(error),
        },
        made => made,
    }
}

/// Compiles C text and loads what was made. An object of the cache that does not load is made again, once: it may be
/// of another system that shares the cache. If that does not load either, as where nothing in the cache may be
/// executed, it is made in another folder. Also returns what was wrong with the cache.
pub(crate) fn compile_and_load<T, E: std::fmt::Display>(
    c_text: &str,
    options: &CompileOptions,
    load: impl Fn(&Path) -> Result<T, E>,
) -> Result<Result<(T, Option<CacheNote>), E>, CompileError> {
    let job = Job::new(c_text, options)?;
    let mut why = None;
    for _ in 0..2 {
        match job.in_cache(why.take()) {
            Ok(object) => match load(&object.path) {
                Ok(loaded) => return Ok(Ok((loaded, object.note))),
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
    Ok(made.map(|(loaded, object)| (loaded, object.note)))
}

/// More than what the compiler makes of most programs.
const SPACE_BYTES: usize = 4 << 20;

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

    /// An object in the cache. One that is there is made again if it is damaged, or if there is a reason, `unusable`.
    fn in_cache(&self, unusable: Option<String>) -> Result<SharedObject, CompileError> {
        let folder = cache_folder(self.options)?;
        let place = CacheEntry::new(&folder, &self.key);
        let found = place.find(self.text);
        if found == Found::Sound && unusable.is_none() {
            cache::note_use(&place.object);
            return Ok(SharedObject { path: place.object, from_cache: true, note: None, _temporary: None });
        }
        self.make(&folder, &place, None)?;
        cache::shrink(&folder, cache::BYTES_MAX, cache::KEPT_FOR);
        let damaged = || (found == Found::Damaged).then(|| format!("{}: it is damaged", place.object.display()));
        let note = unusable.or_else(damaged).map(CacheNote::Replaced);
        Ok(SharedObject { path: place.object, from_cache: false, note, _temporary: None })
    }

    /// An object in the first temporary folder where it can be made and loaded: a folder may be full, or on a file
    /// system where nothing may be executed. `why` describes what is wrong with the cache.
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
        let note = Some(CacheNote::Aside(why.to_owned()));
        Ok(SharedObject { path: place.object, from_cache: false, note, _temporary: Some(temporary) })
    }

    fn make(&self, folder: &Path, place: &CacheEntry, scratch_folder: Option<&Path>) -> Result<(), CompileError> {
        let include = write_runtime(folder)?;
        write_atomically(&place.text, self.text.as_bytes())?;
        let scratch = folder.join(temporary_name(&self.key));
        let made = self.make_object(&include, &place.text, &scratch, scratch_folder).and_then(|()| {
            let put = place.put(&scratch, &folder.join(temporary_name(&self.key)));
            put.map_err(|error| CompileError::Io { path: place.object.clone(), error })
        });
        // What may be left is of no use; the error that counts is the first.
        let _left = fs::remove_file(&scratch);
        made.map_err(|error| match error {
            CompileError::Failed { .. } => {
                let temporary = scratch_folder.map_or_else(std::env::temp_dir, Path::to_owned);
                let full = [folder, &*temporary].into_iter().find_map(|it| Some((it, check_space(it).err()?)));
                full.map_or(error, |(full, why)| CompileError::Io { path: full.to_owned(), error: why })
            }
            other => other,
        })
    }

    /// Compiles the text to a shared object: at once, or unit by unit, several at the same time, and then links these.
    fn make_object(
        &self,
        include: &Path,
        text: &Path,
        object: &Path,
        scratch_folder: Option<&Path>,
    ) -> Result<(), CompileError> {
        let arguments = |text: &Path, object: &Path, more: &[OsString]| {
            let input = ["-x".into(), "c".into(), text.into()];
            let all = self.flags.iter().chain(more).cloned();
            all.chain(["-I".into(), include.into(), "-o".into(), object.into()]).chain(input).collect::<Vec<_>>()
        };
        let units = units::texts(self.text, &text.to_string_lossy());
        if units.len() == 1 {
            return run_all(&self.compiler, vec![arguments(text, object, &["-shared".into()])], scratch_folder);
        }
        let folder = object.parent().unwrap_or(Path::new("."));
        let temporaries = || units.iter().map(|_| folder.join(temporary_name(&self.key))).collect::<Vec<_>>();
        let (texts, objects) = (temporaries(), temporaries());
        let make = || {
            let mut runs = Vec::with_capacity(units.len());
            for (number, ((unit, text), object)) in units.iter().zip(&texts).zip(&objects).enumerate() {
                write_atomically(text, unit.as_bytes())?;
                let choice = format!("-D{}={number}", units::CHOICE);
                runs.push(arguments(text, object, &["-c".into(), choice.into()]));
            }
            run_all(&self.compiler, runs, scratch_folder)?;
            let mut link = self.flags.clone();
            link.extend(["-shared".into(), "-o".into(), object.into()]);
            link.extend(objects.iter().map(Into::into));
            run_all(&self.compiler, vec![link], scratch_folder)
        };
        let made = make();
        for file in texts.iter().chain(&objects) {
            let _left = fs::remove_file(file);
        }
        made
    }
}

/// An error if the folder has too little free space for what a compiler makes.
fn check_space(folder: &Path) -> io::Result<()> {
    use std::io::Write as _;
    let mut file = tempfile::tempfile_in(folder)?;
    (0..SPACE_BYTES / 4096).try_for_each(|_| file.write_all(&[0; 4096]))
}

/// The Debian package that has gcc for a machine.
fn debian_package(target: &str) -> String {
    format!("gcc-{}", target.replace('_', "-"))
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
    let relevant = ["model name", "flags", "Features", "CPU part", "isa"];
    let first = text.split("\n\n").next().unwrap_or_default();
    first.lines().filter(|line| relevant.iter().any(|name| line.starts_with(name))).collect()
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

/// A name that no other process or thread uses. `cache` deletes such files when they are abandoned.
pub(crate) fn temporary_name(name: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{name}.{}.{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed), cache::TEMPORARY)
}
