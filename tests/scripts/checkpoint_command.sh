#!/bin/bash
# dome ckpt, beside the independent reader of checkpoints.
grep -q '^DOME_CHECKPOINT:BOOL=ON' "${DOME_BUILD_DIR:?}/CMakeCache.txt" || { echo "skipped: built without checkpoints"; exit 77; }
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && exec "$python" "$DOME_SOURCE_DIR/tests/scripts/checkpoint_command.py"
done
echo "skipped: no python3 with NumPy (python3-numpy)"
exit 77
