#!/usr/bin/env python3
"""Runs a sweep of `wirespeed sim` on the machines of a Ray cluster.

What enters: a scenario with a sweep, and the options of `wirespeed sim`. What leaves: a folder with the runs of all
parts (`runs-I-of-N.jsonl`) and their table, as from `wirespeed sim --shard I/N` on each machine and `wirespeed sim
merge`. Nothing is simulated here: a task of Ray starts the command for one part and returns the lines that it wrote.

Ray is needed on all machines (`pip install ray`), and so is the command. The scenario and the files that it names are
where they are here, unless --ship sends their folder.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ray


@ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
def run_part(command: str, folder: str | None, scenario: str, part: str, options: list[str], known: bytes):
    """Makes the runs of a part; returns the machine and the lines of all its runs."""
    with tempfile.TemporaryDirectory() as output:
        name = file_name(part)
        path = Path(output) / name
        if known:
            path.write_bytes(known)
        line = [command, "sim", scenario, "--shard", part, "--jobs", "1", "--output", output, *options]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"part {part}: {' '.join(line)}\n{done.stderr}")
        return ray.get_runtime_context().get_node_id(), path.read_bytes()


def file_name(part: str) -> str:
    """The file that the command writes for a part I/N."""
    return f"runs-{part.replace('/', '-of-')}.jsonl"


def replace(path: Path, content: bytes) -> None:
    """Writes a file so that at any time there is the old one or the whole new one."""
    scratch = path.with_name(f".{path.name}.part")
    with open(scratch, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        usage="%(prog)s SCENARIO.toml --output DIR [options] [-- OPTIONS OF wirespeed sim]",
        description="Runs a sweep of `wirespeed sim` on the machines of a Ray cluster.",
        epilog="Options of `wirespeed sim` follow `--`: tools/sim_ray.py load.toml --output load -- --seeds 1..100",
    )
    parser.add_argument("scenario", metavar="SCENARIO.toml")
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder for runs and table")
    parser.add_argument("--address", metavar="ADDRESS", help="the cluster [default: that of RAY_ADDRESS, or this machine]")
    parser.add_argument("--parts", type=int, metavar="N", help="how many tasks [default: 4 for each core]")
    parser.add_argument("--command", default="wirespeed", help="the command on the machines [default: wirespeed]")
    parser.add_argument("--ship", metavar="DIR", help="send this folder to the machines; the scenario is relative to it")
    own, options = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, options = own[:at], own[at + 1 :]
    return parser.parse_args(own, argparse.Namespace(options=options))


def main() -> int:
    given = arguments()
    environment = {"working_dir": given.ship} if given.ship else None
    # What Ray itself says goes to its log files.
    ray.init(address=given.address, runtime_env=environment, log_to_driver=False, logging_level="ERROR")
    count = given.parts or 4 * int(ray.cluster_resources().get("CPU", 1))
    output = Path(given.output)
    output.mkdir(parents=True, exist_ok=True)
    folder = None if given.ship else os.getcwd()
    waiting = {}
    for part in (f"{number}/{count}" for number in range(1, count + 1)):
        path = output / file_name(part)
        known = path.read_bytes() if path.exists() else b""
        waiting[run_part.remote(given.command, folder, given.scenario, part, given.options, known)] = (part, path)
    while waiting:
        [finished], _ = ray.wait(list(waiting), num_returns=1)
        part, path = waiting.pop(finished)
        try:
            machine, lines = ray.get(finished)
        except ray.exceptions.RayError as error:
            print(f"error: {getattr(error, 'cause', error)}", file=sys.stderr)
            return 1
        replace(path, lines)
        print(f"part {part}: {lines.count(bytes([10]))} runs on {machine}", flush=True)
    return subprocess.run([given.command, "sim", "merge", given.output], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
