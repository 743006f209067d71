// States of the decoder's parser. A template: included once for each transform.

#include "settings.p4"

#if COUNT == 1
    state OF(parse_chunk) {
#if OFFSET > 0
        packet.extract(hdr.skipped);
#endif
        packet.extract(hdr.OF(chunks)[0]);
        transition accept;
    }
#endif

    state OF(parse_reference) {
#if OFFSET > 0
        packet.extract(hdr.skipped);
#endif
#if COUNT == 1
        packet.extract(hdr.OF(references)[0]);
#else
        packet.extract(hdr.known);
#define ITEM(i) OF(item).apply(packet, hdr.known.chunks << i, hdr.OF(chunks)[i], hdr.OF(references)[i]);
        EACH(ITEM)
#endif
        transition accept;
    }
