#!/bin/bash
# heal.py with a loss at every point of a program, hundreds of random ones, and many in one program. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/heal.py" --many "$@"
