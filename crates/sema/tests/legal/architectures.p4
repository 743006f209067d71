// Programs of architectures that nothing here runs, and a package of their own.
// ----
// ebpf
#include <ebpf_model.p4>
header Ethernet {
    bit<48> d;
    bit<48> s;
    bit<16> t;
}
header IPv4_h {
    bit<4> v;
    bit<4> i;
    bit<8> ds;
    bit<32> sa;
}
struct Headers_t {
    Ethernet ethernet;
    IPv4_h ipv4;
}
parser prs(packet_in p, out Headers_t headers) {
    state start {
        p.extract(headers.ethernet);
        transition select(headers.ethernet.t) {
            16w0x800: ip;
            default: reject;
        }
    }
    state ip {
        p.extract(headers.ipv4);
        transition accept;
    }
}
control pipe(inout Headers_t headers, out bool pass) {
    CounterArray(32w10, true) ctr;
    action invalidate() {
        headers.ipv4.setInvalid();
        headers.ethernet.setInvalid();
        pass = true;
    }
    action drop() {
        pass = false;
        ctr.increment(3);
        ctr.add(1, 2);
    }
    table t {
        key = {
            headers.ipv4.sa: exact;
            headers.ipv4.ds: lpm;
        }
        actions = {
            invalidate;
            drop;
        }
        implementation = hash_table(10);
        default_action = drop;
        const entries = {
            (8, 1): invalidate();
        }
    }
    apply {
        t.apply();
        if (!headers.ipv4.isValid()) return;
        switch (t.apply().action_run) {
            drop: {
                pass = false;
            }
            invalidate: { }
        }
    }
}
ebpfFilter(prs(), pipe()) main;
// ----
// ubpf
#include <ubpf_model.p4>
header E {
    bit<8> x;
}
struct Headers_t {
    E e;
}
struct metadata {
    bit<8> q;
}
parser prs(packet_in p, out Headers_t headers, inout metadata meta, inout standard_metadata std_meta) {
    state start {
        p.extract(headers.e);
        transition accept;
    }
}
control pipe(inout Headers_t headers, inout metadata meta, inout standard_metadata std_meta) {
    Register<bit<32>, bit<32>>(1) r;
    action a() {
        mark_to_drop();
        bit<32> x = r.read(0);
        r.write(0, x + 1);
        std_meta.output_action = ubpf_action.REDIRECT;
        bit<32> h;
        hash(h, HashAlgorithm.lookup3, { headers.e.x, x });
        bit<48> t = ubpf_time_get_ns();
        truncate((bit<32>)14);
    }
    table t {
        key = {
            headers.e.x: exact;
        }
        actions = {
            a;
            NoAction;
        }
    }
    apply {
        t.apply();
    }
}
control dprs(packet_out packet, in Headers_t headers) {
    apply {
        packet.emit(headers.e);
    }
}
ubpf(prs(), pipe(), dprs()) main;
// ----
// ubpf old
#define UBPF_MODEL_VERSION 20200304
#include <ubpf_model.p4>
header E {
    bit<8> x;
}
struct Headers_t {
    E e;
}
struct metadata { }
parser prs(packet_in p, out Headers_t headers, inout metadata meta) {
    state start {
        p.extract(headers.e);
        transition accept;
    }
}
control pipe(inout Headers_t headers, inout metadata meta) {
    apply {
        mark_to_pass();
    }
}
@deparser control dprs(packet_out packet, in Headers_t headers) {
    apply {
        packet.emit(headers.e);
    }
}
ubpf(prs(), pipe(), dprs()) main;
// ----
// xdp
#include <xdp_model.p4>
header E {
    bit<8> x;
}
struct H {
    E e;
}
parser P(packet_in p, out H h) {
    state start {
        p.extract(h.e);
        transition accept;
    }
}
control I(inout H hd, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = xin.input_port;
    }
}
control D(in H hd, packet_out p) {
    apply {
        p.emit(hd.e);
    }
}
xdp(P(), I(), D()) main;
// ----
// dpdk pna
#include <dpdk/pna.p4>
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
    PNA_MeterColor_t col;
}
control Pre(in headers_t hdr, inout M meta, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply { }
}
parser MP(packet_in pkt, out headers_t hdr, inout M main_meta, in pna_main_parser_input_metadata_t istd) {
    state start {
        pkt.extract(hdr.e);
        transition accept;
    }
}
control MC(inout headers_t hdr, inout M user_meta, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    Counter<bit<10>, bit<12>>(1024, PNA_CounterType_t.PACKETS_AND_BYTES) c0;
    DirectCounter<bit<32>>(PNA_CounterType_t.PACKETS) dc;
    Meter<bit<12>>(1024, PNA_MeterType_t.BYTES) m;
    DirectMeter(PNA_MeterType_t.BYTES) dm;
    Register<bit<32>, bit<12>>(1024) r;
    Hash<bit<16>>(PNA_HashAlgorithm_t.TOEPLITZ) h;
    ActionProfile(128) ap;
    Random<bit<8>>(0, 3) rn;
    InternetChecksum() ck;
    ipsec_accelerator() ipsec;
    action next_hop(PortId_t oport) {
        c0.count(12w3);
        c0.count(3, 32w64);
        dc.count(32);
        user_meta.col = m.dpdk_execute(3, PNA_MeterColor_t.RED, 64);
        send_to_port(oport);
        drop_packet();
    }
    action add_on_miss_action() {
        bit<32> tmp = 0;
        add_entry(action_name = "next_hop", action_params = tmp, expire_time_profile_id = (ExpireTimeProfileId_t)3);
        add_entry(action_name = "next_hop", action_params = { 32w0, 32w1234 });
    }
    table t {
        key = {
            hdr.e.d: exact;
            SelectByDirection(istd.direction, hdr.e.s, hdr.e.d): exact @name("x");
        }
        actions = {
            @tableonly next_hop;
            @defaultonly add_on_miss_action;
        }
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.NOTIFY_CONTROL;
        idle_timeout_with_auto_delete = true;
        const default_action = add_on_miss_action;
        pna_implementation = ap;
        pna_direct_counter = dc;
        pna_direct_meter = dm;
    }
    apply {
        if (PNA_Direction_t.NET_TO_HOST == istd.direction) {
            t.apply();
        }
        bit<16> q = h.get_hash({ hdr.e.d, hdr.e.s });
        q = h.get_hash((bit<16>)0, hdr.e, 16w3);
        ck.add({ hdr.e.t });
        q = ck.get();
        user_meta.c = r.read(3);
        r.write(1, user_meta.c);
        recirculate();
        mirror_packet((MirrorSlotId_t)3, (MirrorSessionId_t)4);
        ipsec_status s;
        if (ipsec.from_ipsec(s)) {
            ipsec.set_sa_index<bit<32>>(3);
            ipsec.set_ip_header_offset((bit<16>)14);
            ipsec.enable();
        }
        FlowId_t f = allocate_flow_id();
        set_entry_expire_time((ExpireTimeProfileId_t)8w1);
        restart_expire_timer();
    }
}
control MD(packet_out pkt, in headers_t hdr, in M user_meta, in pna_main_output_metadata_t ostd) {
    apply {
        pkt.emit(hdr.e);
    }
}
PNA_NIC(MP(), Pre(), MC(), MD()) main;
// ----
// pna generic
#include <pna.p4>
header E {
    bit<48> d;
}
struct headers_t {
    E e;
}
struct M { }
control Pre(in headers_t hdr, inout M meta, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply { }
}
parser MP(packet_in pkt, out headers_t hdr, inout M main_meta, in pna_main_parser_input_metadata_t istd) {
    state start {
        pkt.extract(hdr.e);
        transition accept;
    }
}
control MC(inout headers_t hdr, inout M user_meta, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    DirectMeter(PNA_MeterType_t.BYTES) dm;
    apply {
        PNA_MeterColor_t c = dm.execute(PNA_MeterColor_t.RED, 3);
    }
}
control MD(packet_out pkt, in headers_t hdr, in M user_meta, in pna_main_output_metadata_t ostd) {
    apply {
        pkt.emit(hdr.e);
    }
}
PNA_NIC(MP(), Pre(), MC(), MD()) main;
// ----
// tc pna
#include <tc/pna.p4>
#define PORT_TABLE_SIZE 262144
header E {
    bit<48> d;
    @tc_type("macaddr") bit<48> s;
}
struct headers_t {
    E e;
}
struct M { }
parser MP(packet_in pkt, out headers_t hdr, inout M main_meta, in pna_main_parser_input_metadata_t istd) {
    state start {
        pkt.extract(hdr.e);
        transition accept;
    }
}
control MC(inout headers_t hdr, inout M user_meta, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    action next_hop(@tc_type("dev") PortId_t port) {
        send_to_port(port);
    }
    action dflt() {
        drop_packet();
    }
    @tc_acl("CRUD:RX") table t {
        key = {
            hdr.e.d: exact @tc_type("ipv4");
            istd.input_port: exact;
        }
        actions = {
            next_hop;
            dflt;
        }
        default_action = dflt;
        size = PORT_TABLE_SIZE;
    }
    apply {
        if (is_net_port(istd.input_port)) {
            t.apply();
            skb_set_mark(3);
            bit<32> m = skb_get_mark();
            AddEntryErrorStatus_t s = add_entry("x", { (bit<8>)3 }, (ExpireTimeProfileId_t)1);
        }
    }
}
control MD(packet_out pkt, inout headers_t hdr, in M user_meta, in pna_main_output_metadata_t ostd) {
    apply {
        pkt.emit(hdr.e);
    }
}
PNA_NIC(MP(), MC(), MD()) main;
// ----
// own little package in a file
#include <core.p4>
parser simple(packet_in b);
package top(simple e);
parser p(packet_in b) {
    state start {
        transition accept;
    }
}
@command_line("x") top(p()) main;
// ----
// forward declared extern and function types
extern X {
    X();
}
control c1<T>(in T t);
control c2(in bit<8> t) {
    apply { }
}
package top<T>(c1<T> c);
top<_>(c2()) main;
