#!/bin/bash
# dome view --live and dome run --view: live.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/live.py" "$@"
