//! The XDP program that redirects an interface's frames to our sockets, as the kernel's instructions.
//!
//! A map gives the socket for the queue of a frame; a frame of a queue without a socket is passed to the kernel. If the
//! interface's driver keeps a frame's VLAN tag beside the frame, as virtual interfaces do, the program reads the tag
//! and puts it back in; this is not possible later. In C it would read:
//!
//! ```c
//! if (bpf_xdp_metadata_rx_vlan_tag(ctx, &kind, &tag) == 0) {
//!     if (bpf_xdp_adjust_head(ctx, -4)) return XDP_ABORTED;
//!     if (data + 18 > data_end) return XDP_ABORTED;
//!     move 12 bytes from data + 4 to data; write kind and tag behind them;
//! }
//! return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
//! ```
//!
//! The verifier of the kernel checks every instruction before it runs.

/// Registers by number.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const CONTEXT: u8 = 6;
const DATA: u8 = 7;
const DATA_END: u8 = 8;
const FRAME_POINTER: u8 = 10;

/// Operations (class, source and kind in one byte).
const LOAD_U32: u8 = 0x61;
const LOAD_U16: u8 = 0x69;
const STORE_U32: u8 = 0x63;
const STORE_U16: u8 = 0x6b;
const STORE_U32_NUMBER: u8 = 0x62;
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const ADD_NUMBER: u8 = 0x07;
const TO_BIG_ENDIAN: u8 = 0xdc;
const JUMP_IF_NOT_NUMBER: u8 = 0x55;
const JUMP_IF_NOT_LESS: u8 = 0x3d;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const LOAD_U64_NUMBER: u8 = 0x18;

/// In the source register's place: the number is a map's descriptor, or a kernel function's number.
const IS_MAP: u8 = 1;
const IS_KERNEL_FUNCTION: u8 = 2;

const HELPER_ADJUST_HEAD: i32 = 44;
const HELPER_REDIRECT_MAP: i32 = 51;

const XDP_ABORTED: i32 = 0;
const XDP_PASS: i32 = 2;

/// Where the context has what the program reads.
const CONTEXT_DATA: i16 = 0;
const CONTEXT_DATA_END: i16 = 4;
const CONTEXT_QUEUE: i16 = 16;

/// Where the stack has the tag's kind, in network order, and the tag.
const STACK_KIND: i16 = -4;
const STACK_TAG: i16 = -2;

/// The function that returns a frame's tag, by its name in the kernel's types.
pub const TAG_FUNCTION: &str = "bpf_xdp_metadata_rx_vlan_tag";

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    operation: u8,
    registers: u8,
    offset: i16,
    number: i32,
}

const _: () = assert!(size_of::<Instruction>() == 8);

impl Instruction {
    /// An instruction on two registers, a distance and a number.
    pub fn new(operation: u8, to: u8, from: u8, offset: i16, number: i32) -> Instruction {
        instruction(operation, to, from, offset, number)
    }

    /// Makes it a jump over this many other instructions.
    pub fn jump_by(&mut self, instructions: i16) {
        self.offset = instructions;
    }
}

fn instruction(operation: u8, to: u8, from: u8, offset: i16, number: i32) -> Instruction {
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    Instruction { operation, registers, offset, number }
}

/// The program for sockets in the map with this descriptor. `tag_function` is the number of [`TAG_FUNCTION`] in the
/// kernel's types, if frames may have tags beside them.
pub fn redirect(map: i32, tag_function: Option<u32>) -> Vec<Instruction> {
    let mut program = vec![instruction(MOVE, CONTEXT, R1, 0, 0)];
    if let Some(function) = tag_function {
        put_tag_back(&mut program, function);
    }
    program.extend([
        instruction(LOAD_U32, R2, CONTEXT, CONTEXT_QUEUE, 0),
        instruction(LOAD_U64_NUMBER, R1, IS_MAP, 0, map),
        instruction(0, 0, 0, 0, 0),
        instruction(MOVE_NUMBER, R3, 0, 0, XDP_PASS),
        instruction(CALL, 0, 0, 0, HELPER_REDIRECT_MAP),
        instruction(EXIT, 0, 0, 0, 0),
    ]);
    program
}

/// Adds the instructions that put a tag back. Two instructions that end the program are in the middle: tests jump
/// over them.
fn put_tag_back(program: &mut Vec<Instruction>, tag_function: u32) {
    let aborted = [instruction(MOVE_NUMBER, R0, 0, 0, XDP_ABORTED), instruction(EXIT, 0, 0, 0, 0)];
    let ask = [
        instruction(STORE_U32_NUMBER, FRAME_POINTER, 0, STACK_KIND, 0),
        instruction(MOVE, R2, FRAME_POINTER, 0, 0),
        instruction(ADD_NUMBER, R2, 0, 0, STACK_KIND.into()),
        instruction(MOVE, R3, FRAME_POINTER, 0, 0),
        instruction(ADD_NUMBER, R3, 0, 0, STACK_TAG.into()),
        instruction(CALL, 0, IS_KERNEL_FUNCTION, 0, tag_function as i32),
    ];
    let mut insert = vec![
        instruction(MOVE, R1, CONTEXT, 0, 0),
        instruction(MOVE_NUMBER, R2, 0, 0, -4),
        instruction(CALL, 0, 0, 0, HELPER_ADJUST_HEAD),
        // Over the jump and the two that abort, if there was room.
        instruction(JUMP_IF_NOT_NUMBER, R0, 0, 5, 0),
        instruction(LOAD_U32, DATA, CONTEXT, CONTEXT_DATA, 0),
        instruction(LOAD_U32, DATA_END, CONTEXT, CONTEXT_DATA_END, 0),
        instruction(MOVE, R1, DATA, 0, 0),
        instruction(ADD_NUMBER, R1, 0, 0, 18),
        instruction(JUMP_IF_NOT_LESS, DATA_END, R1, 2, 0),
    ];
    insert.extend(aborted);
    for place in [0, 4, 8] {
        insert.push(instruction(LOAD_U32, R1, DATA, place + 4, 0));
        insert.push(instruction(STORE_U32, DATA, R1, place, 0));
    }
    insert.extend([
        instruction(LOAD_U16, R1, FRAME_POINTER, STACK_KIND, 0),
        instruction(STORE_U16, DATA, R1, 12, 0),
        instruction(LOAD_U16, R1, FRAME_POINTER, STACK_TAG, 0),
        instruction(TO_BIG_ENDIAN, R1, 0, 0, 16),
        instruction(STORE_U16, DATA, R1, 14, 0),
    ]);
    program.extend(ask);
    // Without a tag, directly to what follows.
    program.push(instruction(JUMP_IF_NOT_NUMBER, R0, 0, insert.len() as i16, 0));
    program.extend(insert);
}

/// The number of a function in the kernel's types (BTF, as in `/sys/kernel/btf/vmlinux`); none if it is not there or
/// the types cannot be read.
pub fn function_number(types: &[u8], name: &str) -> Option<u32> {
    const MAGIC: u16 = 0xeb9f;
    const KIND_FUNCTION: u32 = 12;
    let half = |at: usize| Some(u16::from_ne_bytes(*types.get(at..)?.first_chunk()?));
    let word = |at: usize| Some(u32::from_ne_bytes(*types.get(at..)?.first_chunk()?));
    if half(0)? != MAGIC {
        return None;
    }
    let header = word(4)? as usize;
    let section = |at: usize| Some((header + word(at)? as usize, word(at + 4)? as usize));
    let ((types_start, types_bytes), (strings_start, _)) = (section(8)?, section(16)?);
    let is_named = |offset: u32| {
        let string = types.get(strings_start + offset as usize..)?;
        (string.starts_with(name.as_bytes()) && string.get(name.len()) == Some(&0)).then_some(())
    };
    let mut at = types_start;
    let mut number = 1;
    while at < types_start + types_bytes {
        let information = word(at + 4)?;
        let (kind, members) = ((information >> 24) & 0x1f, (information & 0xffff) as usize);
        if kind == KIND_FUNCTION && is_named(word(at)?).is_some() {
            return Some(number);
        }
        at += 12 + extra_bytes(kind, members)?;
        number += 1;
    }
    None
}

/// Bytes that follow a type's first twelve.
fn extra_bytes(kind: u32, members: usize) -> Option<usize> {
    Some(match kind {
        // Integers, variables, tags of declarations.
        1 | 14 | 17 => 4,
        // Arrays.
        3 => 12,
        // Structures, unions, sections, enumerations of 64 bits.
        4 | 5 | 15 | 19 => 12 * members,
        // Enumerations, prototypes.
        6 | 13 => 8 * members,
        // Pointers, forward declarations, other names, qualifiers, functions, floats, tags of types.
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target of a jump at this position.
    fn target(program: &[Instruction], at: usize) -> &Instruction {
        &program[at + 1 + program[at].offset as usize]
    }

    #[test]
    fn every_jump_leads_where_it_should() {
        let program = redirect(3, Some(7));
        let jumps: Vec<usize> = (0..program.len())
            .filter(|&at| matches!(program[at].operation, JUMP_IF_NOT_NUMBER | JUMP_IF_NOT_LESS))
            .collect();
        let [no_tag, no_room, long_enough] = jumps[..] else { panic!("three jumps: {jumps:?}") };
        assert_eq!(target(&program, no_tag), &instruction(LOAD_U32, R2, CONTEXT, CONTEXT_QUEUE, 0));
        assert_eq!(target(&program, no_room), &instruction(MOVE_NUMBER, R0, 0, 0, XDP_ABORTED));
        assert_eq!(target(&program, long_enough), &instruction(LOAD_U32, R1, DATA, 4, 0));
    }

    /// Types of a kernel with an integer, a structure of two members, and two functions.
    fn types() -> Vec<u8> {
        let strings = b"\0int\0other\0wanted\0";
        let mut words: Vec<u32> = vec![];
        words.extend([1, 1 << 24, 4, 32]);
        words.extend([0, 4 << 24 | 2, 8, 0, 1, 0, 0, 1, 32]);
        words.extend([5, 12 << 24, 0]);
        words.extend([11, 12 << 24, 0]);
        let mut bytes = vec![];
        bytes.extend(0xeb9f_u16.to_ne_bytes());
        bytes.extend([1, 0]);
        let types_bytes = words.len() as u32 * 4;
        for word in [24, 0, types_bytes, types_bytes, strings.len() as u32] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn a_function_is_found_by_its_name() {
        assert_eq!(function_number(&types(), "wanted"), Some(4));
        assert_eq!(function_number(&types(), "other"), Some(3));
        assert_eq!(function_number(&types(), "int"), None);
        assert_eq!(function_number(&types(), "want"), None);
    }

    #[test]
    fn types_that_are_cut_short_hold_nothing() {
        let types = types();
        for length in 0..types.len() - 7 {
            assert_eq!(function_number(&types[..length], "wanted"), None, "{length} bytes");
        }
    }
}
