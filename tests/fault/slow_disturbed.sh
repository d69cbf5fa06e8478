#!/bin/bash
# Examples that grow, shrink and lose tasks at random: disturbed.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/disturbed.py" "$@"
