#!/bin/bash
# Text files of columns, beside Python's csv and NumPy's genfromtxt: columns.py.
set -u
: "${DOME_BUILD_DIR:?}" "${DOME_SOURCE_DIR:?}" "${RUN_MULTI:?}"
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && exec "$python" -B "$DOME_SOURCE_DIR/tests/scripts/columns.py"
done
echo "skipped: no python3 with numpy (python3-numpy)"
exit 77
