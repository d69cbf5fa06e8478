#!/bin/bash
# Output that nobody reads: readers.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/readers.py" "$@"
