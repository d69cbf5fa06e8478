#!/bin/bash
# What --dome-trace records, and what dome view makes of it: trace.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/trace.py" "$@"
