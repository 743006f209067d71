#include "../../apps/aggregation/gateway/gateway.p4"
