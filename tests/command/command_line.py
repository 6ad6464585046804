"""The command as people run it: what it prints, how it ends, which files it leaves, whatever goes wrong."""

import csv
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from tap import Tap

WENGERT = os.environ["WENGERT"]
QUICK = ["--ops", "60", "--iterations", "20", "--repetitions", "3", "--min-time", "0.001"]
REPORT = ["meta.json", "samples.csv", "summary.csv"]


def run(*arguments, env=(), **options):
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([WENGERT, *map(str, arguments)], stdin=subprocess.DEVNULL, text=True, timeout=300,
                          env=dict(os.environ, **dict(env)), **options)


def ends(done, code, *words):
    """Complaint unless it ended with this code and one line on standard error that has these words."""
    said = done.stderr.splitlines()
    if done.returncode != code:
        return f"exit {done.returncode}, not {code}: {done.stderr}"
    if len(said) != 1 or not said[0].startswith("wengert: "):
        return f"not one line of ours: {done.stderr!r}"
    missing = [word for word in words if word not in said[0]]
    return f"{said[0]} lacks {missing}" if missing else ""


def expect(*claims):
    """Complaint made of the claims that are false: (true or false, what it says)."""
    return "\n".join(str(text) for good, text in claims if not good)


def table_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def usage(tap):
    for arguments in (["--help"], ["ladder", "--help"], ["sweep", "--help"], ["compare", "--help"], ["verify", "--help"], ["list", "--help"], ["info", "--help"]):
        done = run(*arguments)
        tap.check(" ".join(arguments), expect((done.returncode == 0, done.stderr), ("Examples:" in done.stdout, "no examples")))
    done = run("--version")
    tap.check("--version", expect((done.returncode == 0, done), (re.match(r"wengert \d+\.\d+\.\d+", done.stdout), done.stdout)))
    done = run("list")
    tap.check("list", expect(*((word in done.stdout, word) for word in ("v0", "v4", "west", "heston", "softplus"))))
    done = run("info")
    tap.check("info", expect(*((word in done.stdout, word) for word in ("scalar", "avx512", "cores", "flags", "-O", "compiler"))))

    tap.check("what a terminal would obey is not said to it", ends(run("ladder", "--levels", "\x1b[31m\nv2"), 2, "' [31m v2'"))
    tap.check("no subcommand", ends(run(), 2))
    tap.check("an unknown subcommand", ends(run("fly"), 2, "fly"))
    tap.check("an unknown option", ends(run("ladder", "--speed", "9"), 2, "--speed"))
    for option, value, known in (("--levels", "v0,v99", "v4"), ("--levels", "v0,,v1", "empty"), ("--levels", "v2,v2", "twice"),
                                 ("--workload", "nonsense", "west"), ("--precision", "f16", "f32"), ("--isa", "mmx", "avx2"),
                                 ("--lanes", "7", "auto"), ("--output", "first", "sum")):
        for command in ("ladder", "verify"):
            tap.check(f"{command} {option} {value}", ends(run(command, option, value), 2, option, known))
    for option in ("--ops", "--iterations", "--threads", "--repetitions", "--warmup", "--seed"):
        for value in ("-1", "1e6", "99999999999999999999", "0", "", "1.5", "ten"):
            if value == "0" and option in ("--warmup", "--seed"):
                continue
            tap.check(f"{option} '{value}'", ends(run("ladder", option, value), 2, option, f"'{value}'"))
    for workload, size, says in (("gmm", "0,2", "'0'"), ("gmm", "2,", "''"), ("gmm", "2", "dimensions,components"),
                                 ("gmm", "65,1", "1 to 64"), ("west", "3", "no sizes")):
        for command in ("ladder", "verify"):
            tap.check(f"{command} --workload {workload} --size {size}", ends(run(command, "--workload", workload, "--size", size), 2, says))
    for value in ("-1", "nan", "inf", "0,2", "soon"):
        tap.check(f"--min-time {value}", ends(run("ladder", "--min-time", value), 2, "--min-time", f"'{value}'"))
    tap.check("--lanes 128 with f64", ends(run("ladder", "--lanes", "128"), 2, "f64"))
    tap.check("--lanes 8 with f32", ends(run("ladder", "--lanes", "8", "--precision", "f32"), 2, "f32"))
    for command, option in (("ladder", "--out"), ("ladder", "--csv"), ("ladder", "--run-id"), ("sweep", "--out")):
        tap.check(f"{command} {option} ''", ends(run(command, option, ""), 2, option, "empty"))
    tap.check("--run-id with a slash", ends(run("ladder", "--run-id", "a/b"), 2, "--run-id"))
    tap.check("WENGERT_ISA=mmx", ends(run("ladder", *QUICK, env={"WENGERT_ISA": "mmx"}), 2, "mmx"))
    machine = json.loads(run("info", "--json").stdout)["machine"]
    for isa, usable in machine["instruction_sets"].items():
        if usable == "usable":
            done = run("ladder", *QUICK, "--levels", "v3", "--isa", isa, "--csv", "-")
            tap.check(f"--isa {isa}", expect((done.returncode == 0, done.stderr), (f",{isa}," in done.stdout, done.stdout)))
        else:
            tap.check(f"--isa {isa}, which this CPU lacks", ends(run("ladder", *QUICK, "--isa", isa), 1, isa))


def cores(tap):
    available = json.loads(run("info", "--json").stdout)["machine"]["cores"]["available"]
    done = run("ladder", *QUICK, "--levels", "v4", "--threads", available + 1, "--csv", "-")
    tap.check("more threads than cores: allowed and said",
              expect((done.returncode == 0, done.stderr), (f"{available + 1} threads share" in done.stderr, done.stderr)))
    one = min(os.sched_getaffinity(0))
    done = run("info", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
    tap.check("one core by affinity", expect(("1 available" in done.stdout, done.stdout)))


def reports(tap, folder):
    out = folder / "new" / "report"
    done = run("ladder", *QUICK, "--levels", "v0,v1,v2,v3,v4", "--out", out, "--run-id", "r1")
    tap.check("a run with reports", expect((done.returncode == 0, done.stderr), (sorted(os.listdir(out)) == REPORT, os.listdir(out)),
                                           ("v4" in done.stdout, done.stdout), (not done.stderr, done.stderr)))
    tap.check("no terminal, no escape sequences, one table",
              expect(("\x1b" not in done.stdout, "escapes"), (done.stdout.count("ns/op") == 1, done.stdout)))
    raw = (out / "summary.csv").read_bytes()
    tap.check("lines end in CRLF", expect((raw.count(b"\r\n") == raw.count(b"\n") == 6, raw)))
    summary, samples = table_of(out / "summary.csv"), table_of(out / "samples.csv")
    tap.check("a row per level", expect(([row["level"] for row in summary] == ["v0", "v1", "v2", "v3", "v4"], summary),
                                        (all(row["run_id"] == "r1" for row in summary), "run_id")))
    tap.check("a row per repetition", expect((len(samples) == 15, len(samples))))
    tap.check("all rungs have the same bits", expect((len({row["bits"] for row in summary}) == 1, [row["bits"] for row in summary])))
    wrong = []
    for row in summary:
        own = [float(s["seconds_per_batch"]) for s in samples if s["level"] == row["level"]]
        if statistics.median(own) != float(row["seconds_median"]):
            wrong.append(f"{row['level']}: median {statistics.median(own)!r}, said {row['seconds_median']}")
        if not float(row["ns_per_op_low"]) <= float(row["ns_per_op"]) <= float(row["ns_per_op_high"]):
            wrong.append(f"{row['level']}: interval")
        if int(row["peak_rss_bytes"]) < 1_000_000:
            wrong.append(f"{row['level']}: peak memory {row['peak_rss_bytes']}")
    tap.check("medians are the samples'", "\n".join(wrong))
    meta = json.loads((out / "meta.json").read_text())
    tap.check("meta.json", expect(
        (meta["run_id"] == "r1", "run_id"), (not meta["partial"], "partial"), (meta["seed"] == 42, "seed"),
        ("--run-id" in meta["command"], meta["command"]), (meta["machine"]["caches"] is not None, "caches"),
        (any("kernels/" in group["files"] for group in meta["build"]["flags"]), meta["build"])))

    again = run("ladder", *QUICK, "--levels", "v2", "--csv", "-", "--quiet")
    rows = list(csv.DictReader(again.stdout.splitlines()))
    tap.check("--csv - --quiet is CSV and nothing else", expect((len(rows) == 1 and rows[0]["level"] == "v2", again.stdout),
                                                               (not again.stderr, again.stderr)))
    both = run("ladder", *QUICK, "--levels", "v2", "--csv", "-")
    tap.check("with --csv - the table is on standard error", expect(("ns/op" in both.stderr, both.stderr)))
    tap.check("the same seed gives the same results", expect((rows[0]["checksum"] == summary[2]["checksum"], rows[0])))
    piped = run("ladder", *QUICK, "--levels", "v2", "--csv", "/dev/stdout", "--quiet")
    tap.check("--csv /dev/stdout, a pipe", expect((piped.returncode == 0, piped), (rows[0]["checksum"] in piped.stdout, piped)))
    foreign = os.fsencode(folder) + b"/b\xe4r"  # no UTF-8
    done = run("ladder", *QUICK, "--levels", "v2", "--quiet", "--out", os.fsdecode(foreign))
    tap.check("a folder whose name is in another encoding", expect(
        (done.returncode == 0, done), (sorted(os.listdir(os.fsdecode(foreign))) == REPORT, "no report"),
        ("b\ufffdr" in json.loads((pathlib.Path(os.fsdecode(foreign)) / "meta.json").read_text())["command"][-1], "command")))
    other = run("ladder", *QUICK, "--levels", "v2", "--csv", "-", "--quiet", "--seed", 43)
    tap.check("another seed gives others", expect((rows[0]["checksum"] not in other.stdout, other.stdout)))
    done = run("ladder", *QUICK, "--levels", "all", "--precision", "f32", "--output", "sum", "--warmup", "0", "--quiet")
    tap.check("--levels all, f32, output sum, no warm-up", expect((done.returncode == 0, done.stderr), (not done.stdout, done.stdout)))
    done = run("ladder", *QUICK, "--levels", "v2,v3,v4,v5,v6", "--workload", "gmm", "--size", "2,3", "--csv", "-", "--quiet")
    sums = list(csv.DictReader(done.stdout.splitlines()))
    bits = [row["bits"] for row in sums]
    tap.check("sums over the batch: one hash of v2 to v4, one of v5 and v6",
              expect((done.returncode == 0, done.stderr), (len(set(bits[:3])) == len(set(bits[3:])) == 1, bits), (bits[0] != bits[3], bits)))
    done = run("verify", "--ops", "100", "--iterations", "20")
    tap.check("verify", expect((done.returncode == 0, done.stderr), (done.stdout.count(" ok ") == 5, done.stdout)))
    return out


def peers(tap):
    done = run("list", env={"WENGERT_PEERS": "/none"})
    tap.check("list shows peers, and why one isn't here", expect(*((word in done.stdout, done.stdout) for word in (
        "peers (--peers", "differences-threads", "not here: jax is not in /none; scripts/peers"))))
    for precision in ("f64", "f32"):
        done = run("ladder", *QUICK, "--workload", "expr", "--levels", "v2,v5", "--peers", "--precision", precision, "--csv", "-",
                   "--quiet", env={"WENGERT_PEERS": "/none"})
        rows = {row["level"]: row["status"] for row in csv.DictReader(done.stdout.splitlines())}
        tap.check(f"--peers, {precision}: verified and timed, the others said", expect(
            (done.returncode == 0, done), (set(rows.values()) == {"complete"}, rows),
            (list(rows)[:4] == ["v2", "v5", "differences", "differences-threads"], rows),
            (precision == "f64" or "adolc" not in rows, rows), ("wengert: peer jax is left out: " in done.stderr, done.stderr)))
    done = run("ladder", *QUICK, "--levels", "v2,jax", "--quiet", env={"WENGERT_PEERS": "/none"})
    tap.check("a peer by name that isn't here", ends(done, 1, "jax", "/none"))


def languages(tap, folder):
    done = run("list", env={"WENGERT_PEERS": "/none"})
    tap.check("list shows languages, and why one isn't here", expect(*((word in done.stdout, done.stdout) for word in (
        "other languages (--languages", "c-v1", "not here: /none/languages/rust.so is not there; scripts/languages builds it"))))
    done = run("ladder", *QUICK, "--levels", "v1,v2", "--languages", "--csv", "-", "--quiet", env={"WENGERT_PEERS": "/none"})
    rows = {row["level"]: row["status"] for row in csv.DictReader(done.stdout.splitlines())}
    tap.check("--languages: verified and timed, the others said", expect(
        (done.returncode == 0, done), (rows == dict.fromkeys(("v1", "v2", "c", "c-v1"), "complete"), rows),
        ("wengert: language lang-zig is left out: /none" in done.stderr, done.stderr)))
    done = run("ladder", *QUICK, "--levels", "v2", "--languages", "--workload", "dag", "--precision", "f32", "--csv", "-", "--quiet",
               env={"WENGERT_PEERS": "/none"})
    tap.check("--languages where not all are written", expect(
        (done.returncode == 0, done), ("c-v1 is left out: it has no such precision" in done.stderr, done.stderr)))
    done = run("ladder", *QUICK, "--levels", "v2,c-v1", "--workload", "dag", "--quiet")
    tap.check("a language by name where it isn't written", ends(done, 2, "c-v1", "dag"))
    broken = folder / "broken" / "languages"
    broken.mkdir(parents=True)
    (broken / "rust.so").write_text("no library")
    done = run("ladder", *QUICK, "--levels", "v2,lang-rust", "--quiet", env={"WENGERT_PEERS": str(broken.parent)})
    tap.check("a library that is none", ends(done, 1, "lang-rust failed", "rust.so"))


def preset(tap, folder):
    tap.check("a preset that there isn't", ends(run("ladder", "--preset", "none"), 2, "--preset", "'none'", "post"))
    for option, value in (("--ops", 100), ("--iterations", 10), ("--workload", "dag"), ("--output", "sum"), ("--size", 2)):
        done = run("ladder", "--preset", "post", option, value)
        tap.check(f"--preset with {option}", ends(done, 2, "--preset", option))
    out = folder / "post"
    done = run("ladder", "--preset", "post", "--levels", "v5", "--repetitions", "1", "--warmup", "0", "--min-time", "0", "--out", out)
    lines = done.stdout[done.stdout.find("Seconds in total"):].splitlines()
    row, meta = table_of(out / "summary.csv")[0], json.loads((out / "meta.json").read_text())
    tap.check("--preset post: its set-up, and totals among what was published", expect(
        (done.returncode == 0, done.stderr),
        ((row["workload"], row["ops"], row["iterations"], row["output"]) == ("west", "10000", "10000", "last"), row),
        ([line.split()[:2] for line in lines[1:3]] == [["PyTorch", "*"], ["JAX", "*"]], done.stdout),
        (any(line.startswith("  v5 planned ") for line in lines), done.stdout),
        (meta["preset"]["published"]["seconds"]["JAX"] == 470, meta["preset"])))


def bad_places(tap, folder, out):
    file = folder / "file"
    file.write_text("mine")
    before = time.monotonic()
    slow = ["--ops", "10000", "--iterations", "1000000"]  # hours: it must not begin
    tap.check("--out is a file", ends(run("ladder", *slow, "--out", file), 1, str(file)))
    tap.check("--out is below a file", ends(run("ladder", *slow, "--out", file / "x"), 1, str(file)))
    tap.check("--out in a place that takes no folders", ends(run("ladder", *slow, "--out", "/proc/wengert"), 1, "/proc/wengert"))
    tap.check("--out has a folder where a report belongs",
              (out.parent / "odd" / "meta.json").mkdir(parents=True) or ends(run("ladder", *slow, "--out", out.parent / "odd"), 1, "meta.json"))
    tap.check("--csv is a folder", ends(run("ladder", *slow, "--csv", folder), 1, str(folder)))
    tap.check("--csv in a folder that isn't there", ends(run("ladder", *slow, "--csv", folder / "no" / "x.csv"), 1, "x.csv"))
    tap.check("all of that before the run", expect((time.monotonic() - before < 60, "it took too long")))
    tap.check("the file is as it was", expect((file.read_text() == "mine", file.read_text())))
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    if os.geteuid() == 0:
        tap.skip("--out can't be written to", "root writes everywhere")
    else:
        tap.check("--out can't be written to", ends(run("ladder", *slow, "--out", locked), 1, str(locked)))


def full_disk(tap, folder, out):
    earlier = {name: (out / name).read_bytes() for name in REPORT}

    def intact(done, *words):
        table = expect(("ns/op" in done.stdout, "the table is lost too"))
        now = expect((sorted(os.listdir(out)) == REPORT, os.listdir(out)),
                     (all((out / n).read_bytes() == earlier[n] for n in REPORT), "the earlier report was touched"))
        return "\n".join(filter(None, (ends(done, 1, *words), table, now)))

    # A file size limit, below the longest of the three files and above the shortest.
    limit = sorted(len(text) for text in earlier.values())[0] + 10
    done = run("ladder", *QUICK, "--out", out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    tap.check("no room for a report: the earlier one is intact", intact(done, "can't write"))
    tap.check("--csv /dev/full", ends(run("ladder", *QUICK, "--csv", "/dev/full"), 1, "/dev/full", "No space left"))
    with open("/dev/full", "w") as full:
        tap.check("list > /dev/full", ends(run("list", stdout=full), 1, "No space left"))
        tap.check("ladder > /dev/full", ends(run("ladder", *QUICK, "--levels", "v2", stdout=full), 1, "No space left"))
    disk = folder / "disk"
    disk.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", disk],
                                                   capture_output=True).returncode == 0
    if not mounted:
        tap.skip("a full file system", "only root can mount one")
        return
    try:
        done = run("ladder", *QUICK, "--out", disk)
        tap.check("a full file system", "\n".join(filter(None, (
            ends(done, 1, "No space left"), expect((os.listdir(disk) == [], os.listdir(disk)))))))
    finally:
        subprocess.run(["umount", disk], check=True)


def closed_pipes(tap):
    for arguments in (["list"], ["--help"], ["ladder", *QUICK, "--levels", "v2"],
                      ["ladder", *QUICK, "--levels", "v2", "--csv", "-", "--quiet"], ["verify", "--ops", "20"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = run(*arguments, stdout=writer)
        os.close(writer)
        tap.check(f"nobody reads: {' '.join(arguments)}", expect((done.returncode == 1, done.returncode), (not done.stderr, done.stderr)))
    closed = subprocess.run(["sh", "-c", '"$0" list >&-', WENGERT], stderr=subprocess.PIPE, text=True)
    tap.check("standard output is closed", ends(closed, 1, "standard output"))


def on_terminal(arguments, env=(), until=None, send=None):
    """Runs on a pseudo-terminal; sends a signal once `until` has been shown. (exit code, all that was shown)"""
    master, slave = pty.openpty()
    process = subprocess.Popen([WENGERT, *arguments], stdin=slave, stdout=slave, stderr=slave,
                               env={**os.environ, "TERM": "xterm", **dict(env)})
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
        if send and until in shown:
            process.send_signal(send)
            send = None
    os.close(master)
    return process.wait(), shown.decode()


def terminals(tap):
    code, shown = on_terminal(["ladder", *QUICK, "--levels", "v2,v3"])
    tap.check("on a terminal the table is live", expect((code == 0, shown), ("round 2 of 3" in shown, shown), ("\x1b[J" in shown, shown)))
    tap.check("and in colour", expect(("\x1b[1m" in shown, shown)))
    code, shown = on_terminal(["ladder", *QUICK, "--levels", "v2,v3"], env={"NO_COLOR": "1"})
    tap.check("NO_COLOR", expect((code == 0, shown), (not re.search(r"\x1b\[\d*m", shown), shown)))
    code, shown = on_terminal(["ladder", *QUICK, "--levels", "v2,v3"], env={"TERM": "dumb"})
    tap.check("a dumb terminal gets one table, and no escape sequences",
              expect((code == 0, shown), ("\x1b" not in shown, shown), (shown.count("v2 tape") == 1, shown)))
    code, shown = on_terminal(["ladder", *QUICK, "--levels", "v2", "--quiet"])
    tap.check("--quiet on a terminal", expect((code == 0, code), (shown == "", shown)))


def stopped(tap, folder, out):
    long = ["ladder", "--levels", "v1,v2", "--ops", "100", "--iterations", "10", "--repetitions", "100000", "--min-time", "0.01"]
    for sign, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        place = folder / sign.name
        ended, shown = on_terminal([*long, "--out", str(place)], until=b"round 3 of", send=sign)
        if sorted(os.listdir(place)) != REPORT:
            tap.check(f"{sign.name} keeps what is complete", f"exit {ended}, {os.listdir(place)}: {shown}")
            continue
        summary, samples = table_of(place / "summary.csv"), table_of(place / "samples.csv")
        tap.check(f"{sign.name} keeps what is complete", expect(
            (ended == code, f"exit {ended}"), ({row["status"] for row in summary} == {"partial"}, summary),
            ("stopped: figures are of those of the 100000 repetitions that were complete" in shown, shown),
            (4 <= len(samples) < 1000, len(samples)), (json.loads((place / "meta.json").read_text())["partial"], "meta.json")))
    earlier = (out / "summary.csv").read_bytes()
    ended, shown = on_terminal([*long, "--out", str(out)], until=b"verifying", send=signal.SIGTERM)
    tap.check("stopped before the first repetition: the earlier report stays",
              expect((ended == 143, f"exit {ended}"), ((out / "summary.csv").read_bytes() == earlier, "it was replaced"),
                     ("nothing was written" in shown, shown)))


def memory(tap):
    tap.check("a batch beyond all memory", ends(run("ladder", "--iterations", "100000000000"), 1, "GB"))
    if "-fsanitize" in json.dumps(json.loads(run("info", "--json").stdout)["build"]):
        tap.skip("a level beyond the memory there is", "sanitizers take too much of it")
        return

    def little():
        resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))

    def few_addresses():  # more than the program takes, less than the pool of v1
        resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))

    done = run("ladder", *QUICK, "--levels", "v1", "--quiet", preexec_fn=few_addresses)
    tap.check("a limit of addresses is named", ends(done, 1, "v1 failed", "of 0.07 GB"))
    done = run("ladder", "--levels", "v2,v3", "--ops", "1000000", "--iterations", "2", "--lanes", "64",
               "--repetitions", "1", "--csv", "-", preexec_fn=little)
    rows = {row["level"]: row["status"] for row in csv.DictReader(done.stdout.splitlines())}
    tap.check("a level beyond the memory there is",
              expect((done.returncode == 1, done), (rows == {"v2": "complete", "v3": "failed"}, rows),
                     (re.search(r"wengert: v3 failed: .*\d (bytes|GB)", done.stderr), done.stderr)))


def main():
    tap = Tap()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wengert-"))
    try:
        usage(tap)
        cores(tap)
        peers(tap)
        languages(tap, folder)
        preset(tap, folder)
        out = reports(tap, folder)
        bad_places(tap, folder, out)
        full_disk(tap, folder, out)
        closed_pipes(tap)
        terminals(tap)
        stopped(tap, folder, out)
        memory(tap)
    finally:
        shutil.rmtree(folder)
    tap.done()


if __name__ == "__main__":
    main()
