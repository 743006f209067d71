//! What the system refuses to exceed, in one place, with the reason.

/// Packets that travel through the switch together. A node of the compiled program keeps its packets as one bit each
/// in a 64-bit mask.
pub const BURST_PACKETS_MAX: usize = 64;

/// Lent frames that generated code gets in one call, which goes through them burst by burst. Four bursts share what a
/// call costs; with more, those that ask for more than to be sent would wait longer.
pub const CALL_FRAMES_MAX: usize = 4 * BURST_PACKETS_MAX;

/// The widest `bit<>`, `int<>` and `varbit<>`, in bits: wide enough for any header and for a word of the longest code
/// of ZipLine, small enough that a program cannot make a single field eat the memory.
pub const WIDTH_BITS_MAX: u32 = 32_768;

/// The most elements of a header stack.
pub const STACK_ELEMENTS_MAX: u32 = 1024;

/// The height of an expression, a type or a statement in a program, so that whoever walks the syntax tree may recurse
/// (see [`crate::stack`]). What is written one behind the other need not be nested: a long sum makes a low tree, and a
/// long `else if` counts little.
pub const NESTING_MAX: u32 = 4096;

/// As many `else if` in a row count as one level.
pub const ELSE_IFS_PER_LEVEL: usize = 8;

/// The same of a lowered program, in which calls are inlined.
pub const LOWERED_NESTING_MAX: u32 = 2 * NESTING_MAX;

/// The stack that whoever walks such trees is given: 32 KiB for each level, which is ample.
pub const STACK_BYTES: usize = LOWERED_NESTING_MAX as usize * (32 << 10);

/// The longest packet, in bytes: the longest that a capture file or a socket hands over.
pub const PACKET_BYTES_MAX: usize = 65_535;

/// Free bytes kept before a received packet, so that a pushed header needs no move of the payload.
pub const HEADROOM_BYTES: usize = 256;

/// Bytes before a frame in memory of ours that is lent to the core: programs that add no more headers than that work
/// on it where it lies.
pub const LENT_ROOM_BYTES: usize = 128;

/// Parser states that one packet may visit. A parser loop ends with the packet or the stack; one that does neither
/// (it extracts nothing) is ended here with `ParserTimeout`.
pub const PARSER_STEPS_MAX: u32 = 4096;

/// Iterations of one loop statement for one packet.
pub const LOOP_STEPS_MAX: u32 = 65_536;

/// How often one packet may be resubmitted or recirculated before it is dropped: more often than any counter of eight
/// bits has values, so that a program may go round once for each.
pub const PASSES_MAX: u32 = 1024;

/// Packets that one received packet may become inside the switch (clones and replicas) while it is worked on.
pub const COPIES_MAX: usize = 4096;

/// Cells of one register array, counter array or meter array.
pub const CELLS_MAX: u64 = 1 << 26;

/// Bytes of all registers, counters and meters of a program together: a program must not eat the machine's memory.
pub const STATE_BYTES_MAX: u64 = 4 << 30;

/// Entries of one table. Engines have 25 bits for their numbers, which begin at 1.
pub const TABLE_ENTRIES_MAX: usize = (1 << 25) - 1;

/// Packets that one tick of a timer's port brings: what a template may hold, so that no tick takes the switch for long.
pub const TIMER_FRAMES_MAX: usize = 1024;

/// The shortest time between two ticks, in nanoseconds: a worker looks about that often.
pub const TIMER_PERIOD_NS_MIN: u64 = 1_000;

/// The longest, a day: a longer one is a mistake of units.
pub const TIMER_PERIOD_NS_MAX: u64 = 86_400_000_000_000;

/// Choices of all groups of an action profile together: each member of a group counts as often as its weight says.
/// Bounds what one request of a controller can make the switch store.
pub const PROFILE_CHOICES_MAX: usize = 1 << 20;

const _: () = assert!(BURST_PACKETS_MAX <= 64, "a burst is a 64-bit mask");
const _: () = assert!(HEADROOM_BYTES.is_multiple_of(64), "the packet starts on a cache line");
