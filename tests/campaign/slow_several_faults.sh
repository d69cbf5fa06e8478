#!/bin/bash
# Several faults one after the other: several_faults.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/several_faults.py" "$@"
