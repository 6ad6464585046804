"""Installs the build into a folder of its own and builds main.cpp and the examples against it, as strangers would.

    consumers.py BUILD PREFIX LIBDIR
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap, fails

BUILD, PREFIX, LIBDIR = sys.argv[1:]
SOURCE, CXX = pathlib.Path(os.environ["SOURCE"]), os.environ["CXX"]
HERE = SOURCE / "tests/consumers"
QUICKSTART = (SOURCE / "docs/quickstart.md").read_text()
EXAMPLES = sorted(path.stem for path in (SOURCE / "examples").glob("*/*.cpp"))


def quickstart(language):
    """Its one block of code in that language."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", QUICKSTART, re.M | re.S)
    return block


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        image = folder / "image"
        prefix = image / PREFIX.lstrip("/")
        libdir = prefix / LIBDIR
        tap.run("meson install", ["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet"],
                env=dict(os.environ, DESTDIR=str(image)))
        if tap.failures:
            tap.done()

        here = dict(os.environ, LD_LIBRARY_PATH=str(libdir), PKG_CONFIG_LIBDIR=str(libdir / "pkgconfig"),
                    PKG_CONFIG_SYSROOT_DIR=str(image))
        for kind in ("shared", "static"):
            name = f"pkg-config, {kind}"
            if not shutil.which("pkg-config"):
                tap.skip(name, "pkg-config is missing")
                continue
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", *["--static"] * (kind == "static"), "wengert"],
                                   env=here, stdout=subprocess.PIPE, text=True).stdout.split()
            if kind == "static":
                flags = ["-l:libwengert.a" if flag == "-lwengert" else flag for flag in flags]
            program = folder / kind
            tap.run(name, [CXX, "-std=c++20", HERE / "main.cpp", *flags, "-o", program], [program], env=here)

        if shutil.which("cmake"):
            build = folder / "cmake"
            trouble = fails(["cmake", "-S", HERE / "cmake", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
                             f"-DCMAKE_CXX_COMPILER={CXX}"],
                            ["cmake", "--build", build])
            for kind in ("shared", "static"):
                tap.check(f"CMake, {kind}", trouble or fails([build / kind], env=here))
            project = folder / "quickstart"
            project.mkdir()
            (project / "CMakeLists.txt").write_text(quickstart("cmake"))
            shutil.copy(HERE / "main.cpp", project)
            tap.run("CMake, as in the quickstart",
                    ["cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={CXX}"],
                    ["cmake", "--build", project / "build"], [project / "build/app"], env=here)
        else:
            tap.skip("CMake", "cmake is missing")

        build = folder / "examples"
        tap.run("examples build", ["meson", "setup", build, SOURCE / "examples"], ["meson", "compile", "-C", build],
                env=dict(here, CXX=CXX))
        for example in EXAMPLES:
            tap.run(f"example {example} gives the known answers", ["meson", "test", "-C", build, "--no-rebuild", example],
                    env=here)

        project = folder / "meson"
        (project / "subprojects").mkdir(parents=True)
        (project / "meson.build").write_text(quickstart("meson"))
        shutil.copy(HERE / "main.cpp", project)
        (project / "subprojects/wengert").symlink_to(SOURCE)
        # The scalar kernels alone, to be quick; the other instruction sets are compiled in the same way.
        build = project / "build"
        tap.run("meson subproject, as in the quickstart", ["meson", "setup", build, project, "-Dwengert:isas="], ["meson", "compile", "-C", build],
                [build / "app"], env=dict(os.environ, CXX=CXX))
        parts = [name for name in ("src", "bench", "tests") if (build / "subprojects/wengert" / name).exists()]
        tap.check("a subproject builds no command, bench or tests", ", ".join(parts))
    tap.done()


if __name__ == "__main__":
    main()
