// Programs for v1model. Long because each rule has a program of its own.

// ---- two lpm keys
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : lpm;
hdr.h.b : lpm;  //~ E0806
 }
 actions = { NoAction; }

}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- mask in exact
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
const entries = {
1 &&& 3 : NoAction();  //~ E0805
}
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- range in exact
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
const entries = {
1 .. 3 : NoAction();  //~ E0805
}
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- mask not prefix in lpm
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : lpm;
 }
 actions = { NoAction; }
const entries = {
1 &&& 3 : NoAction();  //~ E0805
}
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- range in ternary
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : ternary;
 }
 actions = { NoAction; }
const entries = {
1 .. 3 : NoAction();  //~ E0805
}
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- mask in range
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : range;
 }
 actions = { NoAction; }
const entries = {
1 &&& 3 : NoAction();  //~ E0805
}
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- implementation of wrong type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
implementation = 5;  //~ E0301
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- counters of wrong type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
counters = 5;  //~ E0301
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- meters of wrong type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
meters = true;  //~ E0301
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- counters not an instance of direct_counter
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
counter(4, CounterType.packets) c;
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
counters = c;  //~ E0301
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- support_timeout number
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
support_timeout = 3;  //~ E0301
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- profile size runtime
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
hdr.h.a : exact;
 }
 actions = { NoAction; }
implementation = action_profile((bit<32>)hdr.h.a);  //~ E0405
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- direct counter in two tables
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
direct_counter(CounterType.packets) c;
table t {
 key = { hdr.h.a : exact; }
 actions = { NoAction; }
 counters = c;
}
table u {  //~ E0809
 key = { hdr.h.a : exact; }
 actions = { NoAction; }
 counters = c;
}
apply { t.apply(); u.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- direct meter in two tables
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
direct_meter<bit<8>>(MeterType.packets) c;
action x() { c.read(meta.m); }
action y() { }
table t {
 key = { hdr.h.a : exact; }
 actions = { x; }
 default_action = x();
 meters = c;
}
table u {  //~ E0809
 key = { hdr.h.a : exact; }
 actions = { y; }
 default_action = y();
 meters = c;
}
apply { t.apply(); u.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- register wrong type arg
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
register<bit<8>>(8) r;
apply {
 r.read(meta.n, 0);  //~ E0508
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- register index wide
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
register<bit<8>>(8) r;
apply {
 r.read(meta.m, 64w0);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- register write type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
register<bit<8>>(8) r;
apply {
 r.write(0, meta.n);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- register no size
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
register<bit<8>>() r;  //~ E0501
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- register no type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
register(8) r;  //~ E0313
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- register runtime size
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
register<bit<8>>((bit<32>)hdr.h.a) r;  //~ E0405
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- counter type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
counter(8, 3) r;  //~ E0301
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- counter count args
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
counter(8, CounterType.bytes) r;
apply {
 r.count();  //~ E0501
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- counter type unknown
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
counter(8, CounterType.octets) r;  //~ E0205
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- meter execute
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
meter(8, MeterType.bytes) r;
apply {
 r.execute_meter(0);  //~ E0502
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- hash algo unknown
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 hash(meta.n, HashAlgorithm.md5, 16w0, { hdr.h.a }, 16w8);  //~ E0205
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- hash arg count
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 hash(meta.n, HashAlgorithm.crc16, 16w0, { hdr.h.a });  //~ E0502
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- hash result not lvalue
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 hash(16w3, HashAlgorithm.crc16, 16w0, { hdr.h.a }, 16w8);  //~ E0401
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- random types
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 random(meta.n, 8w0, 16w8);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- clone type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 clone(3, 32w5);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- clone index runtime
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 clone_preserving_field_list(CloneType.I2E, 5, meta.m);  //~ E0405
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- update_checksum const target
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply {
 update_checksum(true, { hdr.h.a }, 16w0, HashAlgorithm.csum16);  //~ E0401
}
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- checksum condition
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply {
 update_checksum(1, { hdr.h.a }, hdr.h.c, HashAlgorithm.csum16);  //~ E0301
}
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- digest receiver
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 digest(true, { hdr.h.a });  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- log_msg non-string
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 log_msg(meta.m);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- assert non-bool
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 assert(meta.m);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- truncate bool
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 truncate(true);  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- unknown standard metadata
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 sm.foo = 1;  //~ E0205
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- egress_spec width
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 sm.egress_spec = meta.n;  //~ E0301
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- write deparser header
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply {
 hdr.h.a = 1;  //~ E0402
 b.emit(hdr.h); }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- extract in ingress
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 b.extract(hdr.h);  //~ E0201
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- emit metadata
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply {
 b.emit(hdr.h.a);  //~ E0320
}
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- verify in ingress
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 verify(true, error.NoMatch);  //~ E0510
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- extract next beyond
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start {
 b.extract(hdr.s[3]);  //~ E0404
 transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- one-argument extract of varbit
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start {
 b.extract(hdr.v);  //~ E0320
 transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- two-argument extract of fixed
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start {
 b.extract(hdr.h, 8);  //~ E0320
 transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- transition missing state
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition select(hdr.h.a) {
 1: foo;  //~ E0612
 default: accept; } }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- last in ingress
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 meta.m = hdr.s.last.a;  //~ E0412
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- varbit add
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply {
 hdr.v.v = hdr.v.v + 1;  //~ E0419
}
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- varbit key
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
table t {
 key = {
 hdr.v.v : exact;  //~ E0623
 }
 actions = { NoAction; }
}
apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- exit in deparser
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply {
 return 3;  //~ E0601
}
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;
// ---- main missing block
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC()) main;  //~ E0501
// ---- main with wrong order
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), I(), VC(), E(), UC(), D()) main;  //~ E0301 E0301
// ---- main with a type
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I, E(), UC(), D()) main;  //~ E0120
// ---- other headers in a block
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout meta_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;  //~ E0301
// ---- wrong direction of a block
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, inout headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;  //~ E0301
// ---- block lacks a parameter
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;  //~ E0301
// ---- v1model not included
#include <core.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header v_t { bit<8> n; varbit<32> v; }
struct headers_t { h_t h; h_t[3] s; v_t v; }
struct meta_t { bit<8> m; bit<16> n; bool f; }
parser P(packet_in b, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {  //~ E0201
state start { transition accept; }
}
control VC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
apply { }
}
control UC(inout headers_t hdr, inout meta_t meta) {
apply { }
}
control D(packet_out b, in headers_t hdr) {
apply { }
}
V1Switch(P(), VC(), I(), E(), UC(), D()) main;  //~ E0201
