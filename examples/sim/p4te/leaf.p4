// P4TE in a leaf. Simulated hosts follow RFC 9293: fake acknowledgments have the receiver's sequence numbers as they are.

#define SEQUENCE_STEP 0
#include "../../../apps/p4te/leaf.p4"
