//! Loads compiled programs and calls their blocks. The only place in the project that calls generated code.
#![allow(unsafe_code, reason = "opens a shared object and calls the functions in it")]

use crate::abi::{
    ABI_VERSION, BlockFunction, Env, Exceptions, FastPathFunction, Frame, Packet, ProgramInfo, ReplicaPathFunction,
    Verdict,
};
use crate::compile::{CacheNote, CompileError, CompileOptions, compile_and_load};
use crate::plan::Plan;
use crate::private_copy::open_copy;
use base::index::Id as _;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX};
use ir::{BlockId, PointId};
use libloading::Library;
use std::path::Path;

/// Why a shared object cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The system's loader refused it, or a symbol is missing.
    Library(libloading::Error),
    /// It is not the planned program, or was compiled with other layouts.
    Mismatch {
        /// Its description of itself.
        found: ProgramInfo,
        /// The expected description.
        expected: ProgramInfo,
    },
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Library(error) => write!(f, "the compiled program cannot be loaded: {error}"),
            LoadError::Mismatch { found, expected } => {
                write!(f, "the compiled program does not fit: it is {found:?}, expected is {expected:?}")
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<libloading::Error> for LoadError {
    fn from(error: libloading::Error) -> Self {
        LoadError::Library(error)
    }
}

/// Why there is no native code of a program.
#[derive(Debug)]
pub enum BuildError {
    /// Compiling failed.
    Compile(CompileError),
    /// Loading failed.
    Load(LoadError),
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuildError::Compile(error) => error.fmt(f),
            BuildError::Load(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

/// The description that the shared object of a plan has of itself.
pub fn program_info(plan: &Plan) -> ProgramInfo {
    ProgramInfo {
        abi_version: ABI_VERSION,
        context_size: plan.context_size,
        metadata_offset: plan.metadata.start,
        metadata_size: plan.metadata.end - plan.metadata.start,
        block_count: (plan.blocks.len() + plan.points) as u32,
        fast_path: u32::from(plan.has_fast_path()) + u32::from(plan.is_in_place()),
        again_path: u32::from(plan.has_again_path()),
        replica_path: u32::from(plan.has_replica_path()),
    }
}

/// A loaded program.
#[derive(Debug)]
pub struct Native {
    /// The functions of blocks, and behind them those of decisions.
    blocks: Vec<BlockFunction>,
    first_point: usize,
    fast_path: Option<FastPathFunction>,
    again_path: Option<FastPathFunction>,
    replica_path: Option<ReplicaPathFunction>,
    headroom_bytes: u32,
    is_in_place: bool,
    cache_note: Option<CacheNote>,
    /// Keeps the functions mapped.
    _library: Library,
}

impl Native {
    /// Compiles the C text of `plan`'s program, or finds the object in the cache, and loads it.
    pub fn build(c_text: &str, plan: &Plan, options: &CompileOptions) -> Result<Native, BuildError> {
        let loaded = compile_and_load(c_text, options, |object| Native::load(object, plan));
        let (native, cache_note) = loaded.map_err(BuildError::Compile)?.map_err(BuildError::Load)?;
        Ok(Native { cache_note, ..native })
    }

    /// What was wrong with the cache when it was built, if anything was.
    pub fn cache_note(&self) -> Option<&CacheNote> {
        self.cache_note.as_ref()
    }

    /// Loads the object that [`crate::compile()`] has made from the C text of `plan`'s program. The file may be changed
    /// or deleted afterwards.
    pub fn load(path: &Path, plan: &Plan) -> Result<Native, LoadError> {
        // SAFETY: generated code has no constructors but those of the runtime headers, which fill tables of constants.
        let library = open_copy(path, |copy| unsafe { Library::new(copy) })?;
        // SAFETY: every version of the ABI begins the exported `ws_program` with the fields of `ProgramInfo`.
        let found = unsafe { **library.get::<*const ProgramInfo>(b"ws_program\0")? };
        let expected = program_info(plan);
        if found != expected {
            return Err(LoadError::Mismatch { found, expected });
        }
        let mut blocks = Vec::new();
        for number in 0..found.block_count {
            let name = format!("ws_block_{number}\0");
            // SAFETY: by the ABI version, the symbols with these names are functions of this type.
            blocks.push(unsafe { *library.get::<BlockFunction>(name.as_bytes())? });
        }
        let fast_path = match found.fast_path {
            0 => None,
            // SAFETY: as above.
            _ => Some(unsafe { *library.get::<FastPathFunction>(b"ws_fast_path\0")? }),
        };
        let again_path = match found.again_path {
            0 => None,
            // SAFETY: as above.
            _ => Some(unsafe { *library.get::<FastPathFunction>(b"ws_again_path\0")? }),
        };
        let replica_path = match found.replica_path {
            0 => None,
            // SAFETY: as above.
            _ => Some(unsafe { *library.get::<ReplicaPathFunction>(b"ws_replica_path\0")? }),
        };
        let (is_in_place, headroom_bytes) = (plan.is_in_place(), plan.headroom_bytes());
        let first_point = plan.blocks.len();
        Ok(Native {
            blocks,
            first_point,
            fast_path,
            again_path,
            replica_path,
            is_in_place,
            headroom_bytes,
            cache_note: None,
            _library: library,
        })
    }

    /// Runs a block over a burst of packets.
    ///
    /// # Panics
    /// If there are more than [`BURST_PACKETS_MAX`] packets, or no such block.
    ///
    /// # Safety
    /// * Each packet points to a chunk of its own, aligned to [`crate::abi::CHUNK_ALIGN_BYTES`], that this call alone
    ///   uses, of `capacity` readable and writable bytes, at least [`Plan::headroom_offset`];
    ///   `headroom_offset <= data`, `data + length <= capacity`.
    /// * The chunk was passed through the program's parser block, or copied from one that was, before any other block.
    ///   `data <= payload <= data + length` then holds and is left alone, except by the deparser.
    /// * `env` has as many tables, registers, counters and direct counters as the program, with the sizes that they
    ///   state, and nothing else writes them during the call; its callbacks may be called with its `core`.
    #[inline]
    pub unsafe fn run_block(&self, block: BlockId, env: &Env, packets: &[*mut Packet]) {
        assert!(packets.len() <= BURST_PACKETS_MAX, "a burst of {} packets", packets.len());
        // SAFETY: the caller guarantees what generated code relies on.
        unsafe { self.blocks[block.index()](env, packets.as_ptr(), packets.len() as u32) }
    }

    /// Decides about a burst of packets at a point, and sets [`Packet::decided`] of each.
    ///
    /// # Panics
    /// If there are more than [`BURST_PACKETS_MAX`] packets, or no decisions at such a point.
    ///
    /// # Safety
    /// As for [`Native::run_block`].
    #[inline]
    pub unsafe fn run_decisions(&self, point: PointId, env: &Env, packets: &[*mut Packet]) {
        assert!(packets.len() <= BURST_PACKETS_MAX, "a burst of {} packets", packets.len());
        let function = self.blocks[self.first_point + point.index()];
        // SAFETY: the caller guarantees what generated code relies on.
        unsafe { function(env, packets.as_ptr(), packets.len() as u32) }
    }

    /// Runs packets through the fast path, burst by burst, and sets a verdict for each. If the plan works in place
    /// ([`Plan::is_in_place`]) there is a frame for each packet, chunks are not read, and only the chunks of punted
    /// packets are written: the context, the intrinsic variables and the payload's offset, as if the packet's bytes
    /// began at `env.first_byte`.
    ///
    /// # Panics
    /// If there are more packets than [`BURST_PACKETS_MAX`] or, in place, than [`CALL_FRAMES_MAX`] or frames, if there
    /// are more than verdicts, if a frame has less headroom than [`Plan::headroom_bytes`], or if the plan has no fast
    /// path.
    ///
    /// # Safety
    /// As for [`Native::run_block`]; the packets are as they were received, with no flags. In place, each frame points
    /// to `length` bytes after `headroom` bytes, all of which this call alone uses. Afterwards the frame begins within
    /// this range, and ends at its former end or before.
    #[inline]
    pub unsafe fn run_fast_path(
        &self,
        env: &Env,
        packets: &[*mut Packet],
        frames: &mut [Frame],
        verdicts: &mut [Verdict],
    ) -> Exceptions {
        let fast_path = self.fast_path.expect("the plan has a fast path");
        // SAFETY: as the caller guarantees.
        unsafe { self.run_path(fast_path, env, packets, frames, verdicts) }
    }

    /// Runs packets on a further pass through the fast path for them, as [`Native::run_fast_path`] does. Their chunks
    /// have intrinsic variables and metadata that they begin with.
    ///
    /// # Panics
    /// As for [`Native::run_fast_path`], or if the plan has no such path.
    ///
    /// # Safety
    /// As for [`Native::run_fast_path`]; the chunks are initialised.
    #[inline]
    pub unsafe fn run_again_path(
        &self,
        env: &Env,
        packets: &[*mut Packet],
        frames: &mut [Frame],
        verdicts: &mut [Verdict],
    ) -> Exceptions {
        let again_path = self.again_path.expect("the plan has a path for further passes");
        // SAFETY: as the caller guarantees.
        unsafe { self.run_path(again_path, env, packets, frames, verdicts) }
    }

    /// Runs packets through a path from the parser to the end.
    ///
    /// # Safety
    /// As for [`Native::run_fast_path`].
    #[inline]
    unsafe fn run_path(
        &self,
        path: FastPathFunction,
        env: &Env,
        packets: &[*mut Packet],
        frames: &mut [Frame],
        verdicts: &mut [Verdict],
    ) -> Exceptions {
        let count = packets.len();
        let most = if self.is_in_place { CALL_FRAMES_MAX } else { BURST_PACKETS_MAX };
        assert!(count <= most.min(verdicts.len()), "{count} packets in a call");
        assert!(!self.is_in_place || count <= frames.len(), "{count} packets with {} frames", frames.len());
        assert!(self.has_headroom(frames), "a frame without headroom");
        let frames = frames.as_mut_ptr();
        // SAFETY: the caller guarantees what generated code relies on.
        unsafe { path(env, packets.as_ptr(), frames, count as u32, verdicts.as_mut_ptr()) }
    }

    /// Runs replicas of `packet`, which has been through ingress, from the queues to the deparser, and sets a verdict
    /// for each. The replicas' chunks are not read, and only those of punted replicas are written: the context, the
    /// intrinsic variables and the payload's offset, as if the replica's bytes began at `env.first_byte`.
    ///
    /// # Panics
    /// If there are more replicas than [`BURST_PACKETS_MAX`], frames or verdicts, if a frame has less headroom than
    /// [`Plan::headroom_bytes`], or if the plan has no path for replicas.
    ///
    /// # Safety
    /// As for [`Native::run_block`]; `packet` is such a packet that has not been deparsed, and is not one of the
    /// replicas. Each frame points to `length` bytes, those of the packet, after `headroom` bytes, all of which this
    /// call alone uses. Afterwards the frame begins within this range, and ends at its former end or before.
    #[inline]
    pub unsafe fn run_replica_path(
        &self,
        env: &Env,
        packet: *const Packet,
        replicas: &[*mut Packet],
        frames: &mut [Frame],
        verdicts: &mut [Verdict],
    ) -> Exceptions {
        let count = replicas.len();
        assert!(count <= BURST_PACKETS_MAX.min(frames.len()).min(verdicts.len()), "{count} replicas in a call");
        assert!(self.has_headroom(frames), "a frame without headroom");
        let replica_path = self.replica_path.expect("the plan has a path for replicas");
        let (frames, verdicts) = (frames.as_mut_ptr(), verdicts.as_mut_ptr());
        // SAFETY: the caller guarantees what generated code relies on.
        unsafe { replica_path(env, packet, replicas.as_ptr(), frames, count as u32, verdicts) }
    }

    #[inline]
    fn has_headroom(&self, frames: &[Frame]) -> bool {
        self.headroom_bytes == 0 || frames.iter().all(|frame| frame.headroom >= self.headroom_bytes)
    }
}
