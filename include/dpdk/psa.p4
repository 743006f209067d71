// The Portable Switch Architecture for DPDK's software switch: psa.p4 with counters and meters that are given how long the
// packet is.

#define __PSA_TARGET_DPDK__
#include <psa.p4>
