#!/bin/bash
# Operations on sparse matrices beside the same in SciPy: scipy_cases.py. Arguments go there.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import scipy' 2>/dev/null && exec "$python" -B "$(dirname "$0")/scipy_cases.py" "$@"
done
echo "skipped: python3 with scipy is not installed"
exit 77
