"""rows.py TABLE.csv OUT: the rows of a table without its header, as initialisers of a C++ array of arrays."""

import sys

with open(sys.argv[1]) as table:
    rows = table.read().splitlines()[1:]
with open(sys.argv[2], "w") as out:
    out.writelines(f"{{{row}}},\n" for row in rows)
