// The Portable NIC Architecture for Linux traffic control.

#define __PNA_TARGET_TC__
#include <_internal/pna.p4>
