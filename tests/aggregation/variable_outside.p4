#include "../../apps/aggregation/variable/variable.p4"
