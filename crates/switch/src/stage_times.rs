//! How long each stage of the core takes, for benchmarks.
//!
//! The core reads no clock; a caller that measures hands one in. Without one the cost is a test per burst and stage.

/// A stage of the core's work on a burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum CoreStage {
    /// Parser block.
    Parser,
    /// Checksum verification block.
    VerifyChecksum,
    /// Ingress block.
    Ingress,
    /// The architecture's decisions and entering the queues.
    Decide,
    /// Leaving the queues.
    Dequeue,
    /// Egress block and the decisions after it.
    Egress,
    /// Checksum computation block.
    ComputeChecksum,
    /// Deparser block.
    Deparser,
    /// Handing packets to the output, and their buffers back.
    Transmit,
    /// All blocks in one, for packets that take the fast path.
    FastPath,
    /// Copies of a packet for its replicas.
    Replicate,
    /// All blocks behind the queues in one, for replicas.
    ReplicaPath,
}

impl CoreStage {
    /// All stages in order.
    pub const ALL: [CoreStage; 12] = [
        CoreStage::Parser,
        CoreStage::VerifyChecksum,
        CoreStage::Ingress,
        CoreStage::Decide,
        CoreStage::Dequeue,
        CoreStage::Egress,
        CoreStage::ComputeChecksum,
        CoreStage::Deparser,
        CoreStage::Transmit,
        CoreStage::FastPath,
        CoreStage::Replicate,
        CoreStage::ReplicaPath,
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            CoreStage::Parser => "parser",
            CoreStage::VerifyChecksum => "verify checksum",
            CoreStage::Ingress => "ingress",
            CoreStage::Decide => "decide, enqueue",
            CoreStage::Dequeue => "dequeue",
            CoreStage::Egress => "egress",
            CoreStage::ComputeChecksum => "compute checksum",
            CoreStage::Deparser => "deparser",
            CoreStage::Transmit => "transmit",
            CoreStage::FastPath => "fast path",
            CoreStage::Replicate => "replicate",
            CoreStage::ReplicaPath => "replica path",
        }
    }
}

/// Sums the time between laps.
#[derive(Default)]
pub(crate) struct StageTimer {
    clock: Option<fn() -> u64>,
    last_ns: u64,
    spent_ns: [u64; CoreStage::ALL.len()],
}

impl StageTimer {
    /// Starts anew with this clock (nanoseconds), or stops.
    pub fn set_clock(&mut self, clock: Option<fn() -> u64>) {
        *self = StageTimer { clock, ..StageTimer::default() };
    }

    /// A lap begins.
    pub fn start(&mut self) {
        if let Some(clock) = self.clock {
            self.last_ns = clock();
        }
    }

    /// The time since the last call was this stage's.
    pub fn lap(&mut self, stage: CoreStage) {
        if let Some(clock) = self.clock {
            let now_ns = clock();
            self.spent_ns[stage as usize] += now_ns.saturating_sub(self.last_ns);
            self.last_ns = now_ns;
        }
    }

    /// What each stage has taken so far.
    pub fn spent_ns(&self, stage: CoreStage) -> u64 {
        self.spent_ns[stage as usize]
    }
}
