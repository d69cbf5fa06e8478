#!/bin/bash
# What dome_progress shows on a terminal, in files and in pipes: progress.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/progress.py" "$@"
