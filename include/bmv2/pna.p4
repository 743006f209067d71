// The Portable NIC Architecture for the behavioral model.

#define __PNA_TARGET_BMV2__
#include <_internal/pna.p4>
