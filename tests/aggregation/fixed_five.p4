#define N 5
#include "../../apps/aggregation/fixed/fixed.p4"
