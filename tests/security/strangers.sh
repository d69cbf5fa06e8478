#!/bin/bash
# Connections of others to a program's hub, tasks and page: strangers.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/strangers.py" "$@"
