#!/bin/bash
# Programs that change their number of tasks while they run: elastic.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/elastic.py" "$@"
