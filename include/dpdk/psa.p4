// The Portable Switch Architecture for DPDK's software switch: psa.p4 with counters and meters that are told how long the
// packet is. Programs for it are checked and not run here, which is why the package has a name of its own.

#define __PSA_TARGET_DPDK__
#define PSA_Switch PSA_Switch_DPDK
#include <psa.p4>
