#!/bin/bash
# The main loops of the kernels compute in vectors, in each variant: kernel_loops.py.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
command -v objdump >/dev/null || { echo "skipped: objdump is not installed"; exit 77; }
exec python3 -B "$(dirname "$0")/kernel_loops.py" "${DOME_BUILD_DIR:?}"
