//! Match engines and their snapshots
