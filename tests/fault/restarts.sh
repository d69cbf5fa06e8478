#!/bin/bash
# Losses after which `dome run --restarts` starts the program again: restarts.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/restarts.py" "$@"
