//! Long registers that are copied while packets write them: a copy misses nothing that native code or the interpreter
//! writes.

use base::Bits;
use base::index::Id as _;
use ir::RegisterId;
use std::sync::Arc;
use switch::externs::RegisterArray;
use switch::{Output, Switch};
use testkit::differential::BuildFolder;
use testkit::pipeline::{Engine, optimised, program_of_text, switch_for};

/// Each packet writes its second byte to a cell of both registers, chosen by its first one.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header note_t { bit<8> to; bit<8> note; }
struct headers { note_t note; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.note); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<64>>(65536) narrow;
    register<bit<130>>(40000) wide;
    apply {
        sm.egress_spec = 1;
        narrow.write((bit<32>)hdr.note.to * 257, (bit<64>)hdr.note.note);
        wide.write((bit<32>)hdr.note.to * 150 + 21, (bit<130>)hdr.note.note << 100);
    }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.note); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

struct Nowhere;

impl Output for Nowhere {
    fn transmit(&mut self, _: u32, _: &[u8], _: u64) {}
}

/// Packets with all first bytes.
fn run(switch: &mut Switch, note: u8) {
    for to in 0..=255 {
        switch.receive(0, 1, &[to, note]);
    }
    switch.run(0, &mut Nowhere);
}

#[test]
fn a_copy_misses_nothing_that_packets_write() {
    let folder = BuildFolder::new(true).unwrap();
    let program = Arc::new(optimised(&program_of_text("followed.p4", PROGRAM).unwrap()).unwrap());
    let Engine::Native(options) = folder.engine() else { unreachable!("it compiles programs") };
    for engine in [Engine::Interpreter, Engine::Native(options.clone()), Engine::NativeStaged(options)] {
        let mut switch = switch_for(&program, &engine).unwrap();
        run(&mut switch, 3);
        for (register, width) in [(RegisterId::from_index(0), 65), (RegisterId::from_index(1), 128)] {
            let old = switch.externs_mut().registers[register].shared();
            let copy = RegisterArray::filled(width, old.size, &Bits::zero(width));
            let zero = (Bits::zero(old.width_bits), Bits::zero(width));
            copy.follow(&old, false, (&zero.0, &zero.1));
            run(&mut switch, 5);
            copy.take_values(&old, false, (&zero.0, &zero.1)).unwrap();
            for cell in 0..old.size {
                let value = old.read(cell).unwrap().resize(width);
                assert_eq!(copy.read(cell).unwrap(), value, "{engine:?}: cell {cell} of {width} bits");
            }
        }
    }
}
