//! The running program, and the one that is prepared beside it.
//!
//! A prepared program has a switch of its own, which no packet reaches. It accepts writes and reads like the running
//! one, and replaces it as it is: what was written to it takes effect with the first packet.

use crate::kept;
use crate::schema::Schema;
use crate::to_proto::NumberedPorts;
use control::Api;
use control::api::{Code, Fault};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::ForwardingPipelineConfig;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use switch::{CommandQueue, IdleOwner, Switch};

/// A program that is ready to run.
pub struct Compiled {
    /// A switch that runs it, with only its own entries.
    pub switch: Switch,
    /// What it shows to controllers.
    pub info: P4Info,
    /// What is stored with the state of the switch to compile it again.
    pub note: Value,
}

/// The time limit for compiling a program, and whether the client still waits.
#[derive(Clone, Debug)]
pub struct CompileDeadline {
    end: Instant,
    limit: Duration,
    is_gone: Arc<AtomicBool>,
}

impl CompileDeadline {
    /// This long from now.
    pub fn new(limit: Duration) -> CompileDeadline {
        CompileDeadline { end: Instant::now() + limit, limit, is_gone: Arc::default() }
    }

    /// Why to stop; `None` to continue.
    pub fn stop_reason(&self) -> Option<Fault> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Some(Fault::new(Code::Aborted, "the client no longer waits for the program"));
        }
        (Instant::now() >= self.end).then(|| self.too_slow())
    }

    /// The message for a client whose time limit has passed.
    pub(crate) fn too_slow(&self) -> Fault {
        let seconds = self.limit.as_secs();
        let message = format!("the program was not compiled within {seconds} seconds; nothing has changed");
        Fault::new(Code::DeadlineExceeded, message)
    }

    /// The deadline.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    /// Held by the client that waits.
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting(Arc::clone(&self.is_gone))
    }
}

/// A client waits.
#[derive(Debug)]
pub(crate) struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Compiles programs to switches.
pub trait Compiler: Send + Sync {
    /// A switch for the program with this text. It may take as long as `deadline` allows; the running switch forwards
    /// meanwhile.
    fn compile(&self, text: &str, deadline: &CompileDeadline) -> Result<Compiled, Fault>;

    /// A switch for the program that the switch was started with; none if it was started without.
    fn compile_started(&self) -> Option<Result<Compiled, Fault>>;
}

/// The program that the switch was started with.
pub struct Started {
    /// The config by which a controller set it in an earlier run; or its P4Info and its text.
    pub config: ForwardingPipelineConfig,
}

impl Started {
    /// A program that no controller has set.
    pub fn of_text(info: P4Info, text: Vec<u8>) -> Started {
        let config = ForwardingPipelineConfig { p4info: Some(info), p4_device_config: text, cookie: None };
        Started { config }
    }
}

/// A program that controllers can use.
pub(crate) struct Pipeline {
    pub schema: Arc<Schema>,
    /// Its control plane.
    pub api: Arc<Api>,
    /// The config as it was sent.
    pub config: ForwardingPipelineConfig,
    /// Which ports were written as numbers.
    pub numbered: Mutex<NumberedPorts>,
}

impl Pipeline {
    /// The same program once it runs, with its control plane.
    pub fn behind(&self, api: Arc<Api>) -> Pipeline {
        let numbered = Mutex::new(self.numbered().clone());
        Pipeline { schema: Arc::clone(&self.schema), api, config: self.config.clone(), numbered }
    }

    pub fn numbered(&self) -> MutexGuard<'_, NumberedPorts> {
        // Each change is one insertion or removal.
        self.numbered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A prepared program.
pub(crate) struct Prepared {
    pub target: Arc<Pipeline>,
    pub parked: Arc<IdleOwner>,
    /// What is stored with the state of the switch.
    pub note: Value,
}

impl Prepared {
    /// A control plane over the switch.
    pub fn new(switch: Switch, schema: Schema, config: ForwardingPipelineConfig, program: &Value) -> Prepared {
        let parked = Arc::new(IdleOwner::default());
        let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>);
        parked.park(switch);
        let numbered = Mutex::default();
        let note = kept::note(&config, program);
        let target = Arc::new(Pipeline { schema: Arc::new(schema), api: Arc::new(api), config, numbered });
        Prepared { target, parked, note }
    }
}

/// The programs of the switch.
#[derive(Default)]
pub(crate) struct Pipelines {
    running: Option<Arc<Pipeline>>,
    saved: Option<Prepared>,
    /// About to run.
    coming: Option<Arc<Pipeline>>,
}

impl Pipelines {
    /// With a program that runs already.
    pub fn running(target: Pipeline) -> Pipelines {
        Pipelines { running: Some(Arc::new(target)), ..Pipelines::default() }
    }

    /// The program that reads and writes refer to: the one that was saved last, else the running one.
    pub fn target(&self) -> Option<Arc<Pipeline>> {
        self.saved.as_ref().map(|saved| &saved.target).or(self.running.as_ref()).cloned()
    }

    /// The running program, as controllers set it.
    pub fn current(&self) -> Option<Arc<Pipeline>> {
        self.running.clone()
    }

    /// The pipeline of this very program, if it runs or is about to.
    pub fn of_program(&self, program: &Arc<ir::Program>) -> Option<Arc<Pipeline>> {
        let candidates = [&self.running, &self.coming].into_iter().flatten();
        candidates.into_iter().find(|target| Arc::ptr_eq(&target.schema.program, program)).cloned()
    }

    /// Saves a program for later.
    pub fn save(&mut self, prepared: Prepared) {
        self.saved = Some(prepared);
    }

    /// Takes the saved program.
    pub fn take_saved(&mut self) -> Option<Prepared> {
        self.saved.take()
    }

    /// Records that a program is about to run.
    pub fn announce(&mut self, target: Arc<Pipeline>) {
        self.coming = Some(target);
    }

    /// Records whether it runs.
    pub fn confirm(&mut self, runs: bool) {
        let coming = self.coming.take();
        if runs {
            self.running = coming;
        }
    }
}
