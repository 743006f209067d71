//! What the core counts, and why it drops packets: the one list of reasons.

/// Why a packet ended without being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(usize)]
pub enum DropReason {
    /// The program dropped it in ingress (`egress_spec` was the drop port).
    Ingress,
    /// The program dropped it in egress.
    Egress,
    /// Its multicast group has no members, or there is no such group.
    NoReplicas,
    /// Its egress port does not exist.
    NoPort,
    /// There is no queue for its priority.
    NoPriority,
    /// Its queue was full.
    QueueFull,
    /// It was resubmitted, recirculated or cloned more often than `base::limits::PASSES_MAX`.
    PassLimit,
    /// One received packet became more copies than `base::limits::COPIES_MAX`, each pass that starts anew counted as
    /// one.
    CopyLimit,
    /// The deparsed packet would be longer than its buffer.
    TooLong,
    /// An assertion of the program failed.
    AssertionFailed,
    /// No packet buffer was free.
    NoBuffer,
    /// It waited, in a queue or to be worked on, when the program was changed.
    ProgramChanged,
}

impl DropReason {
    /// All reasons, in the order of their counters.
    pub const ALL: [DropReason; 12] = [
        DropReason::Ingress,
        DropReason::Egress,
        DropReason::NoReplicas,
        DropReason::NoPort,
        DropReason::NoPriority,
        DropReason::QueueFull,
        DropReason::PassLimit,
        DropReason::CopyLimit,
        DropReason::TooLong,
        DropReason::AssertionFailed,
        DropReason::NoBuffer,
        DropReason::ProgramChanged,
    ];

    /// For programs that read counters: a short name that stays.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Ingress => "ingress",
            DropReason::Egress => "egress",
            DropReason::NoReplicas => "no_replicas",
            DropReason::NoPort => "no_port",
            DropReason::NoPriority => "no_priority",
            DropReason::QueueFull => "queue_full",
            DropReason::PassLimit => "pass_limit",
            DropReason::CopyLimit => "copy_limit",
            DropReason::TooLong => "too_long",
            DropReason::AssertionFailed => "assertion_failed",
            DropReason::NoBuffer => "no_buffer",
            DropReason::ProgramChanged => "program_changed",
        }
    }

    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            DropReason::Ingress => "dropped by the program in ingress",
            DropReason::Egress => "dropped by the program in egress",
            DropReason::NoReplicas => "multicast group without members",
            DropReason::NoPort => "no such egress port",
            DropReason::NoPriority => "no queue for this priority",
            DropReason::QueueFull => "queue full",
            DropReason::PassLimit => "too many passes (resubmit, recirculate, clone)",
            DropReason::CopyLimit => "too many copies of one packet",
            DropReason::TooLong => "longer than a packet buffer after deparsing",
            DropReason::AssertionFailed => "assertion failed",
            DropReason::NoBuffer => "no free packet buffer",
            DropReason::ProgramChanged => "waiting when the program was changed",
        }
    }
}

/// Counters of the core.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Stats {
    /// Packets received.
    pub received: u64,
    /// Packets sent.
    pub sent: u64,
    /// Copies made: clones and replicas.
    pub copies: u64,
    /// Further passes: resubmissions and recirculations.
    pub passes: u64,
    drops: [u64; DropReason::ALL.len()],
}

impl Stats {
    /// Packets that ended for this reason.
    pub fn drops(&self, reason: DropReason) -> u64 {
        self.drops[reason as usize]
    }

    /// Packets that ended without being sent, for any reason.
    pub fn drops_total(&self) -> u64 {
        self.drops.iter().sum()
    }

    /// Adds what another core has counted.
    pub(crate) fn add(&mut self, other: &Stats) {
        self.received += other.received;
        self.sent += other.sent;
        self.copies += other.copies;
        self.passes += other.passes;
        self.drops.iter_mut().zip(&other.drops).for_each(|(sum, part)| *sum += part);
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        self.count_drops(reason, 1);
    }

    pub(crate) fn count_drops(&mut self, reason: DropReason, packets: u64) {
        self.drops[reason as usize] += packets;
    }
}
