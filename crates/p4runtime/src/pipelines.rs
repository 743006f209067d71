//! The program that runs and the one that is prepared beside it.
//!
//! A prepared program has a switch of its own, which no packet reaches. It takes writes and answers reads like the one
//! that runs, and comes into its place as it is: what was written to it is there with the first packet.

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
use switch::{Door, IdleOwner, Switch};

/// A program that was made ready.
pub struct Compiled {
    /// A switch that runs it, with nothing but its own entries.
    pub switch: Switch,
    /// What it shows to controllers.
    pub info: P4Info,
    /// What is kept with the state of the switch, if that is kept, to compile it again.
    pub note: Value,
}

/// How long a program may be compiled, and whether somebody still waits for it.
#[derive(Clone, Debug)]
pub struct Patience {
    until: Instant,
    limit: Duration,
    is_gone: Arc<AtomicBool>,
}

impl Patience {
    /// For this long from now.
    pub fn new(limit: Duration) -> Patience {
        Patience { until: Instant::now() + limit, limit, is_gone: Arc::default() }
    }

    /// Why to stop; none while there is patience.
    pub fn lost(&self) -> Option<Fault> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Some(Fault::new(Code::Aborted, "nobody waits for the program any more"));
        }
        (Instant::now() >= self.until).then(|| self.too_slow())
    }

    /// What the client is told when it has taken too long.
    pub(crate) fn too_slow(&self) -> Fault {
        let seconds = self.limit.as_secs();
        let message = format!("the program was not compiled within {seconds} seconds; nothing has changed");
        Fault::new(Code::DeadlineExceeded, message)
    }

    /// When it ends.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    /// Who waits keeps this.
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting(Arc::clone(&self.is_gone))
    }
}

/// Somebody waits.
#[derive(Debug)]
pub(crate) struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Makes switches of programs.
pub trait Compiler: Send + Sync {
    /// A switch for the program with this text. It may take as long as there is patience; the switch that runs goes on
    /// meanwhile.
    fn compile(&self, text: &str, patience: &Patience) -> Result<Compiled, Fault>;

    /// A switch for the program that the switch was started with; none if it was started without.
    fn compile_started(&self) -> Option<Result<Compiled, Fault>>;
}

/// The program that the switch was started with.
pub struct Started {
    /// The config by which a controller has set it in an earlier run; or its P4Info and its text.
    pub config: ForwardingPipelineConfig,
}

impl Started {
    /// A program that no controller has set.
    pub fn of_text(info: P4Info, text: Vec<u8>) -> Started {
        let config = ForwardingPipelineConfig { p4info: Some(info), p4_device_config: text, cookie: None };
        Started { config }
    }
}

/// A program that controllers can speak of.
pub(crate) struct Target {
    pub schema: Arc<Schema>,
    /// Where it is written to and read from.
    pub api: Arc<Api>,
    /// As it was given, for those who ask.
    pub config: ForwardingPipelineConfig,
    /// What was written with ports as numbers.
    pub numbered: Mutex<NumberedPorts>,
}

impl Target {
    /// The same program once it runs, behind its control plane.
    pub fn behind(&self, api: Arc<Api>) -> Target {
        let numbered = Mutex::new(self.numbered().clone());
        Target { schema: Arc::clone(&self.schema), api, config: self.config.clone(), numbered }
    }

    pub fn numbered(&self) -> MutexGuard<'_, NumberedPorts> {
        // Each change is one insertion or removal.
        self.numbered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program that is prepared.
pub(crate) struct Prepared {
    pub target: Arc<Target>,
    pub parked: Arc<IdleOwner>,
    /// What is kept with the state of the switch.
    pub note: Value,
}

impl Prepared {
    /// A control plane over the switch.
    pub fn new(switch: Switch, schema: Schema, config: ForwardingPipelineConfig, program: &Value) -> Prepared {
        let parked = Arc::new(IdleOwner::default());
        let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn Door>);
        parked.park(switch);
        let numbered = Mutex::default();
        let note = kept::note(&config, program);
        let target = Arc::new(Target { schema: Arc::new(schema), api: Arc::new(api), config, numbered });
        Prepared { target, parked, note }
    }
}

/// What there is.
#[derive(Default)]
pub(crate) struct Pipelines {
    running: Option<Arc<Target>>,
    saved: Option<Prepared>,
    /// On its way to run.
    coming: Option<Arc<Target>>,
}

impl Pipelines {
    /// With a program that runs already.
    pub fn running(target: Target) -> Pipelines {
        Pipelines { running: Some(Arc::new(target)), ..Pipelines::default() }
    }

    /// What reads and writes are about: the program that was saved last, else the one that runs.
    pub fn target(&self) -> Option<Arc<Target>> {
        self.saved.as_ref().map(|saved| &saved.target).or(self.running.as_ref()).cloned()
    }

    /// The program that runs, as controllers set it.
    pub fn current(&self) -> Option<Arc<Target>> {
        self.running.clone()
    }

    /// The target of this very program, if it runs or is about to.
    pub fn of_program(&self, program: &Arc<ir::Program>) -> Option<Arc<Target>> {
        let candidates = [&self.running, &self.coming].into_iter().flatten();
        candidates.into_iter().find(|target| Arc::ptr_eq(&target.schema.program, program)).cloned()
    }

    /// Keeps a program for later.
    pub fn save(&mut self, prepared: Prepared) {
        self.saved = Some(prepared);
    }

    /// Takes what was saved.
    pub fn take_saved(&mut self) -> Option<Prepared> {
        self.saved.take()
    }

    /// Says that a program is about to run.
    pub fn announce(&mut self, target: Arc<Target>) {
        self.coming = Some(target);
    }

    /// Says whether it runs.
    pub fn settle(&mut self, runs: bool) {
        let coming = self.coming.take();
        if runs {
            self.running = coming;
        }
    }
}
