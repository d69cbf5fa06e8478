#!/bin/bash
# Two hundred random faults: random_faults.py. Arguments go there.
exec python3 -B "$(dirname "$0")/random_faults.py" "$@"
