// P4TE: monitoring, load-aware paths, and control of senders' rates. `leaf.p4` and `spine.p4` are the two forms.

#include <core.p4>
#include <v1model.p4>

#define FAKES
#define REPORTS

#include "../te/headers.p4"
#include "types.p4"
#include "../te/parser.p4"
#include "../te/addresses.p4"
#include "../te/checksums.p4"
#include "paths.p4"
#ifdef LEAF
#include "flows.p4"
#endif
#include "egress.p4"

control P4teIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_meter<bit<2>>(MeterType.METERED) rate;
    ReadAddresses() read_addresses;
    Hop() hop;
    Paths() paths;
#ifdef LEAF
    Flows() flows;
#endif

    action from_host() {
        meta.is_from_host = true;
        rate.read(meta.incoming_colour);
    }

    action from_switch() {
        rate.read(meta.incoming_colour);
    }

    // Section 4.1.3: what comes in of each class of flows, and whether that is more than the class may have.
    table incoming {
        key = {
            standard.ingress_port: exact;
            meta.addresses.traffic_class & CLASS_MASK: exact @name("class");
        }
        actions = {
            from_host;
            from_switch;
        }
        meters = rate;
        size = 2048;
    }

#ifdef LEAF
    // Puts marks where the next switch finds them. Hosts get packets without.
    action write_marks(bit<8> traffic_class) {
        hdr.ipv6.traffic_class = traffic_class;
        hdr.ipv4.traffic_class = traffic_class;
    }
#endif

    apply {
        if (meta.role != COLOUR_REPORT) {
            if (standard.parser_error != error.NoError || !(hdr.ipv6.isValid() || hdr.ipv4.isValid())) {
                mark_to_drop(standard);
                return;
            }
            bool is_dead;
            hop.apply(hdr, is_dead);
            if (is_dead) {
                mark_to_drop(standard);
                return;
            }
            read_addresses.apply(hdr, meta.addresses);
            if (meta.role == 0) {
                incoming.apply();
            }
        }
        paths.apply(hdr, meta, standard);
#ifdef LEAF
        if (meta.role != COLOUR_REPORT) {
            flows.apply(hdr, meta, standard);
            meta.leaves_network = meta.is_down;
        }
        if (meta.leaves_network) {
            write_marks(meta.addresses.traffic_class & ~(FAKE | WIDER | NOT_CONTROLLED));
        } else {
            write_marks(meta.addresses.traffic_class);
        }
#endif
    }
}

V1Switch(FabricParser(), NoVerification(), P4teIngress(), P4teEgress(), FabricChecksums(), FabricDeparser()) main;
