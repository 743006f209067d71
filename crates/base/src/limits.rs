//! All limits of the system, each with its reason.

/// Packets that travel through the switch together. Generated code keeps the packets of a batch stage as one bit each
/// in a 64-bit mask.
pub const BURST_PACKETS_MAX: usize = 64;

/// Frames that generated code gets in one call. It processes them burst by burst. Four bursts share the cost of a
/// call; with more, packets that are punted to the staged path would wait longer.
pub const CALL_FRAMES_MAX: usize = 4 * BURST_PACKETS_MAX;

/// The widest `bit<>`, `int<>` and `varbit<>`, in bits. This is wide enough for any header and for whole packets as one
/// value, and small enough that a single field of a program cannot exhaust the memory.
pub const WIDTH_BITS_MAX: u32 = 32_768;

/// The most elements of a header stack.
pub const STACK_ELEMENTS_MAX: u32 = 1024;

/// The depth of an expression, a type or a statement in a program, so that code may recurse over the syntax tree (see
/// [`crate::stack`]). Sequences need not be nested: a long sum makes a shallow tree, and a long chain of `else if`
/// counts little ([`ELSE_IFS_PER_LEVEL`]).
pub const NESTING_MAX: u32 = 4096;

/// This many consecutive `else if` count as one level of nesting.
pub const ELSE_IFS_PER_LEVEL: usize = 8;

/// The depth of a lowered program, in which calls are inlined.
pub const LOWERED_NESTING_MAX: u32 = 2 * NESTING_MAX;

/// The size of the stack on which such trees are traversed: 32 KiB per level, which is ample.
pub const STACK_BYTES: usize = LOWERED_NESTING_MAX as usize * (32 << 10);

/// Statements of an optimised program that native code may contain in two forms, since both take time to compile.
/// Longer programs have only the form that works for every packet.
pub const SHORT_PROGRAM_STATEMENTS_MAX: usize = 2_000;

/// The longest packet, in bytes: the longest that a capture file or a socket delivers.
pub const PACKET_BYTES_MAX: usize = 65_535;

/// Free bytes (headroom) before a received packet, so that pushing a header does not move the payload.
pub const HEADROOM_BYTES: usize = 256;

/// Headroom in bytes before a frame in our own memory that is lent to the core. Programs that add no more headers
/// than fit into it work on the frame in place.
pub const LENT_HEADROOM_BYTES: usize = 128;

/// Parser states that one packet may visit. A parser loop ends with the packet or the stack. A loop that consumes
/// neither (it extracts nothing) ends at this limit with `ParserTimeout`.
pub const PARSER_STEPS_MAX: u32 = 4096;

/// Iterations of one loop statement for one packet.
pub const LOOP_STEPS_MAX: u32 = 65_536;

/// How often one packet may be resubmitted or recirculated before it is dropped. The limit exceeds the number of
/// values of an 8-bit counter, so that a program may make one pass for each.
pub const PASSES_MAX: u32 = 1024;

/// Packets that one received packet may become inside the switch (clones and replicas) while it is processed.
pub const COPIES_MAX: usize = 4096;

/// Cells of one register array, counter array or meter array.
pub const CELLS_MAX: u64 = 1 << 26;

/// Words of a register from which on writes to it are marked, so that a copy of it can be kept up to date. A shorter
/// one is copied in less time than packets may wait.
pub const MARKED_WORDS_MIN: u64 = 1 << 16;

/// Bytes of all registers, counters and meters of a program together, so that a program cannot exhaust the machine's
/// memory.
pub const STATE_BYTES_MAX: u64 = 4 << 30;

/// Entries of one table. Match engines store entry numbers, which begin at 1, in 25 bits.
pub const TABLE_ENTRIES_MAX: usize = (1 << 25) - 1;

/// Entries that packets may add to tables before the switch publishes them, which it does behind each packet that has
/// added one.
pub const ADDED_ENTRIES_MAX: usize = 64;

/// Packets that one tick of a timer port delivers, which is also the size limit of its template: no tick may occupy
/// the switch for long.
pub const TIMER_FRAMES_MAX: usize = 1024;

/// The shortest timer period, in nanoseconds. A worker polls the timer about that often.
pub const TIMER_PERIOD_NS_MIN: u64 = 1_000;

/// The longest timer period, in nanoseconds: one day. A longer period is a mistake of units.
pub const TIMER_PERIOD_NS_MAX: u64 = 86_400_000_000_000;

/// Choices of all groups of an action profile together. Each member of a group counts as many times as its weight.
/// The limit bounds what a single request of a controller can make the switch store.
pub const PROFILE_CHOICES_MAX: usize = 1 << 20;

const _: () = assert!(BURST_PACKETS_MAX <= 64, "a burst is a 64-bit mask");
const _: () = assert!(HEADROOM_BYTES.is_multiple_of(64), "the packet starts on a cache line");
