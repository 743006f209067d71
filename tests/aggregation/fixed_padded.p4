#define N 2
#include "../../apps/aggregation/fixed/fixed.p4"
