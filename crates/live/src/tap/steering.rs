//! Which queue of a tap interface gets a frame that the system sends on it: a program in the kernel decides by flow.
//!
//! Left to itself, the kernel sends a flow to the queue on which the switch has last sent a frame of the same two ends;
//! so a flow that has been on another queue would overtake itself when the first answer comes. This program looks at
//! the frame alone. In C it would read:
//!
//! ```c
//! uint32_t sum;
//! if (type == IPV4) {
//!     sum = source ^ destination;
//!     if (!is_fragment && (protocol == TCP || protocol == UDP)) sum ^= ports;
//! } else if (type == IPV6) {
//!     sum = the eight words of both addresses, xored;
//!     if (next_header == TCP || next_header == UDP) sum ^= ports;
//! } else sum = the three words of both Ethernet addresses, xored;
//! return (sum * 0x9E3779B1) >> 16;
//! ```
//!
//! What is too short for what it claims to be is the first queue's: so ends a program that reads behind a frame.

use crate::xdp::bpf::Program;
use crate::xdp::program::Instruction;
use std::io;

/// Registers by number. Whoever reads a frame has the context in 6 and gets what was read in 0.
const R0: u8 = 0;
const R1: u8 = 1;
const CONTEXT: u8 = 6;
const SUM: u8 = 7;
const PROTOCOL: u8 = 8;
const PORTS_AT: u8 = 9;

/// Operations.
const READ_U32: u8 = 0x20;
const READ_U16: u8 = 0x28;
const READ_U8: u8 = 0x30;
const READ_U32_BEHIND: u8 = 0x40;
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const XOR: u8 = 0xaf;
const AND_NUMBER: u8 = 0x57;
const SHIFT_LEFT_NUMBER: u8 = 0x67;
const MULTIPLY_U32_NUMBER: u8 = 0x24;
const SHIFT_RIGHT_U32_NUMBER: u8 = 0x74;
const JUMP: u8 = 0x05;
const JUMP_IF_NUMBER: u8 = 0x15;
const JUMP_IF_NOT_NUMBER: u8 = 0x55;
const EXIT: u8 = 0x95;

const TYPE_IPV4: i32 = 0x0800;
const TYPE_IPV6: i32 = 0x86DD;
const PROTOCOL_TCP: i32 = 6;
const PROTOCOL_UDP: i32 = 17;
/// More fragments follow, or this is not the first.
const FRAGMENT: i32 = 0x3FFF;

/// A program whose jumps lead to labels, which get their places at the end.
#[derive(Default)]
struct Text {
    instructions: Vec<Instruction>,
    /// Jumps, by their place, to labels.
    jumps: Vec<(usize, Label)>,
    labels: Vec<(Label, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Ipv6,
    Ethernet,
    Ports,
    HasPorts,
    End,
}

impl Text {
    fn push(&mut self, operation: u8, to: u8, from: u8, number: i32) {
        self.instructions.push(Instruction::new(operation, to, from, 0, number));
    }

    fn jump(&mut self, operation: u8, register: u8, number: i32, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(operation, register, 0, number);
    }

    fn label(&mut self, label: Label) {
        self.labels.push((label, self.instructions.len()));
    }

    /// Xors words of the frame into the sum.
    fn sum(&mut self, places: impl IntoIterator<Item = i32>) {
        for place in places {
            self.push(READ_U32, 0, 0, place);
            self.push(XOR, SUM, R0, 0);
        }
    }

    fn finish(mut self) -> Vec<Instruction> {
        for (place, label) in self.jumps {
            let target = self.labels.iter().find(|(known, _)| *known == label).map_or(place + 1, |(_, at)| *at);
            self.instructions[place].jump_by((target - place - 1) as i16);
        }
        self.instructions
    }
}

fn instructions() -> Vec<Instruction> {
    let mut text = Text::default();
    text.push(MOVE, CONTEXT, R1, 0);
    text.push(MOVE_NUMBER, SUM, 0, 0);
    text.push(READ_U16, 0, 0, 12);
    text.jump(JUMP_IF_NUMBER, R0, TYPE_IPV6, Label::Ipv6);
    text.jump(JUMP_IF_NOT_NUMBER, R0, TYPE_IPV4, Label::Ethernet);
    text.sum([26, 30]);
    text.push(READ_U16, 0, 0, 20);
    text.push(AND_NUMBER, R0, 0, FRAGMENT);
    text.jump(JUMP_IF_NOT_NUMBER, R0, 0, Label::End);
    text.push(READ_U8, 0, 0, 23);
    text.push(MOVE, PROTOCOL, R0, 0);
    text.push(READ_U8, 0, 0, 14);
    text.push(AND_NUMBER, R0, 0, 0xF);
    text.push(SHIFT_LEFT_NUMBER, R0, 0, 2);
    text.push(MOVE, PORTS_AT, R0, 0);
    text.jump(JUMP, 0, 0, Label::Ports);
    text.label(Label::Ipv6);
    text.sum((22..54).step_by(4));
    text.push(READ_U8, 0, 0, 20);
    text.push(MOVE, PROTOCOL, R0, 0);
    text.push(MOVE_NUMBER, PORTS_AT, 0, 40);
    text.label(Label::Ports);
    text.jump(JUMP_IF_NUMBER, PROTOCOL, PROTOCOL_TCP, Label::HasPorts);
    text.jump(JUMP_IF_NOT_NUMBER, PROTOCOL, PROTOCOL_UDP, Label::End);
    text.label(Label::HasPorts);
    text.push(READ_U32_BEHIND, 0, PORTS_AT, 14);
    text.push(XOR, SUM, R0, 0);
    text.jump(JUMP, 0, 0, Label::End);
    text.label(Label::Ethernet);
    text.sum([0, 4, 8]);
    text.label(Label::End);
    text.push(MOVE, R0, SUM, 0);
    text.push(MULTIPLY_U32_NUMBER, R0, 0, 0x9E37_79B1_u32 as i32);
    text.push(SHIFT_RIGHT_U32_NUMBER, R0, 0, 16);
    text.push(EXIT, 0, 0, 0);
    text.finish()
}

/// The program in the kernel.
pub fn load() -> io::Result<Program> {
    Program::load_filter(&instructions())
}
