#define PACKED
#define COLUMNS 8
#include "../../apps/aggregation/variable/variable.p4"
