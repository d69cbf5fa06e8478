#!/bin/bash
# Damaged files and odd options at the commands and programs of the build with sanitizers: inputs.py. Arguments go there.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/inputs.py" "$@"
