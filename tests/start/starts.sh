#!/bin/bash
# All ways to start a program, and what stands in the way: starts.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/starts.py" "$@"
