#define N 3
#include "../../apps/aggregation/fixed/fixed.p4"
