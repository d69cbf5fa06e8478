#!/bin/bash
# Every kind of loss at every place, and tasks that do the wrong thing: faults.py. Arguments go there.
exec python3 -B "$(dirname "$0")/faults.py" "$@"
