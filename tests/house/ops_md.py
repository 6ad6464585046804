"""docs/ops.md is what the op table says.

    ops_md.py OPS_MARKDOWN
"""

import os
import pathlib
import subprocess
import sys

from tap import Tap

tap = Tap()
fresh = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE, text=True).stdout
kept = (pathlib.Path(os.environ["SOURCE"]) / "docs" / "ops.md").read_text()
tap.check("docs/ops.md is fresh", "" if fresh == kept else "stale: write the output of build/*/docs/ops_markdown to it")
tap.done()
