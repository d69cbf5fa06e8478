#!/bin/bash
# Three hundred starts and ends, eight at a time: many_starts.py. Arguments go there.
exec python3 -B "$(dirname "$0")/many_starts.py" "$@"
