//! The files of `generated` are what `proto` declares. `UPDATE_EXPECT=1` rewrites them.
//!
//! They are made here and not by a build script: whoever builds Wirespeed need not compile a compiler of protocol
//! buffers first.

use prost::Message;
use prost_types::FileDescriptorSet;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tonic_prost_build::{Builder, Config};

const FILES: [&str; 3] = ["p4/v1/p4runtime.proto", "google/rpc/status.proto", "wirespeed/v1/commands.proto"];

const PACKAGES: [&str; 4] = ["p4.v1", "p4.config.v1", "google.rpc", "wirespeed.v1"];

#[test]
fn generated_files_are_up_to_date() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let new = tempfile::tempdir().expect("a folder");
    generate(&crate_folder.join("proto"), new.path()).expect("the declarations are valid");
    let (new, kept) = (contents(new.path()), crate_folder.join("generated"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        write(&kept, &new).expect("the folder can be written");
    }
    let old = contents(&kept);
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    let differ: Vec<_> = new.iter().filter(|(name, bytes)| old[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "differ from what `proto` declares: {differ:?}; UPDATE_EXPECT=1 rewrites them");
}

/// Writes the descriptors and the Rust of all messages and services below `to`.
fn generate(proto: &Path, to: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let descriptors = protox::compile(FILES, [proto])?;
    fs::write(to.join("descriptors.bin"), without_places(descriptors.clone()).encode_to_vec())?;
    let mut config = Config::new();
    // The names identify a message's type when its decoded size is computed.
    config.enable_type_names();
    // Ordered maps, so that the same P4Info gives the same bytes.
    builder(to).btree_map(".").build_server(false).compile_fds_with_config(descriptors.clone(), config)?;
    let servers = to.join("servers");
    fs::create_dir(&servers)?;
    builder(&servers).build_client(false).compile_fds_with_config(descriptors, config_of_servers())?;
    Ok(())
}

fn builder(to: &Path) -> Builder {
    tonic_prost_build::configure().codec_path("crate::codec::BoundedCodec").out_dir(to).emit_rerun_if_changed(false)
}

/// Servers use the same messages, except for two: write requests are decoded step by step, and read responses are
/// encoded step by step.
fn config_of_servers() -> Config {
    let mut config = Config::new();
    config.extern_path(".p4.v1.WriteRequest", "crate::encoded::WriteRequest");
    config.extern_path(".p4.v1.ReadResponse", "crate::encoded::ReadResponse");
    for package in PACKAGES {
        config.extern_path(format!(".{package}"), format!("crate::{}", package.replace('.', "::")));
    }
    config
}

/// The text and JSON forms need names and types, not where in a file they were declared.
fn without_places(mut descriptors: FileDescriptorSet) -> FileDescriptorSet {
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    descriptors
}

/// All files below `folder` with code or descriptors, by their names relative to it. Packages of messages alone leave
/// no server.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for below in [folder.to_path_buf(), folder.join("servers")] {
        for entry in fs::read_dir(&below).unwrap_or_else(|error| panic!("{}: {error}", below.display())) {
            let path = entry.expect("an entry").path();
            let bytes = if path.is_file() { fs::read(&path).expect("a file") } else { continue };
            if !bytes.is_empty() {
                contents.insert(path.strip_prefix(folder).expect("it is below").to_path_buf(), bytes);
            }
        }
    }
    contents
}

fn write(folder: &Path, contents: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder.join("servers"))?;
    for (name, bytes) in contents {
        fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
