#!/bin/bash
# What stays behind when several processes are lost, or one cannot be ended by a plain signal: nothing. leftovers.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/leftovers.py" "$@"
