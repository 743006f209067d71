//! IR to C to native code
