#define CODE 3
#define ID_BITS 4
#include "../../apps/zipline/gateway.p4"
