// The Portable NIC Architecture for DPDK's software switch.

#define __PNA_TARGET_DPDK__
#include <_internal/pna.p4>
