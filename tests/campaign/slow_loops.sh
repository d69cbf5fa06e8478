#!/bin/bash
# Generated programs of loops by dome-cc: loops.py. Arguments go there; the count is 40 and the seed 1 if there are none: [COUNT [SEED [NUMBER | FIRST-LAST]]]
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
[ $# -gt 0 ] || set -- 40 1
exec python3 -B "$(dirname "$0")/loops.py" "$@"
