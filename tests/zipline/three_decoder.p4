#define CODE 0
#define CHUNK 3
#define ASIDE 8
#define CODE_1 4
#define CODE_3 0
#define ASIDE_3 12
#define ID_BITS 2
#define CLASSES 4
#define OFFSET 1
#define COUNT 2
#define ETHERTYPE 0xA000
#include "../../apps/zipline/decoder.p4"
