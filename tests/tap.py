"""The Test Anything Protocol for the checks that are scripts: each check is a test case with a name and an outcome."""

import subprocess
import sys


class Tap:
    def __init__(self):
        self.cases = self.failures = 0

    def check(self, name, complaint):
        """One case: passed if `complaint` is empty, else it says what is wrong."""
        self.cases += 1
        self.failures += bool(complaint)
        print(f"{'not ok' if complaint else 'ok'} {self.cases} - {name}", flush=True)
        for line in (complaint or "").splitlines():
            print("#   " + line, flush=True)

    def skip(self, name, reason):
        self.cases += 1
        print(f"ok {self.cases} - {name} # SKIP {reason}", flush=True)

    def run(self, name, *commands, **options):
        """One case: commands run in turn until one fails."""
        self.check(name, fails(*commands, **options))

    def done(self):
        print(f"1..{self.cases}")
        sys.exit(1 if self.failures else 0)


def fails(*commands, **options):
    """What the first failing command said, or nothing."""
    for command in commands:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", **options)
        if done.returncode != 0:
            return f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-4000:]}"
    return ""
