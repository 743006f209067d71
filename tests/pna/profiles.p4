#include "timers.p4"
