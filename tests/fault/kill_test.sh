#!/bin/bash
# Random kills of md, cg and heat, which go on and end with the same bits: kill_test.py [KILLS [SEED [PROGRAM...]]].
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/kill_test.py" "$@"
