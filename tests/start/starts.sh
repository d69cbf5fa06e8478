#!/bin/bash
# All ways to start a program, and what stands in the way: starts.py. Arguments go there.
exec python3 -B "$(dirname "$0")/starts.py" "$@"
