//! Sweeps on a Ray cluster of two nodes on this machine, by `tools/sim_ray.py`. The cluster is in a network namespace
//! of its own, since its nodes would serve all interfaces.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const SCENARIO: &str = r#"
duration = "1ms"

[topology]
kind = "star"
hosts = 2
rate = "1Gbps"

[[flows]]
kind = "udp"
from = "h1"
to = "h2"
rate = "100Mbps"
arrivals = "poisson"

[sweep]
seeds = "1..3"
flows.0.size = [100, 1000]
"#;

/// Starts two nodes, and the driver for them.
const CLUSTER: &str = r#"
import runpy, sys
from ray.cluster_utils import Cluster
node = {"num_cpus": 1, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=node)
cluster.add_node(**node)
sys.argv = [sys.argv[1], *sys.argv[2:5], "--address", cluster.address, *sys.argv[5:]]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    import ray
    ray.shutdown()
    cluster.shutdown()
"#;

/// Runs a command in a network namespace, for at most 5 minutes.
const IN_NAMESPACE: [&str; 6] = ["--net", "timeout", "300", "sh", "-c", r#"ip link set lo up && exec python3 "$@""#];

#[test]
fn a_sweep_on_two_nodes_gives_the_table_of_one_machine() {
    let has_ray = Command::new("python3").args(["-c", "import ray.cluster_utils"]).output();
    if !has_ray.is_ok_and(|output| output.status.success()) {
        return testkit::skip("needs the Python package ray (pip install ray)");
    }
    let has_namespaces = Command::new("unshare").args(IN_NAMESPACE).args(["sh", "-c", ""]).output();
    if !has_namespaces.is_ok_and(|output| output.status.success()) {
        return testkit::skip("needs root (CAP_SYS_ADMIN), `unshare` and `ip` to make a network namespace");
    }
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("star.toml"), SCENARIO).unwrap();
    let wirespeed = env!("CARGO_BIN_EXE_wirespeed");
    let plain =
        Command::new(wirespeed).args(["sim", "star.toml", "-o", "plain"]).current_dir(&folder).output().unwrap();
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    // Ray gives short tasks to the node that is ready first, so that the other one would have none.
    let slow = folder.path().join("slow");
    fs::write(&slow, format!("#!/bin/sh\nsleep 5\nexec '{wirespeed}' \"$@\"\n")).unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/sim_ray.py");
    let driver = driver.to_str().unwrap();
    let run = |more: &[&str]| {
        let arguments = [
            "-c",
            CLUSTER,
            driver,
            "star.toml",
            "--output",
            "cluster",
            "--command",
            slow.to_str().unwrap(),
            "--parts",
            "4",
        ];
        let mut command = Command::new("unshare");
        command
            .args(IN_NAMESPACE)
            .arg("sh")
            .args(arguments)
            .args(more)
            .current_dir(&folder)
            .env("RAY_USAGE_STATS_ENABLED", "0");
        command.output().unwrap()
    };
    let output = run(&[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert_eq!(read("cluster/sweep.csv"), read("plain/sweep.csv"));
    assert_eq!(read("cluster/sweep.json"), read("plain/sweep.json"));
    let mut nodes: Vec<&str> =
        said.lines().filter(|line| line.starts_with("part ")).filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(nodes.len(), 4, "{said}");
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes.len(), 2, "{said}");
    // A mistake in the scenario is reported as the command reports it.
    let output = run(&["--", "--set", "links.los=1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("--set links.los=1: unknown field `los`"), "{said}");
}
