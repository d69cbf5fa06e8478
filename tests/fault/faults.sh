#!/bin/bash
# Every kind of loss at every place, and tasks that do the wrong thing: faults.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/faults.py" "$@"
