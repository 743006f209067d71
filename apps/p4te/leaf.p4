// P4TE in a leaf: a switch with hosts, which knows the flows of their senders.

#define LEAF
#include "p4te.p4"
