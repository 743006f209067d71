//! The switch core: packets in, packets out, no I/O, no clock
