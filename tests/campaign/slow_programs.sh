#!/bin/bash
# Programs of Debian's sources by dome-cc, stopped and continued: programs.py. Arguments go there: [TIMES [SEED [NAME...]]]
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/programs.py" "$@"
