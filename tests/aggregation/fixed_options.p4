#include "../../apps/aggregation/fixed/fixed.p4"
