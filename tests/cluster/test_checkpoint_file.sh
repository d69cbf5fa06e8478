#!/bin/bash
# The tests of checkpoints' files on a big-endian machine (s390x under qemu) and on one of 32 bits (i386): what they write are the same
# bytes as in the known files.
grep -q '^DOME_CHECKPOINT:BOOL=ON' "${DOME_BUILD_DIR:?}/CMakeCache.txt" || { echo "skipped: built without checkpoints"; exit 77; }
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386
tests=$DOME_SOURCE_DIR/tests tried=0

check() { # MACHINE DIRECTORY TRIPLET
    local machine=$DOME_SOURCE_DIR/tools/dome-lab-$1 root=$2/root/usr why
    # The library first: these flags are for the program alone.
    why=$("$machine" 2>&1)
    case $? in
    0) ;;
    77) echo "skipped: ${why#dome-lab-*: }" && return 0 ;;
    *) echo "$why" && return 1 ;;
    esac
    tried=$((tried + 1))
    CFLAGS="-I$DOME_SOURCE_DIR/src -I$tests/support -I$root/include/tirpc -I$root/include/glib-2.0 -I$root/lib/$3/glib-2.0/include \
        -D_GNU_SOURCE= -D_FILE_OFFSET_BITS=64 -DDOME_SOURCE_DIR=\"$DOME_SOURCE_DIR\"" \
        "$machine" checkpoint "$tests/unit/ckpt/test_checkpoint.c" "$tests/support/checkpoint_state.c" && "$2/bin/checkpoint" -m quick
}

check s390x "$DOME_LAB_S390X" s390x-linux-gnu || exit 1
check i386 "$DOME_LAB_I386" i386-linux-gnu || exit 1
[ $tried -gt 0 ] || exit 77
