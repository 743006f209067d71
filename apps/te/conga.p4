// Like CONGA (Alizadeh et al., SIGCOMM 2014): a leaf sends each flowlet by the uplink whose path to the leaf of the
// destination is the least congested, as that leaf reports in packets that go back.
//
// Between leaves packets have a header with the uplink that they took, the greatest congestion on their way, and for one
// uplink after the other what has arrived of the other leaf's packets. Congestion has eight levels, as there.

// What is to be done.
const bit<2> ARRIVE = 0;
const bit<2> CHOOSE = 1;
const bit<2> LEAVE = 2;

control Conga(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard, in bit<2> task,
              inout bit<9> port) {
    // By leaf and uplink, 32 for each leaf: what the leaf reports of own packets, and when; what came from there.
    register<bit<8>>(32768) congestion_to;
    register<bit<48>>(32768) reported_at;
    register<bit<8>>(32768) congestion_from;
    // The uplink whose congestion is reported to a leaf next.
    register<bit<16>>(1024) next_feedback;
    // What this switch's own uplinks carry, as levels.
    register<bit<8>>(512) own_levels;
    register<bit<48>>(512) own_levels_at;

    bit<16> own_leaf = 0;
    bit<48> age = 0;
    bit<48> own_age = 0;
    bit<16> ports = 0;
    bit<9> candidate = 0;
    bit<8> level = 0;
    bool is_blocked = false;
    bit<48> now = standard.ingress_global_timestamp;

    // The own number, 0 for none; for how many microseconds reports of others and own levels count; how many uplinks
    // there are.
    action set_conga(bit<16> leaf, bit<48> reports_count, bit<48> levels_count, bit<16> count) {
        own_leaf = leaf;
        age = reports_count;
        own_age = levels_count;
        ports = count;
    }

    table conga {
        actions = {
            set_conga;
        }
        default_action = set_conga(0, 10000, 256, 0);
    }

    action set_candidate(bit<9> out_port) {
        candidate = out_port;
    }

    // The uplinks, by numbers from 0 on.
    table candidates {
        key = {
            meta.choice: exact;
        }
        actions = {
            set_candidate;
            NoAction;
        }
        default_action = NoAction();
        size = 32;
    }

    action block() {
        is_blocked = true;
    }

    // Leaves that an uplink does not lead to.
    table blocked {
        key = {
            meta.leaf: exact;
            candidate: exact;
        }
        actions = {
            block;
            NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    // A port with this factor has the level of its utilisation times the factor, divided by 2 to the
    // power of 24.
    action set_level(bit<32> factor) {
        bit<64> product = ((bit<64>) meta.utilisation * (bit<64>) factor) >> 24;
        level = product > 7 ? 8w7 : (bit<8>) product;
    }

    table levels {
        key = {
            port: exact;
        }
        actions = {
            set_level;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action note_report() {
        bit<32> slot = (bit<32>) (hdr.overlay.source ++ 5w0) | (bit<32>) hdr.overlay.feedback_path;
        congestion_to.write(slot, hdr.overlay.feedback);
        reported_at.write(slot, now);
    }

    action note_arrival() {
        congestion_from.write((bit<32>) (hdr.overlay.source ++ 5w0) | (bit<32>) hdr.overlay.path,
                              hdr.overlay.congestion);
    }

    apply {
        conga.apply();
        if (task == ARRIVE) {
            // In a leaf what the other leaf reports is noted, and the packet is again as its host sent it.
            if (own_leaf != 0) {
                note_arrival();
                if (hdr.overlay.feedback_path != 0) {
                    note_report();
                }
                hdr.ethernet.ethertype = hdr.overlay.ethertype;
                hdr.overlay.setInvalid();
            }
        } else if (task == CHOOSE) {
            bit<16> start;
            bit<8> least = 0xff;
            port = 0;
            random(start, 16w0, ports |-| 1);
#define CONSIDER(number)                                                                                           \
            if (number < ports) {                                                                                  \
                meta.choice = start + number;                                                                      \
                if (meta.choice >= ports) {                                                                        \
                    meta.choice = meta.choice - ports;                                                             \
                }                                                                                                  \
                is_blocked = false;                                                                                \
                candidates.apply();                                                                                \
                blocked.apply();                                                                                   \
                bit<32> slot = (bit<32>) (meta.leaf ++ 5w0) | (bit<32>) candidate;                                 \
                bit<8> there;                                                                                      \
                bit<8> here;                                                                                       \
                bit<48> since;                                                                                     \
                congestion_to.read(there, slot);                                                                   \
                reported_at.read(since, slot);                                                                     \
                if (now - since > age) {                                                                           \
                    there = 0;                                                                                     \
                }                                                                                                  \
                own_levels.read(here, (bit<32>) candidate);                                                        \
                own_levels_at.read(since, (bit<32>) candidate);                                                    \
                if (now - since > own_age) {                                                                       \
                    here = 0;                                                                                      \
                }                                                                                                  \
                here = here > there ? here : there;                                                                \
                if (!is_blocked && here < least) {                                                                 \
                    least = here;                                                                                  \
                    port = candidate;                                                                              \
                }                                                                                                  \
            }
            CONSIDER(16w0)
            CONSIDER(16w1)
            CONSIDER(16w2)
            CONSIDER(16w3)
        } else {
            levels.apply();
            if (!hdr.overlay.isValid() && meta.leaf != 0) {
                own_levels.write((bit<32>) port, level);
                own_levels_at.write((bit<32>) port, now);
                hdr.overlay.setValid();
                hdr.overlay.source = own_leaf;
                hdr.overlay.path = (bit<8>) port;
                hdr.overlay.congestion = 0;
                hdr.overlay.ethertype = hdr.ethernet.ethertype;
                hdr.ethernet.ethertype = ETHERTYPE_OVERLAY;
                next_feedback.read(meta.choice, (bit<32>) meta.leaf);
                meta.choice = meta.choice + 1 >= ports ? 16w0 : meta.choice + 1;
                next_feedback.write((bit<32>) meta.leaf, meta.choice);
                candidates.apply();
                hdr.overlay.feedback_path = (bit<8>) candidate;
                congestion_from.read(hdr.overlay.feedback, (bit<32>) (meta.leaf ++ 5w0) | (bit<32>) candidate);
            }
            if (hdr.overlay.isValid() && level > hdr.overlay.congestion) {
                hdr.overlay.congestion = level;
            }
        }
    }
}
