#!/bin/bash
# Names that would make a terminal do something, in all that people read: names.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/names.py" "$@"
