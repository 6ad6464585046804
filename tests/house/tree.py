"""The tree: floors, and versions that agree."""

import os
import pathlib
import re
import subprocess

from tap import Tap

SOURCE = pathlib.Path(os.environ["SOURCE"])

# From the ground up (the house, CONTRIBUTING.md): what each folder may include of ours.
FLOORS = {
    "include": ["wengert"],
    "kernels": ["wengert", "kernels"],
    "codegen": ["wengert", "kernels", "codegen"],
    "tape": ["wengert", "kernels", "codegen", "tape"],
    "bench": ["wengert", "kernels", "tape", "bench"],
    "src": ["wengert", "kernels", "tape", "bench", "src"],
    "fuzz": ["wengert", "kernels", "tape", "bench", "src", "tests", "fuzz"],
    "examples": ["wengert", "examples"],
}


def sources():
    """Our C++ files: what git knows, or in an exported tree all there is."""
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode == 0 and listed.stdout:
        paths = [SOURCE / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for folder in [*FLOORS, "tests"] for path in (SOURCE / folder).rglob("*")]
    return sorted(path for path in paths if path.suffix in (".cpp", ".hpp", ".c", ".h") and path.exists())


def upward(files):
    wrong = []
    for path in files:
        folder, *rest = path.relative_to(SOURCE).parts
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            top = name.split("/")[0]
            if folder in FLOORS and top not in FLOORS[folder]:
                wrong.append(f"{path.relative_to(SOURCE)} includes {name}")
    return "\n".join(wrong)


def versions():
    number = re.search(r"version: '([0-9.]+)'", (SOURCE / "meson.build").read_text()).group(1)
    header = (SOURCE / "include/wengert/version.hpp").read_text()
    major, minor, patch = map(int, number.split("."))
    wanted = [f'#define WENGERT_VERSION "{number}"\n',
              f"#define WENGERT_VERSION_NUMBER {10000 * major + 100 * minor + patch}\n"]
    wrong = [f"version.hpp lacks: {line}" for line in wanted if line not in header]
    if f"## {number}" not in (SOURCE / "CHANGELOG.md").read_text():
        wrong.append(f"CHANGELOG.md has no section {number}")
    return "\n".join(wrong)


def without_suite(files):
    """Folders with cases for the thread sanitizer whose tests aren't in the suite that it runs."""
    folders = {path.parent for path in files if path.suffix == ".cpp" and "uses_threads()" in path.read_text()}
    return "\n".join(f"{folder.relative_to(SOURCE)}/meson.build lacks suite 'threads'" for folder in sorted(folders)
                     if "'threads'" not in (folder / "meson.build").read_text())


def main():
    tap = Tap()
    files = sources()
    tap.check("there are sources to look at", "" if len(files) > 10 else f"only {len(files)}")
    tap.check("nothing includes upward", upward(files))
    tap.check("cases that use threads are in suite threads", without_suite(files))
    tap.check("the version is the same wherever it stands", versions())
    tap.done()


if __name__ == "__main__":
    main()
