//! The switch core: a state machine without input or output, clock or thread.
//!
//! What enters: `(time, port, packet)` through [`Switch::receive`] or [`Switch::forward`], and the control plane's
//! changes between bursts. What leaves: packets on ports, digests and log lines through an [`Output`], while
//! [`Switch::run`] works. Live workers and the simulator drive the same core; given the same program, entries, seed,
//! packets and times it does the same.
//!
//! The modules:
//! * [`switch`](mod@crate::switch): the core as its users see it.
//! * `engine`: what architectures share: packets in progress, copies, the order of work.
//! * `v1model`, `psa`, `pna`: the rules of each architecture, the only places that know them.
//! * `pipeline`, `native`, `interpreted`: running a block of the program over a burst, by compiled code or by the
//!   interpreter.
//! * `packet`, `frame`, `burst`: packets and the pool of their memory; bytes that are lent.
//! * `roots`: what is worked on together, and the order in which it leaves.
//! * `replicas`: the path of replicas that no queue delays, from the queues on.
//! * [`traffic`]: queues, schedulers, the buffer, ports with rates. [`replication`], [`meter`], [`externs`]: groups and
//!   sessions, meters, registers and counters.
//! * `coalescing`: packets that are held until they leave together as one; `records`: packets that such a packet is
//!   made of.
//! * `shards`: cores of the same switch for further workers; `guard`, `words`: registers that they share.
//! * `shared_tables`, [`command_queue`]: how other threads reach a switch while it runs: its tables directly, all else
//!   through the one that runs it.
//! * `following`: what becomes of packets with a tag.
//! * [`tap`]: copies of packets as they arrive, to watch a switch that runs.
//! * [`workers`]: how many threads run a switch; [`timers`]: ports where packets arrive by themselves.
//! * `added`, [`entry_timers`]: entries that packets add to tables, and when entries expire.
//! * [`mod@specialise`]: code for tables whose contents no longer change.
//! * [`output`], [`stats`], `stage_times`: what comes out, what is counted, what takes how long.

mod added;
mod burst;
mod coalescing;
pub mod command_queue;
mod cpu_port;
mod engine;
pub mod entry_timers;
pub mod externs;
mod fast_path;
mod following;
mod frame;
mod guard;
mod interpreted;
pub mod meter;
mod native;
pub mod output;
mod packet;
mod pipeline;
mod pna;
mod psa;
mod records;
mod registers;
mod replicas;
pub mod replication;
mod roots;
mod shards;
mod shared_tables;
pub mod specialise;
mod stage_times;
pub mod stats;
pub mod switch;
mod table_specs;
pub mod tap;
pub mod timers;
pub mod traffic;
mod v1model;
mod variables;
mod words;
pub mod workers;

pub use burst::Burst;
pub use command_queue::{Closed, CommandQueue, IdleOwner, Job};
pub use cpu_port::CpuPort;
pub use following::{Fate, Following};
pub use frame::Frame;
pub use meter::MeterConfig;
pub use output::{Decision, Departing, Departures, Observer, Output};
pub use packet::PoolLimits;
pub use replication::{CloneProperties, CloneTarget, Destination, Node, Replica, ReplicationError};
pub use shards::{NotShardable, Shard};
pub use shared_tables::{LockedTables, SharedTables};
pub use specialise::{Specialisation, SpecialisedProgram};
pub use stage_times::CoreStage;
pub use stats::{DropReason, Stats};
pub use switch::{Backend, Config, Switch, SwitchError};
pub use table_specs::{profile_actions, table_specs};
pub use traffic::{
    BufferSettings, DynamicThreshold, InternalPort, InternalPortSettings, InternalPortState, QueueCounts,
    QueueSettings, QueueState, Refusal,
};
