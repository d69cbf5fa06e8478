#!/bin/bash
# Losses after which the other tasks go on: tell.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/tell.py" "$@"
