#define N 1
#include "../../apps/aggregation/fixed/fixed.p4"
