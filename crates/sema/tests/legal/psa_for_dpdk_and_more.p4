// PSA for DPDK, parameters of packages and constructors, typedefs, comparisons, lookahead, enums.
// ----
// dpdk psa
#include <dpdk/psa.p4>
header E {
    bit<48> d;
    bit<48> s;
    bit<16> t;
}
struct headers_t {
    E e;
}
struct M {
    bit<32> c;
}
struct EMPTY { };
parser IP(packet_in pkt, out headers_t hdr, inout M m, in psa_ingress_parser_input_metadata_t istd, in EMPTY rm, in EMPTY cm) {
    state start {
        pkt.extract(hdr.e);
        transition accept;
    }
}
control IG(inout headers_t hdr, inout M m, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<10>, bit<12>>(1024, PSA_CounterType_t.PACKETS_AND_BYTES) c0;
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) dc;
    Meter<bit<12>>(1024, PSA_MeterType_t.BYTES) mt;
    DirectMeter(PSA_MeterType_t.BYTES) dm;
    Register<bit<32>, bit<12>>(1024) r;
    ActionProfile(32) ap;
    ActionSelector(PSA_HashAlgorithm_t.CRC32, 32w1024, 32w16) as;
    Random<bit<16>>(0, 5) rnd;
    Digest<M>() dg;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.CRC16) ck;
    action f(PortId_t p) {
        send_to_port(ostd, p);
        c0.count(3, 64);
        dc.count(64);
        if (mt.dpdk_execute(3, PSA_MeterColor_t.RED, 64) == PSA_MeterColor_t.GREEN) {
            ingress_drop(ostd);
        }
        m.c = r.read(3);
        r.write(1, m.c);
        dg.pack(m);
        multicast(ostd, (MulticastGroup_t)(MulticastGroupUint_t)3);
    }
    table t {
        key = {
            hdr.e.d: exact;
            hdr.e.s: lpm;
            hdr.e.t: ternary;
            istd.ingress_port: exact;
            m.c: selector;
        }
        actions = {
            f;
            NoAction;
        }
        psa_direct_counter = dc;
        psa_implementation = as;
        psa_direct_meter = dm;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
        psa_empty_group_action = NoAction();
    }
    apply {
        t.apply();
        ck.clear();
        ck.update({ hdr.e.d, hdr.e.t });
        hdr.e.t = ck.get();
        if (istd.packet_path == PSA_PacketPath_t.RESUBMIT) {
            ostd.egress_port = (PortId_t)32w3;
        }
        bit<32> p = (bit<32>)(PortIdUint_t)istd.ingress_port;
    }
}
control ID(packet_out b, out EMPTY a, out EMPTY r, out EMPTY n, inout headers_t hdr, in M m, in psa_ingress_output_metadata_t istd) {
    apply {
        b.emit(hdr.e);
        if (psa_resubmit(istd)) { }
    }
}
parser EP(packet_in b, out headers_t hdr, inout M m, in psa_egress_parser_input_metadata_t istd, in EMPTY n, in EMPTY c, in EMPTY e) {
    state start {
        transition accept;
    }
}
control EG(inout headers_t hdr, inout M m, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
    apply { }
}
control ED(packet_out b, out EMPTY c, out EMPTY r, inout headers_t hdr, in M m, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t ed) {
    apply {
        b.emit(hdr);
    }
}
IngressPipeline(IP(), IG(), ID()) ip;
EgressPipeline(EP(), EG(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
// ----
// void as a type argument
extern E<T> {
    E();
    T get();
}
extern T f<T>(in bit<8> x);
control c() {
    E<void>() e;
    apply {
        e.get();
        f<void>(3);
    }
}
// ----
// parenthesised targets
control c(inout bit<8> x, inout bit<8>[2] a) {
    apply {
        (x) = 3;
        (a[0])[3:0] = 4w1;
        (a)[1] = x;
    }
}
// ----
// package parameters that are data
package P(bit<8> n, bool b, string s, error e, tuple<bit<8>, bool> t, list<bit<8>> l);
P(3, true, "x", error.NoError, { 1, true }, { 1, 2, 3 }) main;
// ----
// struct parameters of constructors
struct Cfg {
    bit<8> a;
    bool b;
}
control c(inout bit<8> x)(Cfg k) {
    apply {
        if (k.b) {
            x = k.a;
        }
    }
}
control d(inout bit<8> x) {
    c({ 1, true }) i;
    c({ a = 1, b = false }) j;
    c((Cfg){ 3, true }) l;
    apply {
        i.apply(x);
        j.apply(x);
        l.apply(x);
    }
}
// ----
// int constructor parameters
control c(inout bit<8> x)(int n, bit<8> w) {
    apply {
        x = (bit<8>)n;
        x = w;
    }
}
control d(inout bit<8> x) {
    c(300, 2) i;
    apply {
        i.apply(x);
    }
}
extern E {
    E(int n);
}
control e() {
    E(5) k;
    apply { }
}
// ----
// widths from constants of sized types
const bit<16> W = 16w8;
const int<8> V = 8s3;
typedef bit<(W)> A;
header H {
    bit<(W + 1)> a;
    bit<(V)> b;
}
struct S {
    H[(bit<4>)3] st;
}
// ----
// nested comments in macros and directives in skipped text
#if 0
#if 1
#else
#endif
#elif 1
const bit<8> a = 1;
#else
#error no
#endif
const bit<8> b = a;
// ----
// empty things
struct S { }
header H { }
header_union U { }
enum E { a }
control c() {
    apply { }
}
control d()() {
    apply { }
}
parser p() {
    state start { }
}
package P();
P() main;
control ct();
parser pt();
extern X { }
extern Y {
    Y();
}
action a() { }
void f() { }
// ----
// structs with one field and tuples of one
struct S {
    bit<8> x;
}
control c(inout S s, inout bit<8> b) {
    apply {
        s = { b };
        s = { x = b };
        tuple<bit<8>> t = { b };
        b = t[0];
        s = { b, };
        s = { x = b, };
    }
}
// ----
// casts of lists
struct S {
    bit<8> x;
    bit<8> y;
}
header H {
    bit<8> x;
    bit<8> y;
}
control c(inout S s, inout H h, inout tuple<bit<8>, bit<8>> t) {
    apply {
        s = (S){ 1, 2 };
        h = (H){ 1, 2 };
        h = (H){ x = 1, y = 2 };
        t = (tuple<bit<8>, bit<8>>){ 1, 2 };
        t = { s.x, h.y };
        if (t == { 1, 2 }) { }
    }
}
// ----
// string types of annotations
@description("A" "B") const bit<8> a = 1;
@brief("x, y") @doc(a b c) @numbers(1 2 3) @mixed(a = 1, b) @nested((a), [b], {c}) @ops(+ - * / && || == <= >> <<) const bit<8> b = 1;
// ----
// type declarations of everything
typedef bool B;
typedef int<8> I;
typedef error E;
typedef tuple<B, I> T;
typedef varbit<32> V;
header H {
    V v;
    B b;
}
typedef H HH;
typedef HH[3] HS;
struct S {
    HS s;
    T t;
    E e;
}
typedef S SS;
control c(inout SS s) {
    apply {
        s.s[0].setValid();
        s.t = { true, -1 };
        s.e = error.NoError;
        HH h = s.s[1];
    }
}
extern X<T> {
    X();
}
typedef X<B> XB;
control d() {
    XB() x;
    apply { }
}
enum EN { a }
typedef EN EN2;
const EN2 en = EN.a;
const bool same = EN2.a == EN.a;
// ----
// comparisons of everything
header H {
    varbit<32> v;
    bit<8> x;
}
struct S {
    H h;
    error e;
    bool b;
}
enum E { a, b }
enum bit<8> F { a = 1, b = 1 }
type bit<8> N;
control c(in S s, in S t, in E e, in F f, in N n, in H[2] a, in tuple<bit<8>, E> u) {
    apply {
        bool r = s == t;
        r = s.h == t.h;
        r = s.h.v != t.h.v;
        r = s.e != error.NoMatch;
        r = e == E.a;
        r = f == F.b;
        r = f == 3;
        r = f > 3;
        r = n == (N)3;
        r = a == a;
        r = u == u;
        r = u == { 3, E.a };
        r = a[0] == { s.h.v, 3 };
        r = true == false;
        r = (e == E.a) != (f == F.a);
    }
}
// ----
// if conditions
control c(inout bit<8> x, inout bool b, inout bit<1> o) {
    apply {
        if (b) { }
        if (!b) { }
        if ((bool)o) { }
        if (o == 1) { }
        if (true) { }
        if (x[0:0] == 1) { }
        if (b == (x == 1)) { }
        if (b && (bool)o || x > 1) { }
    }
}
// ----
// several controls applied with struct parts
header H {
    bit<8> x;
}
struct S {
    H h;
    H[2] st;
}
control i(inout H h) {
    apply { }
}
control o(inout S s) {
    i() a;
    i() b;
    apply {
        a.apply(s.h);
        b.apply(s.st[0]);
        b.apply(s.st[1]);
    }
}
// ----
// nested instances
control a(inout bit<8> x) {
    apply { }
}
control b(inout bit<8> x)(bit<8> n) {
    a() i;
    apply {
        i.apply(x);
    }
}
control c(inout bit<8> x) {
    b(1) i;
    b(2) j;
    a() k;
    apply {
        i.apply(x);
        j.apply(x);
        k.apply(x);
    }
}
// ----
// extern functions returning structs and tuples
struct S {
    bit<8> a;
}
extern S f(in bit<8> x);
extern tuple<bit<8>, bool> g();
extern bool h<T, U>(in T x, out U y);
extern void k(inout S s, out bit<8> x);
control c(inout bit<8> x) {
    apply {
        x = f(x).a;
        x = g()[0];
        if (g()[1]) { }
        bool b = h(x, x);
        h<bit<8>, bit<8>>(3, x);
        S s;
        k(s, x);
        k(s, _);
        f(x);
    }
}
// ----
// bool in match and entries
header H {
    bool b;
    bit<7> x;
}
control c(inout H h) {
    table t {
        key = {
            h.b: exact;
            h.isValid(): exact;
            h.b && h.isValid(): exact @name("q");
        }
        actions = {
            NoAction;
        }
        const entries = {
            (true, false, true): NoAction;
            (false, true, false): NoAction();
        }
    }
    apply {
        t.apply();
    }
}
// ----
// lookahead forms
header H {
    bit<4> a;
    bit<4> b;
}
struct S {
    bit<8> x;
    H h;
}
parser p(packet_in pkt, out H h) {
    state start {
        transition select(pkt.lookahead<bit<16>>()[7:0]) {
            1: a;
            default: b;
        }
    }
    state a {
        h = pkt.lookahead<H>();
        transition select(pkt.lookahead<H>().a, pkt.lookahead<bit<4>>()) {
            (1, 2): b;
        }
    }
    state b {
        S s = pkt.lookahead<S>();
        bit<8> x = pkt.lookahead<tuple<bit<8>, bit<8>>>()[1];
        transition accept;
    }
}
// ----
// states with blocks, conditionals and calls
extern void ext(in bit<8> x);
bit<8> fn(in bit<8> x) {
    return x + 1;
}
header H {
    bit<8> a;
}
parser p(packet_in pkt, out H h, inout bit<8> m) {
    state start {
        pkt.extract(h);
        if (h.a == 1) {
            m = fn(m);
        } else if (h.a == 2) ext(m);
        ;
        {
            const bit<8> k = 3;
            bit<8> l = k;
            m = l;
        }
        m[3:0] = h.a[7:4];
        h.setInvalid();
        ext(fn(m));
        transition select(fn(m)) {
            1: accept;
            _: n;
        }
    }
    state n {
        verify(m == 3, error.NoMatch);
        if (m == 3) {
            for (bit<8> i in 1..3) {
                m = m + i;
            }
        }
        transition reject;
    }
}
// ----
// enum members in expressions
enum bit<4> E { a = 1, b = 2 }
enum int<8> G { n = -1, p = 1 }
control c(inout bit<4> x, inout E e, inout G g, inout int<8> i) {
    apply {
        x = E.a + E.b;
        x = E.a | 3;
        e = (E)(E.a + 1);
        x = (bit<4>)e;
        i = G.n;
        i = i + G.p;
        x = x ++ E.a == 8w3 ? (bit<4>)E.a : 4w3;
        e = x == 1 ? E.a : E.b;
        if (e == E.a) { }
        x = x << E.a;
        x = -E.a;
        x = ~E.a;
        x = e;
        x[1:0] = e[1:0];
    }
}
// ----
// out and inout of fields, elements and slices
void f(out bit<8> a, inout bit<8> b) {
    a = b;
}
header H {
    bit<8> x;
    bit<16> y;
}
control c(inout H h, inout H[3] s, inout bit<2> i) {
    apply {
        f(h.x, s[0].x);
        f(h.y[7:0], h.y[15:8]);
        f(s[i].x, s[1].x);
    }
}
