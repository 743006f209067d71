//! Plug-ins: shared objects that implement a program's own extern functions and objects.
//!
//! What enters: a program, and the files that its user names. What leaves: a `PlugIn` that both backends call with
//! values of any width. Prototypes differ from function to function, so the calls are made by C code that `adapter`
//! generates and the system's compiler compiles.
//!
//! A plug-in is the user's code and runs in our process without restrictions. We guarantee only that its functions are
//! called by the prototypes in `header`.
#![allow(unsafe_code, reason = "opens shared objects and calls the functions in them")]

mod adapter;

pub use adapter::{header, prototype};

use crate::compile::{CacheNote, CompileError, CompileOptions, compile_and_load};
use crate::private_copy::open_copy;
use base::index::Id as _;
use base::{Bits, OrderedMap};
use ir::{ExternFunctionId, ExternInstanceId, Program, Type};
use libloading::Library;
use std::ffi::c_void;
use std::path::{Path, PathBuf};

/// A function of a plug-in, whatever its prototype.
type Target = unsafe extern "C" fn();
/// A function of the adapter: `(target, objects, instance, in, out)`.
type Adapter = unsafe extern "C" fn(Target, *mut *mut c_void, u32, *const u64, *mut u64);
/// The destructor of an object.
type Delete = unsafe extern "C" fn(*mut c_void);

/// Why there is no plug-in.
#[derive(Debug)]
pub enum PlugInError {
    /// A file cannot be loaded.
    Library {
        /// The file.
        path: PathBuf,
        /// Why.
        error: libloading::Error,
    },
    /// A path is not that of a regular file.
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        why: &'static str,
    },
    /// Functions of the program that no file has: their prototypes.
    Missing(Vec<String>),
    /// The adapter cannot be compiled.
    Compile(CompileError),
    /// The compiled adapter cannot be loaded.
    Adapter(libloading::Error),
    /// A constructor gave no object: the object's name.
    NoObject(String),
}

impl std::fmt::Display for PlugInError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlugInError::Library { path, error } => {
                write!(f, "the plug-in {} cannot be loaded: {error}", path.display())
            }
            PlugInError::NotAFile { path, why } => write!(f, "the plug-in {} cannot be loaded: {why}", path.display()),
            PlugInError::Missing(prototypes) => f.write_str(&missing(prototypes)),
            PlugInError::Compile(error) => write!(f, "calls of a plug-in need a C compiler: {error}"),
            PlugInError::Adapter(error) => write!(f, "the adapter to the plug-in cannot be loaded: {error}"),
            PlugInError::NoObject(name) => {
                write!(f, "the plug-in makes no object for {name}: its constructor gave NULL")
            }
        }
    }
}

impl std::error::Error for PlugInError {}

/// The message when functions are missing.
pub fn missing(prototypes: &[String]) -> String {
    let list: String = prototypes.iter().map(|prototype| format!("\n  {prototype}")).collect();
    format!(
        "the program calls extern functions that no plug-in supplies:{list}\n  help: implement them in a shared object and \
         name it with --extern; `wirespeed compile --emit extern-header` writes their prototypes"
    )
}

/// The prototypes of all functions that a program needs from plug-ins, each once.
pub fn prototypes(program: &Program) -> Vec<String> {
    let by_symbol: OrderedMap<&str, String> =
        program.extern_functions.iter().map(|function| (function.symbol.as_str(), prototype(function))).collect();
    by_symbol.into_values().collect()
}

/// A function that can be called.
#[derive(Debug)]
struct Function {
    target: Target,
    adapter: Adapter,
    outputs: Vec<Type>,
}

/// The plug-ins of one program on one switch, with the objects that they made for it.
#[derive(Debug)]
pub struct PlugIn {
    functions: Vec<Function>,
    objects: Vec<*mut c_void>,
    /// The destructor of each object.
    deletes: Vec<Option<Delete>>,
    /// Words of the present call, reused to avoid allocation.
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    cache_note: Option<CacheNote>,
    /// Keeps the adapter's functions mapped.
    _adapter: Option<Library>,
    /// Keeps the plug-ins' functions mapped.
    _libraries: Vec<Library>,
}

// SAFETY: the objects belong to the plug-in, whose documentation states that calls come from one thread at a time, but
// not always the same one. The functions are code, and not bound to a thread.
unsafe impl Send for PlugIn {}

impl PlugIn {
    /// Loads the files, finds every function that the program calls in the first file that has it, and makes the
    /// program's objects.
    pub fn load(program: &Program, files: &[PathBuf], options: &CompileOptions) -> Result<PlugIn, PlugInError> {
        let libraries = files.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
        let find = |name: &str| libraries.iter().find_map(|library| symbol(library, name));
        let functions = &program.extern_functions;
        let targets: Vec<Option<Target>> = functions.iter().map(|it| find(&adapter::symbol(it))).collect();
        let absent = functions.iter().zip(&targets).filter(|(_, target)| target.is_none());
        let mut absent: Vec<String> = absent.map(|(function, _)| prototype(function)).collect();
        absent.dedup();
        if !absent.is_empty() {
            return Err(PlugInError::Missing(absent));
        }
        let loaded = (!functions.is_empty()).then(|| load_adapter(program, options)).transpose()?;
        let (compiled, cache_note) = loaded.map_or((None, None), |(library, note)| (Some(library), note));
        let adapters = compiled.iter().flat_map(|library| {
            (0..functions.len()).map(move |number| symbol::<Adapter>(library, &format!("ws_extern_{number}")))
        });
        let callable = targets.into_iter().zip(adapters).zip(functions);
        let callable = callable.filter_map(|((target, adapter), function)| {
            Some(Function { target: target?, adapter: adapter?, outputs: function.outputs().collect() })
        });
        let deletes = program.extern_instances.iter().map(|instance| {
            let constructor = adapter::symbol(&functions[instance.constructor]);
            let (name, _) = constructor.rsplit_once("_new")?;
            find_delete(&libraries, name)
        });
        let mut plug_in = PlugIn {
            functions: callable.collect(),
            objects: vec![std::ptr::null_mut(); program.extern_instances.len()],
            deletes: deletes.collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            cache_note,
            _adapter: compiled,
            _libraries: libraries,
        };
        for (id, instance) in program.extern_instances.iter_enumerated() {
            plug_in.call(instance.constructor, Some(id), &instance.args);
            if plug_in.objects[id.index()].is_null() {
                return Err(PlugInError::NoObject(instance.name.clone()));
            }
        }
        Ok(plug_in)
    }

    /// What was wrong with the cache when the adapter was compiled, if anything was.
    pub fn cache_note(&self) -> Option<&CacheNote> {
        self.cache_note.as_ref()
    }

    /// Calls a function, or a method of an object. Returns the outputs, concatenated, the first most significant.
    pub fn call(&mut self, function: ExternFunctionId, instance: Option<ExternInstanceId>, inputs: &[Bits]) -> Bits {
        let Function { target, adapter, outputs } = &self.functions[function.index()];
        self.inputs.clear();
        self.inputs.extend(inputs.iter().flat_map(|input| input.limbs()));
        self.outputs.clear();
        self.outputs.resize(outputs.iter().map(|ty| ty.width().div_ceil(64) as usize).sum(), 0);
        let instance = instance.map_or(0, |instance| instance.index() as u32);
        // SAFETY: the adapter was compiled for this program and reads and writes as many words as the function's values
        // have, which the verifier has compared with the inputs; `objects` has an item for each instance. The target
        // has the prototype that the adapter calls it by, if the plug-in follows the header.
        unsafe {
            let objects = self.objects.as_mut_ptr();
            adapter(*target, objects, instance, self.inputs.as_ptr(), self.outputs.as_mut_ptr());
        }
        let mut rest = &self.outputs[..];
        outputs.iter().fold(Bits::zero(0), |joined, ty| {
            let (limbs, behind) = rest.split_at(ty.width().div_ceil(64) as usize);
            rest = behind;
            joined.concat(&Bits::from_limbs(ty.width(), limbs))
        })
    }
}

impl Drop for PlugIn {
    fn drop(&mut self) {
        for (object, delete) in self.objects.iter().zip(&self.deletes).rev() {
            if let (false, Some(delete)) = (object.is_null(), delete) {
                // SAFETY: the plug-in made the object, and it is not used any more.
                unsafe { delete(*object) };
            }
        }
    }
}

fn open(path: &Path) -> Result<Library, PlugInError> {
    // The loader would search a name without a slash among the system's libraries, and wait for the writer of a pipe.
    let found = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(other) = std::fs::metadata(&found)
        && !other.is_file()
    {
        return Err(PlugInError::NotAFile { path: path.to_owned(), why: base::files::what_it_is(&other) });
    }
    // SAFETY: the user names the file so that its code is run, constructors included.
    unsafe { Library::new(&found) }.map_err(|error| PlugInError::Library { path: path.to_owned(), error })
}

/// Compiles and loads the adapter. Also returns what was wrong with the cache.
fn load_adapter(program: &Program, options: &CompileOptions) -> Result<(Library, Option<CacheNote>), PlugInError> {
    let options = CompileOptions { target: None, ..options.clone() };
    // SAFETY: the adapter has no constructors.
    let load = |object: &Path| open_copy(object, |copy| unsafe { Library::new(copy) });
    let loaded = compile_and_load(&adapter::adapter(program), &options, load);
    loaded.map_err(PlugInError::Compile)?.map_err(PlugInError::Adapter)
}

/// A function of a library, if it has it.
fn symbol<T: Copy>(library: &Library, name: &str) -> Option<T> {
    // SAFETY: the pointer is only copied here; what it points to has the type that its callers name.
    unsafe { library.get::<T>(name.as_bytes()) }.ok().map(|found| *found)
}

/// The destructor of a type's objects, if the plug-in has one.
fn find_delete(libraries: &[Library], type_name: &str) -> Option<Delete> {
    let name = format!("{type_name}_delete");
    libraries.iter().find_map(|library| symbol(library, &name))
}
