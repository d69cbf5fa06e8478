#!/bin/bash
# Five hundred random faults: random_faults.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
[ $# -gt 0 ] || set -- 500
exec python3 -B "$(dirname "$0")/random_faults.py" "$@"
