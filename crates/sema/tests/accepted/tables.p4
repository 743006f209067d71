// Tables with everything that they may have.
#include <core.p4>
#include <v1model.p4>

header H { bit<8> a; bit<16> b; bit<128> c; }
struct S { H h; H[2] stack; bit<8> x; bool f; }
enum bit<8> R { one = 1, two = 2 }

control C(inout S s, inout standard_metadata_t sm) {
    direct_counter(CounterType.bytes) counts;
    direct_meter<bit<2>>(MeterType.bytes) rates;
    action_selector(HashAlgorithm.crc16, 32w1024, 32w14) selector_one;
    bit<2> color;
    action none() { }
    action set(bit<8> v) { s.x = v; counts.count(); }
    action copy(in bit<8> v, inout bit<16> w, bit<8> data) { s.x = v + data; w = w + 1; rates.read(color); }
    action with_default(bit<8> v = 3) { s.x = v; }
    @name("named") @hidden
    table all {
        key = {
            s.h.a: exact @name("first");
            s.h.b: ternary;
            s.h.c: lpm;
            s.x: range;
            s.f: exact;
            s.h.isValid(): exact;
            s.h.b[7:0]: optional;
            s.h.a + 1: exact @name("sum");
            s.stack[0].a: selector;
            sm.ingress_port & 1: exact;
        }
        actions = { none; set; copy(s.x, s.h.b); @defaultonly with_default; NoAction; }
        default_action = copy(s.x, s.h.b, 3);
        size = 1 << 10;
        implementation = selector_one;
        counters = counts;
        meters = rates;
        support_timeout = true;
    }
    table constant_entries {
        key = { s.h.a: exact; s.h.b: ternary; s.x: range; }
        actions = { none; set; NoAction; }
        const default_action = set(1);
        const entries = {
            (1, 2, 3): none();
            (0x01, 0xff00 &&& 0xff00, 1 .. 4): set(3);
            (R.one, _, _): set(v = 4);
            (3, default, 5) : NoAction;
        }
    }
    table with_priorities {
        key = { s.h.b: ternary; }
        actions = { none; set; }
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            const priority = 10: 1: none();
            priority = 20: 2 &&& 3: set(1);
            3: set(2);
            _: none();
        }
    }
    table keyless { actions = { none; set; } default_action = set(5); }
    table profile {
        key = { s.h.a: exact; }
        actions = { none; }
        implementation = action_profile(32);
        default_action = none;
    }
    apply {
        if (all.apply().hit) { keyless.apply(); }
        if (!profile.apply().miss) { }
        switch (constant_entries.apply().action_run) {
            none:
            set: { s.x = 1; }
            default: { s.x = 2; }
        }
        set(3);
        copy(s.x, s.h.b, 4);
        with_default();
    }
}
