//! Passes over the IR, and the pipelines as lists
