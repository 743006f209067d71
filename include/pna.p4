// The Portable NIC Architecture, version 0.5.

#include <_internal/pna.p4>
