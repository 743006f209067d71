// The Portable Switch Architecture under the name that programs for the reference switch use. Its widths are those of
// psa.p4.

#include <psa.p4>
