#!/bin/bash
# Memory of all tasks over the bytes of shared data: what each thread alone writes is there once, and not as it was before.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome
[ -r /proc/self/smaps_rollup ] || skip "this kernel has no smaps_rollup"
own_directory
"$DOME_BUILD_DIR/tools/dome-omp" -O2 "$DOME_SOURCE_DIR/bench/openmp/shared_memory.c" -o shared_memory || fail "it is not compiled"
bytes() { # bytes MEGABYTES
    OMP_NUM_THREADS=4 timeout 60 "$dome" run -n 2 ./shared_memory "$1" own | sed -n 's/^bytes \([0-9]*\) .*/\1/p'
}
small=$(bytes 1) large=$(bytes 41)
more=$((large - small))
[ "$more" -ge 40000000 ] || fail "40 MB more take $more bytes: $small, $large"
[ "$more" -le 80000000 ] || fail "40 MB more take $more bytes: $small, $large"
finish
