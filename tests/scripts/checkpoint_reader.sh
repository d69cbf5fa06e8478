#!/bin/bash
# The independent reader of checkpoints, tools/dome_ckpt.py, on known files.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && exec "$python" "$DOME_SOURCE_DIR/tests/scripts/checkpoint_reader.py"
done
echo "skipped: no python3 with NumPy (python3-numpy)"
exit 77
