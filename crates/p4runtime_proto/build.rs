//! Generates Rust from `proto`. A protobuf compiler need not be installed.

use prost::Message;
use std::path::PathBuf;

const FILES: [&str; 3] = ["p4/v1/p4runtime.proto", "google/rpc/status.proto", "wirespeed/v1/commands.proto"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    // The text and JSON forms are made from the descriptors.
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    let mut config = tonic_prost_build::Config::new();
    // The names identify a message's type when its decoded size is computed.
    config.enable_type_names();
    tonic_prost_build::configure()
        // Ordered maps, so that the same P4Info gives the same bytes.
        .btree_map(".")
        .codec_path("crate::codec::BoundedCodec")
        .build_server(false)
        .emit_rerun_if_changed(false)
        .compile_fds_with_config(descriptors.clone(), config)?;
    // Servers use the same messages, except for two: write requests are decoded step by step, and read responses are
    // encoded step by step.
    let mut config = tonic_prost_build::Config::new();
    config.extern_path(".p4.v1.WriteRequest", "crate::unread::WriteRequest");
    config.extern_path(".p4.v1.ReadResponse", "crate::unread::ReadResponse");
    for package in ["p4.v1", "p4.config.v1", "google.rpc", "wirespeed.v1"] {
        config.extern_path(format!(".{package}"), format!("crate::{}", package.replace('.', "::")));
    }
    let servers = out.join("servers");
    std::fs::create_dir_all(&servers)?;
    tonic_prost_build::configure()
        .codec_path("crate::codec::BoundedCodec")
        .build_client(false)
        .out_dir(servers)
        .emit_rerun_if_changed(false)
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}
