#define CODE 0
#define CHUNK 2
#define ASIDE 8
#define CODE_1 3
#define CHUNK_1 1
#define ID_BITS 4
#define CLASSES 3
#define ETHERTYPE 0xA000
#include "../../apps/zipline/encoder.p4"
