//! Control API, entries files, switch commands
