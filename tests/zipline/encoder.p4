#define CODE 3
#define ID_BITS 4
#include "../../apps/zipline/encoder.p4"
