// P4TE in a spine.

#define SEQUENCE_STEP 0
#include "../../../apps/p4te/spine.p4"
