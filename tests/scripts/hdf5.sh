#!/bin/bash
# Vectors in HDF5 files, beside h5py and NumPy: hdf5.py.
cache=${DOME_BUILD_DIR:?}/CMakeCache.txt
grep -q '^DOME_HDF5:BOOL=ON' "$cache" && grep -q '^DOME_HDF5_FILE:FILEPATH=/' "$cache" || { echo "skipped: built without HDF5"; exit 77; }
for python in python3 /usr/bin/python3; do
    "$python" -c 'import h5py, numpy' 2>/dev/null && exec "$python" -B "$DOME_SOURCE_DIR/tests/scripts/hdf5.py"
done
echo "skipped: no python3 with h5py (python3-h5py)"
exit 77
