//! The `wirespeed` command.
fn main() {}
