// Functions that call one another eight times each, five deep: 37,449 calls for each packet. All are routines but the
// shortest one. The stf file's values are from a model in another language.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers { ethernet_t ethernet; }
struct metadata {}

#define EIGHT_CALLS(F) \
    z = z + F(z ^ 0, y); z = z + F(z ^ 1, y); z = z + F(z ^ 2, y); z = z + F(z ^ 3, y); \
    z = z + F(z ^ 4, y); z = z + F(z ^ 5, y); z = z + F(z ^ 6, y); z = z + F(z ^ 7, y)

bit<32> f0(in bit<32> x, inout bit<32> y) {
    y = y + x;
    if (x == 7) {
        return y;
    }
    y = (y << 3) ^ (y >> 5);
    return y ^ x;
}
bit<32> f1(in bit<32> x, inout bit<32> y) { bit<32> z = x; EIGHT_CALLS(f0); return z; }
bit<32> f2(in bit<32> x, inout bit<32> y) { bit<32> z = x; EIGHT_CALLS(f1); return z; }
bit<32> f3(in bit<32> x, inout bit<32> y) { bit<32> z = x; EIGHT_CALLS(f2); return z; }
bit<32> f4(in bit<32> x, inout bit<32> y) { bit<32> z = x; EIGHT_CALLS(f3); return z; }
bit<32> f5(in bit<32> x, inout bit<32> y) { bit<32> z = x; EIGHT_CALLS(f4); return z; }

parser P(packet_in packet, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { packet.extract(h.ethernet); transition accept; }
}
control V(inout headers h, inout metadata m) { apply {} }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    apply {
        bit<32> y = h.ethernet.src[31:0];
        h.ethernet.dst[31:0] = f5(h.ethernet.dst[31:0], y);
        h.ethernet.src[31:0] = y;
        s.egress_spec = 1;
    }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply {} }
control C(inout headers h, inout metadata m) { apply {} }
control D(packet_out packet, in headers h) { apply { packet.emit(h.ethernet); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
