//! The `wirespeed` command, which is in the library of this crate.

fn main() -> std::process::ExitCode {
    cli::main()
}
