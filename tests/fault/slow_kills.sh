#!/bin/bash
# Five hundred random kills of programs that heal: kills.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
[ $# -gt 0 ] || set -- 500
exec python3 -B "$(dirname "$0")/kills.py" "$@"
