#!/usr/bin/env python3
"""Compares TCP in `wirespeed sim` with that of this machine's kernel.

What enters: the command `wirespeed`, and algorithms that the kernel has. What leaves: for each the goodput of a flow
over the same topology, simulated and in network namespaces (`wirespeed net`, whose switch shapes the link), and the
difference. The flow goes through the router of apps/l3fwd to a host behind a slow link with a delay.

Needs root and `iperf3`. The kernel works in real time: on a busy machine its figures are too low.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Names of algorithms: the kernel's, and ours.
ALGORITHMS = {"reno": "newreno", "cubic": "cubic"}
# Seconds at the beginning that are not measured.
WARMUP_S = 5


def write_topology(folder: Path, rate_mbps: float, delay: str) -> None:
    """Puts the router with its entries into a folder, with a slow link to h2."""
    for file in ("l3fwd.p4", "runtime.json"):
        shutil.copy(ROOT / "apps/l3fwd" / file, folder)
    topology = json.loads((ROOT / "apps/l3fwd/topology.json").read_text())
    topology["links"] = [["h1", "s1-p1"], ["h2", "s1-p2", delay, rate_mbps], ["h3", "s1-p3"]]
    (folder / "topology.json").write_text(json.dumps(topology))


def kernel_mbps(command: str, folder: Path, algorithm: str, seconds: int) -> float:
    """The goodput of the kernel's TCP through namespaces."""
    client = f"h1 iperf3 -c h2 -C {algorithm} -t {seconds} -O {WARMUP_S} -J"
    line = [command, "net", "topology.json", "--p4runtime", "off", "--json"]
    line += ["-c", "h2 iperf3 -s -1 -D", "-c", "h1 sleep 1", "-c", client]
    output = subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout
    events = [json.loads(line) for line in output.splitlines()]
    report = json.loads([event for event in events if event["event"] == "command"][-1]["output"])
    return report["end"]["sum_received"]["bits_per_second"] / 1e6


def simulated_mbps(command: str, folder: Path, algorithm: str, queue_packets: int, seconds: int) -> float:
    """The goodput of our TCP in modelled time. The switch shapes frames without preamble, FCS and gap."""
    scenario = (
        f'duration = "{seconds + WARMUP_S}s"\nwarmup = "{WARMUP_S}s"\n[topology]\nfile = "topology.json"\n'
        f"[links]\noverhead = 0\nqueue_packets = {queue_packets}\n"
        f'[[flows]]\nkind = "tcp"\nfrom = "h1"\nto = "h2"\ncongestion = "{ALGORITHMS[algorithm]}"\n'
    )
    (folder / "scenario.toml").write_text(scenario)
    line = [command, "sim", "scenario.toml", "--output", "results"]
    subprocess.run(line, cwd=folder, check=True, capture_output=True)
    with (folder / "results/flows.csv").open() as file:
        return float(next(csv.DictReader(file))["goodput_bits_per_s"]) / 1e6


def main() -> int:
    """Prints a line for each algorithm; 1 if a difference is greater than 5 %."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="wirespeed", help="the command [default: %(default)s]")
    parser.add_argument("--rate", type=float, default=20, help="of the slow link in Mb/s [default: %(default)s]")
    parser.add_argument("--delay", default="10ms", help="of the slow link [default: %(default)s]")
    parser.add_argument("--queue", type=int, default=64, help="packets before it [default: %(default)s, the switch's]")
    parser.add_argument("--seconds", type=int, default=20, help="how long is measured [default: %(default)s]")
    arguments = parser.parse_args()
    is_close = True
    print(f"{'':<8}{'simulated':>12}{'kernel':>12}{'difference':>12}   Mb/s")
    for algorithm in ALGORITHMS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_topology(folder, arguments.rate, arguments.delay)
            kernel = kernel_mbps(arguments.command, folder, algorithm, arguments.seconds)
            ours = simulated_mbps(arguments.command, folder, algorithm, arguments.queue, arguments.seconds)
        difference = ours / kernel - 1
        is_close &= abs(difference) <= 0.05
        print(f"{algorithm:<8}{ours:>12.2f}{kernel:>12.2f}{difference:>11.1%}")
    return 0 if is_close else 1


if __name__ == "__main__":
    sys.exit(main())
