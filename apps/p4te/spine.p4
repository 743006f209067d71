// P4TE in every other switch: it keeps no state of flows but their flowlets.

#include "p4te.p4"
