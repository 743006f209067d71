//! Tests of the library's public interface.

mod compile;
mod internal_ports;
mod run;

/// A bridge with a table, a register, a log line and a digest.
pub const BRIDGE: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct none_t {}
struct learn_t { bit<48> src; }
parser P(packet_in p, out headers_t h, inout none_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control V(inout headers_t h, inout none_t m) { apply {} }
control I(inout headers_t h, inout none_t m, inout standard_metadata_t s) {
    register<bit<32>>(4) seen;
    action drop() { mark_to_drop(s); }
    action send(bit<9> port) { s.egress_spec = port; }
    table address {
        key = { h.ethernet.dst: exact; }
        actions = { send; drop; }
        default_action = drop();
    }
    apply {
        bit<32> count;
        seen.read(count, 0);
        seen.write(0, count + 1);
        address.apply();
        digest<learn_t>(1, { h.ethernet.src });
        log_msg("type {}", { h.ethernet.type });
    }
}
control E(inout headers_t h, inout none_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h.ethernet); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

/// A packet to 02:00:00:00:00:01.
pub const PACKET: [u8; 16] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, b'h', b'i'];

/// The bridge, as it was written.
pub fn bridge() -> wirespeed::Program {
    wirespeed::Options::as_written().compile_text("bridge.p4", BRIDGE).expect("it has no errors")
}
