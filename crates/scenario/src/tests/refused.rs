//! Scenarios that are refused for what they mean together, and ends of runs.

use super::*;

#[test]
fn flows_that_could_not_be_are_refused() {
    let flow =
        |more: &str| with(&format!("[[flows]]\nkind = \"udp\"\nfrom = \"h*\"\nto = \"h*\"\nrate = \"1Mbps\"\n{more}"));
    let phases = "arrivals = \"on-off\"\non = \"0s\"\noff = \"1ms\"\n";
    check_faults(
        &flow("start = \"3ms\"\nend = \"3ms\"\n"),
        &[],
        expect![[r#"
        6:8: the flow ends at 3ms, which is not after its start at 3ms
    "#]],
    );
    check_faults(
        &flow(phases),
        &[],
        expect![[r#"
        6:8: `on`, the mean length of phases with datagrams, is above 0
    "#]],
    );
    check_faults(
        &flow(""),
        &["only_flows=[0, 2]"],
        expect![[r#"
        --set only_flows=[0, 2]: there is no flow 2: the scenario has 2, numbered from 0
    "#]],
    );
    // The receivers lie on a circle.
    let stride = "pairs = \"stride\"\nstride = 18446744073709551615\n";
    assert_eq!(read(&flow(stride), &[]).unwrap().flows.len(), 2);
}

#[test]
fn values_of_the_wrong_kind_are_refused_in_plain_words() {
    let values = [
        "flows=[1]",
        "topology.hosts=-1",
        "topology.hosts=two",
        "size_classes=3",
        "links=3",
        "links.queue_packets=1.5",
        "switches.queues=[{weight=0}]",
        "switches.buffer={bytes=1,threshold=true}",
        "hosts.resolve=1",
        "flows=3",
        "link=[1]",
        "links.down=[[\"1ms\"]]",
        "flows=[{kind=\"udp\",traffic_class=256}]",
        "flows=[{kind=\"tcp\",congestion=\"Cubic\"}]",
        "flows=[{kind=\"tcp\",congestion=1.5}]",
    ];
    let shown: String = values.iter().map(|value| format!("{}\n", read(STAR, &[value]).unwrap_err()[0])).collect();
    expect![[r#"
        --set flows=[1]: invalid type: integer `1`, expected a table
        --set topology.hosts=-1: invalid value: integer `-1`, expected a whole number from 0 to 4294967295
        --set topology.hosts=two: invalid type: string "two", expected a whole number from 0 to 4294967295
        --set size_classes=3: invalid type: integer `3`, expected a list
        --set links=3: invalid type: integer `3`, expected a table
        --set links.queue_packets=1.5: invalid type: floating point `1.5`, expected a whole number from 0 on
        --set switches.queues=[{weight=0}]: invalid value: integer `0`, expected a whole number from 1 to 4294967295
        --set switches.buffer={bytes=1,threshold=true}: invalid type: boolean `true`, expected a number
        --set hosts.resolve=1: invalid type: integer `1`, expected a boolean
        --set flows=3: invalid type: integer `3`, expected a list
        --set link=[1]: invalid type: sequence, expected a table
        --set links.down=[["1ms"]]: invalid length 1, expected an array of length 2
        --set flows=[{kind="udp",traffic_class=256}]: invalid value: integer `256`, expected a whole number from 0 to 255
        --set flows=[{kind="tcp",congestion="Cubic"}]: there is no congestion control `Cubic`, but newreno, cubic, dctcp
        --set flows=[{kind="tcp",congestion=1.5}]: invalid type: floating point `1.5`, expected the name of a congestion control, as in "cubic"
    "#]].assert_eq(&shown);
}

#[test]
fn a_run_that_ends_in_its_warm_up_is_measured_from_its_begin_on() {
    let ends_at = |ms: u64| {
        let mut scenario = read(STAR, &["warmup=100ms"]).unwrap();
        scenario.end_at(Time::from_ms(ms));
        (scenario.duration, scenario.warmup)
    };
    assert_eq!(ends_at(5_000), (Time::from_s(1), Time::from_ms(100)));
    assert_eq!(ends_at(101), (Time::from_ms(101), Time::from_ms(100)));
    assert_eq!(ends_at(100), (Time::from_ms(100), Time::ZERO));
}

#[test]
fn hosts_have_addresses_for_their_flows() {
    let hosts = r#"{ "hosts": { "h1": {"ip": "10.0.0.1/24"}, "h2": {"ip": "fd00::2/64"}, "h3": {"ip": "fd00::3/64"} },
        "switches": { "s1": {} }, "links": [["h1", "s1-p1"], ["h2", "s1-p2"], ["h3", "s1-p3"]] }"#;
    let list = "start_ns,from,to,size_bytes\n0,h2,h1,10\n";
    let shown = |text: &str| {
        let read = |name: &str| Ok(if name == "hosts.json" { hosts } else { list }.as_bytes().to_vec());
        let text = format!("duration = \"1s\"\n[topology]\nfile = \"hosts.json\"\n{text}");
        let faults = Scenario::read(&text, &[], &read).err().unwrap_or_default();
        faults.iter().map(|fault| format!("{fault}\n")).collect::<String>()
    };
    let ping = "[[flows]]\nkind = \"ping\"\nfrom = \"h2\"\n";
    assert_eq!(shown(&format!("{ping}to = \"h3\"\nipv6 = true\n")), "");
    let faults = [
        shown(&format!("{ping}to = \"h3\"\n")),
        shown(&format!("{ping}to = \"h1\"\nipv6 = true\n")),
        shown("[[flow_lists]]\nfile = \"flows.csv\"\n"),
        shown("[[sensors]]\nfrom = \"h*\"\nto = \"h1\"\ninterval = \"1ms\"\n"),
        shown("[[incasts]]\nfrom = \"h*\"\nto = \"h3\"\nbytes = 1\nipv6 = true\n"),
    ];
    expect![[r#"
        6:8: host h2 has no IPv4 address: flows over IPv6 have ipv6 = true
        7:6: host h3 has no IPv4 address: flows over IPv6 have ipv6 = true
        7:6: host h1 has no IPv6 address: without ipv6 = true flows are over IPv4
        5:8: host h2 has no IPv4 address: flows over IPv6 have ipv6 = true
        5:8: host h2 has no IPv4 address: flows over IPv6 have ipv6 = true
        5:8: host h1 has no IPv6 address: without ipv6 = true flows are over IPv4
    "#]]
    .assert_eq(&faults.concat());
}

#[test]
fn a_program_that_there_is_not_has_its_place() {
    let scenario = read(&with("[switches]\nprogram = \"p.p4\"\n"), &[]).unwrap();
    let made = Simulation::new(scenario, 1, &mut |_, _| Err("there is no file".to_owned()));
    assert_eq!(made.err().unwrap().to_string(), "6:11: switch s1: there is no file");
}

#[test]
fn what_is_wrong_with_entries_and_commands_has_its_place() {
    let text = with(
        "[switches]\nprogram = \"p.p4\"\nentries = \"e.txt\"\n\
         [[commands]]\nat = \"1us\"\nswitch = \"s1\"\nrun = \"x\"\n",
    );
    for (error, place) in [
        ("p.p4 has errors", Place::Line(6, 11)),
        ("there is no file `e.txt`", Place::Line(7, 11)),
        ("commands at 1us:1: there is no command `x`", Place::Line(11, 7)),
    ] {
        let made = Simulation::new(read(&text, &[]).unwrap(), 1, &mut |_, _| Err(error.to_owned()));
        assert_eq!(made.err().unwrap().place, place, "{error}");
    }
}

#[test]
fn keys_that_mean_nothing_where_they_stand_are_refused() {
    let keys = [
        "switch.s1.entries=e.txt",
        "switch.s1.backend=interp",
        "switch.s1.tables=lost",
        "switch.s1.control_latency=1ms",
        "switch.s1.recirculation={rate=\"1Gbps\"}",
        "switch.s1.timing=bmv2",
        "switches.pipeline={rate=\"1kpps\"}",
        "switches.queues=[{packets=3}]",
        "switch.s1={program=\"p.p4\",reroute=\"1ms\"}",
        "switches={program=\"p.p4\",reroute=\"1ms\"}",
        "flows=[{kind=\"tcp\",from=\"h1\",to=\"h2\",end=\"1ms\"}]",
        "faults={switches=1,only=[9]}",
        "topology.k=4",
        "topology.hosts=0",
    ];
    let shown: String = keys
        .iter()
        .map(|key| {
            format!(
                "{}\n",
                read(STAR, &[key]).map_or_else(|faults| faults[0].to_string(), |_| format!("{key} is taken"))
            )
        })
        .collect();
    expect![[r#"
        --set switch.s1.entries=e.txt: switch s1 is a router, which has no `entries`
        --set switch.s1.backend=interp: switch s1 is a router, which has no `backend`
        --set switch.s1.tables=lost: switch s1 is a router, which has no `tables`
        --set switch.s1.control_latency=1ms: switch s1 is a router, which has no `control_latency`
        --set switch.s1.recirculation={rate="1Gbps"}: switch s1 is a router, which has no `recirculation`: its queues are those of [links]
        --set switch.s1.timing=bmv2: switch s1 is a router, which has no `timing = "bmv2"`: its queues are those of [links]
        --set switches.pipeline={rate="1kpps"}: all switches are routers, which have no `pipeline`
        --set switches.queues=[{packets=3}]: all switches are routers, which have no `queues`
        --set switch.s1={program="p.p4",reroute="1ms"}: switch s1 runs a program: only routers have `reroute`
        --set switches={program="p.p4",reroute="1ms"}: all switches run programs: only routers have `reroute`
        --set flows=[{kind="tcp",from="h1",to="h2",end="1ms"}]: a flow of the kind tcp has no `end`
        --set faults={switches=1,only=[9]}: there is no random fault 9: there are 1, numbered from 0
        --set topology.k=4: a star has no `k`; it has hosts
        --set topology.hosts=0: a topology has at least one switch with a host
    "#]].assert_eq(&shown);
    // A latency follows from them.
    assert!(read(STAR, &["switches={timing=\"software\",cost=\"1us\",cores=2}"]).is_ok());
}

#[test]
fn a_network_that_fits_into_no_memory_is_refused() {
    let fabric = |leaves: u32, spines: u32, hosts: u32| {
        let shape = format!("leaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\n");
        format!("duration = \"1s\"\n[topology]\nkind = \"leaf-spine\"\n{shape}")
    };
    check_faults(
        &fabric(3_000, 2, 100),
        &[],
        expect![[r#"
        2:1: a network of 300000 hosts, 3002 switches and 306000 links is too large: there are at most 1048576 links, and 268435456 routes of switches to hosts
    "#]],
    );
    let rerouted = fabric(40, 20, 40) + "[switches]\nreroute = \"1ms\"\n[faults]\nlinks = 9_000\nlasts = \"1us\"\n";
    check_faults(
        &rerouted,
        &[],
        expect![[r#"
        9:1: links go down or up at 18000 times, and routers take other routes each time: that are 1728096000 routes, and there are at most 268435456
    "#]],
    );
    check_faults(
        &rerouted,
        &["faults.links=100"],
        expect![[r#"
        none
    "#]],
    );
    check_faults(
        &fabric(1_100, 1_000, 1),
        &[],
        expect![[r#"
        2:1: a network of 1100 hosts, 2100 switches and 1101100 links is too large: there are at most 1048576 links, and 268435456 routes of switches to hosts
    "#]],
    );
}
