// Programs for PSA. Long because each rule has a program of its own.

// ---- port of the wrong type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 send_to_port(ostd, 9w1);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- write to input metadata
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 istd.ingress_port = (PortId_t) 1;  //~ E0402
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- unknown metadata field
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 ostd.foo = true;  //~ E0205
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- egress drop in ingress
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 egress_drop(ostd);  //~ E0508
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- ingress drop in egress
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply {
 ingress_drop(ostd);  //~ E0508
}
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- multicast group of wrong type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 multicast(ostd, 16w1);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- counter without type arguments
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Counter(8, PSA_CounterType_t.PACKETS) c;  //~ E0313
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- counter with one type argument
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Counter<bit<32>>(8, PSA_CounterType_t.PACKETS) c;  //~ E0304
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- counter of an unknown kind
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Counter<bit<32>, bit<8>>(8, PSA_CounterType_t.OCTETS) c;  //~ E0205
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- counter index of another width
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Counter<bit<32>, bit<8>>(8, PSA_CounterType_t.PACKETS) c;
apply {
 c.count(meta.n);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- counter without size
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Counter<bit<32>, bit<8>>(PSA_CounterType_t.PACKETS) c;  //~ E0502
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- counter method that does not exist
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Counter<bit<32>, bit<8>>(8, PSA_CounterType_t.PACKETS) c;
apply {
 c.increment(0);  //~ E0205
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- direct counter with an index
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) c;
action x() {
 c.count(3);  //~ E0501
}
table t {
 key = { hdr.h.a : exact; }
 actions = { x; }
 default_action = x();
 psa_direct_counter = c;
}
apply { t.apply(); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- meter result
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Meter<bit<8>>(8, PSA_MeterType_t.PACKETS) c;
apply {
 meta.m = c.execute(0);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- meter of a counter kind
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Meter<bit<8>>(8, PSA_CounterType_t.PACKETS) c;  //~ E0301
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- meter colour as a number
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Meter<bit<8>>(8, PSA_MeterType_t.PACKETS) c;
apply {
 c.execute(0, 3);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- register read by reference
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Register<bit<8>, bit<8>>(8) c;
apply {
 c.read(meta.m, 0);  //~ E0501
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- register value of another width
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Register<bit<8>, bit<8>>(8) c;
apply {
 c.write(0, meta.n);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- register result of another width
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Register<bit<8>, bit<8>>(8) c;
apply {
 meta.n = c.read(0);  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- hash of an unknown algorithm
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Hash<bit<16>>(PSA_HashAlgorithm_t.MD5) c;  //~ E0205
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- hash result of another width
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) c;
apply {
 meta.m = c.get_hash({ hdr.h.a });  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- hash with a base and no max
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) c;
apply {
 meta.n = c.get_hash(16w0, { hdr.h.a });  //~ E0506
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- random without bounds
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Random<bit<16>>() c;  //~ E0501
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- random at run time bounds
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Random<bit<16>>(meta.n, 10) c;  //~ E0405
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- digest of another type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
Digest<h_t>() d;
apply {
 d.pack(meta);  //~ E0301
}
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- digest without type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
Digest() d;  //~ E0313
apply { }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- checksum method that does not exist
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
InternetChecksum() d;
apply {
 d.update({ hdr.h.a });  //~ E0205
}
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- checksum result width
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
InternetChecksum() d;
apply {
 hdr.h.a = d.get();  //~ E0301
}
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- action profile without size
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
ActionProfile() p;  //~ E0501
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- selector without algorithm
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
ActionSelector(32w10, 32w4) p;  //~ E0501
apply { }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- implementation of the wrong type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) p;
table t {
 key = { hdr.h.a : exact; }
 actions = { NoAction; }
 psa_implementation = p;  //~ E0301
}
apply { t.apply(); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- direct counter of the wrong type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
ActionProfile(32) p;
table t {
 key = { hdr.h.a : exact; }
 actions = { NoAction; }
 psa_direct_counter = p;  //~ E0301
}
apply { t.apply(); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- extract in a control
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 b.extract(hdr.h);  //~ E0201
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- deparser writes no metadata
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply {
 meta.m = 1;  //~ E0402
}
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- parser of another parameter list
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(EP(), I(), ID()) ip;  //~ E0508
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- pipelines in the wrong order
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ep, PacketReplicationEngine(), ip, BufferingQueueingEngine()) main;  //~ E0508 E0508
// ---- an engine is missing
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply { send_to_port(ostd, (PortId_t) 1); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, ep, BufferingQueueingEngine()) main;  //~ E0501
// ---- entry of a wrong type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
table t {
 key = { istd.ingress_port : exact; }
 actions = { NoAction; }
 const entries = {
 true : NoAction();  //~ E0301
 }
}
apply { t.apply(); }
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- compare a port with another type
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 if (istd.ingress_port == 32w3) { }  //~ E0420
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ---- resubmit as a number
#include <core.p4>
#include <psa.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct meta_t { bit<8> m; bit<16> n; }
struct e_t { }
parser IP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd, in e_t r, in e_t c) {
state start { b.extract(hdr.h); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
apply {
 ostd.resubmit = 1;  //~ E0301
}
}
control ID(packet_out b, out e_t c, out e_t r, out e_t n, inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
apply { b.emit(hdr); }
}
parser EP(packet_in b, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd, in e_t n, in e_t c, in e_t d) {
state start { transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
apply { }
}
control ED(packet_out b, out e_t c, out e_t r, inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
apply { b.emit(hdr); }
}
IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
