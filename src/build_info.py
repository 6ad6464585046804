"""Writes build_info.cpp: version, git commit and the flags that each file was compiled with.

Usage: build_info.py VERSION SOURCE_ROOT BUILD_ROOT OUTPUT
The flags are read from the build's compile_commands.json, so they are what the compiler was really given.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

PARTS = ("kernels", "tape", "bench", "src")


def git(root, *arguments):
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_of(root):
    """(commit, dirty) of the repository that `root` is the top of; an unpacked release inside another one is not."""
    top = git(root, "rev-parse", "--show-toplevel")
    if not top or pathlib.Path(top).resolve() != root.resolve():
        return "", False
    return git(root, "rev-parse", "HEAD"), bool(git(root, "status", "--porcelain", "--untracked-files=no"))


def flags_of(command):
    """What matters of a compiler's command line: not the compiler, the paths, or how it prints."""
    kept, skip = [], False
    for word in shlex.split(command)[1:]:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MQ", "-MT", "-isystem", "-include"):
            skip = True
        elif not re.match(r"-(I|M|fdiagnostics|isystem|fmacro-prefix|ffile-prefix)", word) and word.startswith("-"):
            kept.append(word)
    return " ".join(kept)


def compiled(source_root, build_root):
    """{flags: [files]} of our own sources, in the order of compile_commands.json."""
    entries = []
    for entry in json.loads((build_root / "compile_commands.json").read_text()):
        file = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        try:
            name = file.relative_to(source_root.resolve()).as_posix()
        except ValueError:
            continue
        if name.split("/")[0] in PARTS:
            entries.append((name, entry["output"], flags_of(entry["command"])))
    groups = {}
    for name, output, flags in entries:
        several = len({f for n, _, f in entries if n == name}) > 1
        library = re.search(r"(?:lib)?(?:wengert_)?(?:kernels_)?([A-Za-z0-9_]+)(?:\.\w+)*\.p/", output)
        label = f"{name}@{library.group(1)}" if several and library else name
        files = groups.setdefault(flags, [])
        if label not in files:
            files.append(label)
    return groups


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    version, source_root, build_root, output = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    commit, dirty = commit_of(source_root)
    rows = "".join(
        f"    {{{literal(flags)}, {literal(' '.join(files))}}},\n"
        for flags, files in compiled(source_root, build_root).items()
    )
    text = f"""// Written by src/build_info.py.
#include "src/build_info.hpp"

namespace wengert::command {{

static constexpr CompileFlags flags[] = {{
{rows}}};

const BuildInfo build_info = {{
    {literal(version)}, {literal(commit)}, {'true' if dirty else 'false'},
#ifdef __clang__
    "clang " __clang_version__,
#else
    "g++ " __VERSION__,
#endif
    flags}};

}}  // namespace wengert::command
"""
    # Left alone where nothing changed, so that nothing is compiled again.
    if not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main()
