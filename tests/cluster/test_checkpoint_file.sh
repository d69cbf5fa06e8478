#!/bin/bash
# The tests of checkpoints' files on a big-endian machine (s390x under qemu): what it writes are the same bytes as in the known files.
grep -q '^DOME_CHECKPOINT:BOOL=ON' "${DOME_BUILD_DIR:?}/CMakeCache.txt" || { echo "skipped: built without checkpoints"; exit 77; }
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x
machine=$DOME_SOURCE_DIR/tools/dome-lab-s390x tests=$DOME_SOURCE_DIR/tests root=$DOME_LAB_S390X/root/usr

# The library first: these flags are for the program alone.
why=$("$machine" 2>&1)
case $? in
0) ;;
77) echo "skipped: ${why#dome-lab-s390x: }" && exit 77 ;;
*) echo "$why" && exit 1 ;;
esac
CFLAGS="-I$DOME_SOURCE_DIR/src -I$tests -I$root/include/tirpc -I$root/include/glib-2.0"
CFLAGS+=" -I$root/lib/s390x-linux-gnu/glib-2.0/include -D_GNU_SOURCE= -DDOME_SOURCE_DIR=\"$DOME_SOURCE_DIR\""
CFLAGS=$CFLAGS "$machine" checkpoint "$tests/unit/test_checkpoint.c" "$tests/checkpoint_state.c" || exit 1
exec "$DOME_LAB_S390X/bin/checkpoint" -m quick
