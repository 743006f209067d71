// Fields of headers among the metadata in field lists, stated and annotated: they are kept whether the header is valid
// or not, and the header is invalid afterwards. A clone from egress has headers that are valid as they are.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> kind;
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

header m_t {
    bit<8> a;
    bit<8> b;
}

header_union union_t {
    m_t m;
    h_t h;
}

struct inner_t {
    m_t deep;
}

struct metadata {
    m_t stated;
    m_t parsed;
    @field_list(1)
    m_t annotated;
    @field_list(2)
    m_t[2] stack;
    @field_list(2)
    union_t either;
    inner_t inner;
}

struct headers {
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            0x80 &&& 0x80: more;
            default: accept;
        }
    }
    state more {
        packet.extract(meta.parsed);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type == 0) {
            meta.stated.a = 1;
            meta.stated.b = 2;
            meta.annotated.a = 3;
            meta.annotated.setInvalid();
            meta.annotated.b = 4;
            meta.stack[1].a = 5;
            meta.stack[hdr.h.a].b = 6;
            meta.either.m.a = 7;
            meta.inner.deep.b = 8;
            if (hdr.h.kind == 1) {
                resubmit({ meta.stated.b, meta.inner });
            } else if (hdr.h.kind == 2) {
                clone3(CloneType.I2E, 5, { meta.stated.a });
            } else if (hdr.h.kind == 3) {
                resubmit_preserving_field_list(1);
            } else if (hdr.h.kind == 4) {
                resubmit_preserving_field_list(2);
            } else if (hdr.h.kind == 0x80) {
                clone3(CloneType.I2E, 5, { meta.parsed.b });
            } else if (hdr.h.kind == 5) {
                meta.inner.deep.setValid();
                meta.inner.deep.a = 9;
            }
        } else {
            hdr.h.a = meta.stated.b | meta.inner.deep.b;
            hdr.h.b = meta.annotated.a | meta.annotated.b << 4;
            hdr.h.c = meta.stack[1].a + meta.stack[0].b + meta.either.m.a;
            // For some packets these become valid, but not for those of this test.
            if (hdr.h.kind == 0xff) {
                meta.stated.setValid();
                meta.stack[0].setValid();
                meta.either.m.setValid();
            }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.h.a = meta.stated.a;
            hdr.h.b = meta.stated.b;
            hdr.h.c = (meta.parsed.isValid() ? 8w0x80 : 0) | meta.parsed.a | meta.parsed.b;
        } else if (standard_metadata.instance_type == 2) {
            hdr.h.a = meta.inner.deep.a;
            hdr.h.b = meta.inner.deep.isValid() ? 8w1 : 0;
            hdr.h.c = meta.stated.a;
        } else if (hdr.h.kind == 5) {
            meta.stated.a = 1;
            clone(CloneType.E2E, 5);
            hdr.h.c = meta.inner.deep.a;
        } else if (hdr.h.kind == 6) {
            hdr.h.kind = 7;
            recirculate({ meta.stated.b, meta.annotated.a });
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
