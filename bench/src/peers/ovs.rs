//! Open vSwitch with DPDK, as a router: its database, its switch and its rules, all in a private folder.

use super::{Running, RunningPeer, SINK_PORT, SOURCE_PORT, START_MAX, Source, devices, installed};
use live::traffic::Routes;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The name of its forwarding threads.
pub(super) const THREADS: &str = "pmd-";

/// The paths of Debian's switch with DPDK, and of the database schema.
const SWITCH: &str = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk";
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// Everything that is needed to start it.
pub(super) struct Ovs {
    folder: PathBuf,
}

/// Creates its database and writes its rules.
pub(super) fn prepare(folder: &Path, routes: &Routes) -> Result<Ovs, Box<dyn Error>> {
    let tools = ["ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-ofctl"];
    if !Path::new(SWITCH).is_file() || tools.iter().any(|tool| installed(tool).is_none()) {
        return Err("package openvswitch-switch-dpdk".into());
    }
    let folder = folder.join("ovs");
    fs::create_dir(&folder)?;
    let ovs = Ovs { folder };
    let mut rules = String::new();
    for route in &routes.0 {
        let ([a, b, c, d], port) = (route.network.to_be_bytes(), route.port);
        let addresses = format!("mod_dl_src:02:00:00:00:00:{port:02x},mod_dl_dst:02:00:00:00:01:{port:02x}");
        let matched = format!("priority={},ip,nw_dst={a}.{b}.{c}.{d}/{}", route.prefix_len + 1, route.prefix_len);
        writeln!(rules, "{matched},actions={addresses},dec_ttl,output:{}", SINK_PORT + 1)?;
    }
    fs::write(ovs.path("rules"), rules)?;
    ovs.run("ovsdb-tool", &["create", &ovs.name("conf.db"), SCHEMA])?;
    Ok(ovs)
}

impl Ovs {
    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn name(&self, file: &str) -> String {
        self.path(file).display().to_string()
    }

    /// A command whose sockets and logs are in the folder.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for variable in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
            command.env(variable, &self.folder);
        }
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
        let output = self.command(program).args(arguments).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() { Ok(()) } else { Err(format!("{program}: {complaint}").into()) }
    }

    /// Runs a command repeatedly until the server that it needs responds.
    fn run_soon(&self, program: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
        let deadline = Instant::now() + START_MAX;
        loop {
            match self.run(program, arguments) {
                Err(_) if Instant::now() < deadline => thread::sleep(Duration::from_millis(200)),
                done => return done,
            }
        }
    }

    /// Starts database and switch, and adds the ports and rules.
    pub(super) fn start(&self, source: &Source) -> Result<RunningPeer, Box<dyn Error>> {
        let remote = format!("unix:{}", self.name("db.sock"));
        let mut database = self.command("ovsdb-server");
        database.arg(self.path("conf.db")).arg(format!("--remote=p{remote}")).stdin(Stdio::null());
        let database = Running(database.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);

        let extra = format!("other_config:dpdk-extra=\"--legacy-mem {}\"", devices());
        let configure: [&[&str]; 4] = [
            // Its main thread runs on one core, the polling thread on the other.
            &["set", "Open_vSwitch", ".", "other_config:dpdk-init=true", "other_config:pmd-cpu-mask=2"],
            &["set", "Open_vSwitch", ".", "other_config:dpdk-lcore-mask=1", &extra],
            &["--may-exist", "add-br", "router", "--", "set", "bridge", "router", "datapath_type=netdev"],
            &["set", "bridge", "router", "fail-mode=secure"],
        ];
        let database_option = format!("--db={remote}");
        let set = |words: &[&str]| self.run_soon("ovs-vsctl", &[&[&database_option, "--no-wait"], words].concat());
        configure.iter().try_for_each(|words| set(words))?;
        for (name, number) in [("source", SOURCE_PORT), ("sink", SINK_PORT)] {
            let device = format!("options:dpdk-devargs=net_null{number}");
            let request = format!("ofport_request={}", number + 1);
            let interface = ["--", "set", "Interface", name, "type=dpdk", &device, &request];
            set(&[&["--may-exist", "add-port", "router", name], &interface[..]].concat())?;
        }

        let mut switch = self.command(SWITCH);
        switch.arg(&remote).arg(format!("--unixctl={}", self.name("switch.ctl")));
        let forwards = source.spawn(&mut switch)?;
        let bridge = format!("unix:{}", self.name("router.mgmt"));
        self.run_soon("ovs-ofctl", &["add-flows", &bridge, &self.name("rules")])?;
        Ok(RunningPeer { forwards, _beside: vec![database] })
    }
}
