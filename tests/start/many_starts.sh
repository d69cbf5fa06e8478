#!/bin/bash
# A hundred starts and ends, eight at a time: many_starts.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/many_starts.py" "$@"
