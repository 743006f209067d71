//! Workers and packet drivers: the only threads, sockets and clocks
