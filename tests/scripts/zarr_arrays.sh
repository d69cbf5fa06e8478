#!/bin/bash
# Zarr arrays between Dome and other programs, in both directions: zarr_arrays.py. Arguments go there.
set -u
: "${DOME_BUILD_DIR:?}" "${DOME_SOURCE_DIR:?}" "${RUN_MULTI:?}"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped: NumPy is not installed"; exit 77; }
exec /usr/bin/python3 -B "$(dirname "$0")/zarr_arrays.py" "$@"
