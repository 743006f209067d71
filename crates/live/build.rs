//! With the feature `dpdk`: compiles the shim between the driver and DPDK, and links the system's libdpdk.

fn main() {
    #[cfg(feature = "dpdk")]
    dpdk::build();
}

#[cfg(feature = "dpdk")]
mod dpdk {
    use std::process::Command;

    const SHIM: &str = "src/dpdk/shim.c";
    const MISSING: &str =
        "the feature `dpdk` needs DPDK 21.11 or later: on Debian, `apt install libdpdk-dev pkg-config`";

    pub fn build() {
        println!("cargo::rerun-if-changed={SHIM}");
        let mut build = cc::Build::new();
        build.file(SHIM).warnings(true).std("gnu11");
        let flags = pkg_config("--cflags");
        // What stands in DPDK's own headers is not ours to warn of.
        for flag in flags.split_whitespace() {
            match flag.strip_prefix("-I") {
                Some(folder) => build.flag("-isystem").flag(folder),
                None => build.flag(flag),
            };
        }
        build.compile("wirespeed_dpdk");
        for flag in pkg_config("--libs").split_whitespace() {
            if let Some(library) = flag.strip_prefix("-l") {
                println!("cargo::rustc-link-lib={library}");
            } else if let Some(folder) = flag.strip_prefix("-L") {
                println!("cargo::rustc-link-search=native={folder}");
            }
        }
    }

    fn pkg_config(what: &str) -> String {
        let output = Command::new("pkg-config").args([what, "libdpdk >= 21.11"]).output();
        let output = output.unwrap_or_else(|error| panic!("{MISSING} (pkg-config: {error})"));
        assert!(output.status.success(), "{MISSING} ({})", String::from_utf8_lossy(&output.stderr).trim());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
