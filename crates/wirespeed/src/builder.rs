//! Making switches of a program.

use crate::error::{BuildError, ControlErrors};
use crate::program::Program;
use crate::switch::Switch;
use cgen::{CompileOptions, PlugIn};
use control::Api;
use control::store::Store;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use switch::{CommandQueue, Config, IdleOwner, Observer, PoolLimits};

/// What runs the blocks of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Native code; where it cannot be made, since there is no C compiler for example, the interpreter.
    #[default]
    Best,
    /// Native code only.
    Native,
    /// The reference interpreter: slow, with every step in a [`Journey`](crate::Journey).
    Interpreter,
}

/// The rate of a port.
#[derive(Clone, Copy, Debug)]
struct PortRate {
    port: u32,
    bits_per_s: u64,
    overhead_bytes: u32,
}

/// The settings of switches that run one program. [`Program::switch`] makes one.
pub struct SwitchBuilder {
    program: Program,
    backend: Backend,
    compiler: CompileOptions,
    config: Config,
    plug_ins: Vec<PathBuf>,
    cpu_port: Option<u32>,
    port_rates: Vec<PortRate>,
    entries: Vec<(String, String)>,
    state: Option<PathBuf>,
    observer: Option<Box<dyn Observer + Send>>,
}

impl SwitchBuilder {
    pub(crate) fn new(program: Program) -> SwitchBuilder {
        SwitchBuilder {
            program,
            backend: Backend::default(),
            compiler: CompileOptions::default(),
            config: Config::default(),
            plug_ins: Vec::new(),
            cpu_port: None,
            port_rates: Vec::new(),
            entries: Vec::new(),
            state: None,
            observer: None,
        }
    }

    /// What runs the program's blocks.
    pub fn backend(mut self, backend: Backend) -> SwitchBuilder {
        self.backend = backend;
        self
    }

    /// The C compiler, its optimisation and the cache of its results. Switches with the same options share their code.
    pub fn compiler(mut self, options: CompileOptions) -> SwitchBuilder {
        self.compiler = options;
        self
    }

    /// The seed of the program's random numbers and of the tables' hashes, 1 by default. With the same seed, packets
    /// and times a switch does the same.
    pub fn seed(mut self, seed: u64) -> SwitchBuilder {
        self.config.seed = seed;
        self
    }

    /// The value of registers that have the number of the switch's start.
    pub fn start_number(mut self, number: u64) -> SwitchBuilder {
        self.config.start_number = number;
        self
    }

    /// Queues per port, 1 by default; the program's priority chooses one.
    pub fn queues(mut self, per_port: usize) -> SwitchBuilder {
        self.config.priorities = per_port.max(1);
        self
    }

    /// The rate of a port in bits per second, 0 for no limit, and the bytes that the wire carries beside each packet
    /// ([`ETHERNET_OVERHEAD_BYTES`](crate::ETHERNET_OVERHEAD_BYTES) on Ethernet). Packets wait for it in queues.
    pub fn port_rate(mut self, port: u32, bits_per_s: u64, overhead_bytes: u32) -> SwitchBuilder {
        self.port_rates.push(PortRate { port, bits_per_s, overhead_bytes });
        self
    }

    /// How many packets the switch may hold: in queues, in buffers, and while they are processed.
    pub fn pool(mut self, limits: PoolLimits) -> SwitchBuilder {
        self.config.pool = limits;
        self
    }

    /// Whether packets may take the fast path of native code, if the program has one. What leaves is the same.
    pub fn fast_path(mut self, is_allowed: bool) -> SwitchBuilder {
        self.config.fast_path = is_allowed;
        self
    }

    /// All settings of the core at once, in place of those so far.
    pub fn config(mut self, config: Config) -> SwitchBuilder {
        self.config = config;
        self
    }

    /// The port of the switch's controller: packets that leave there are
    /// [`Sent::packets_in`](crate::Sent::packets_in).
    pub fn cpu_port(mut self, port: u32) -> SwitchBuilder {
        self.cpu_port = Some(port);
        self
    }

    /// Shared objects that implement the program's own extern functions.
    pub fn plug_ins(mut self, files: impl IntoIterator<Item = PathBuf>) -> SwitchBuilder {
        self.plug_ins.extend(files);
        self
    }

    /// Entries that each switch begins with: the commands of `simple_switch_CLI`, or runtime JSON. `name` is the
    /// text's name in errors. Many entries are inserted faster here than by [`Switch::apply`].
    pub fn entries(mut self, name: &str, text: &str) -> SwitchBuilder {
        self.entries.push((name.to_owned(), text.to_owned()));
        self
    }

    /// A folder in which the switch stores its state, and from which it restores what an earlier switch stored there.
    pub fn state(mut self, folder: impl Into<PathBuf>) -> SwitchBuilder {
        self.state = Some(folder.into());
        self
    }

    /// Follows every packet of the switch, one by one. Only the interpreter reports the steps in blocks.
    pub fn observer(mut self, observer: Box<dyn Observer + Send>) -> SwitchBuilder {
        self.observer = Some(observer);
        self
    }

    /// A switch.
    pub fn build(mut self) -> Result<Switch, BuildError> {
        let (state, cpu_port, program) = (self.state.take(), self.cpu_port, self.program.clone());
        let core = self.build_core()?;
        let owner = Arc::new(IdleOwner::default());
        let api = Arc::new(Api::new(&core, Arc::clone(&owner) as Arc<dyn CommandQueue>));
        owner.park(core);
        let mut not_restored = Vec::new();
        if let Some(folder) = state {
            let (store, saved) = Store::open(&folder)?;
            not_restored.extend(saved.complaints.iter().cloned());
            not_restored.extend(saved.restore(&api));
            api.keep_in(store, json!("a program of the library"))?;
        }
        Ok(Switch::new(program, owner, api, cpu_port, not_restored))
    }

    /// The switch core alone: for those who drive it from their own threads or simulated events. The controller's port
    /// and the state do not belong to it.
    pub fn build_core(self) -> Result<switch::Switch, BuildError> {
        let (backend, _) = self.program.backend(self.backend, &self.compiler)?;
        self.build_core_on(backend)
    }

    /// The same on a backend of the program that was made before.
    pub fn build_core_on(self, backend: switch::Backend) -> Result<switch::Switch, BuildError> {
        let ir = self.program.ir();
        let plug_in = match ir.extern_functions.is_empty() {
            true => None,
            false => Some(PlugIn::load(ir, &self.plug_ins, &self.compiler)?),
        };
        let mut core = switch::Switch::with_plug_in(Arc::clone(ir), backend, self.config, plug_in)?;
        for (name, text) in &self.entries {
            let commands = control::parse_entries(name, text, ir).map_err(ControlErrors)?;
            control::apply_all(&mut core, &commands).map_err(ControlErrors)?;
        }
        for rate in &self.port_rates {
            let set = core.set_port_rate(rate.port, rate.bits_per_s, rate.overhead_bytes);
            set.map_err(|_| BuildError::NoPort(rate.port))?;
        }
        if let Some(observer) = self.observer {
            core.observe(observer);
        }
        Ok(core)
    }
}
