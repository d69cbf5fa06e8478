#!/bin/bash
# Sixty random faults: random_faults.py. Arguments go there. slow_random_faults.sh tries more.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/random_faults.py" "$@"
