#!/bin/bash
# Dome programs by dome-cc go on from x86-64 on i386 (32 bits), where pointers, longs and the members of structs lie elsewhere, and back.
. "$(dirname "$0")/../examples/common"
export DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386
cc=$DOME_BUILD_DIR/tools/dome-cc sources=$DOME_SOURCE_DIR/tests/dome-cc/parallel
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
[ "$counts" != self ] || { echo "skipped: there is no PVM"; exit 77; }
why=$("$DOME_SOURCE_DIR/tools/dome-lab-i386" 2>&1)
case $? in
0) ;;
77) echo "skipped: ${why#dome-lab-*: }" && exit 77 ;;
*) fail "$why" && finish ;;
esac

# go TASKS PROGRAM ARGUMENTS...: leaves out, err, status.
go() {
    "$RUN_MULTI" "$1" "${@:2}" >out 2>err
    status=$?
    sed -i '/^dome: running as root: /d; /^dome: going on from checkpoint/d' err
}

mkdir here there
for name in nested types; do
    cp "$sources/$name.c" .
    "$cc" -O2 "$name.c" -o "here/$name" 2>said || fail "$name: $(head -3 said)"
    "$cc" -O2 --cc="i686-linux-gnu-gcc -msse2 -mfpmath=sse" --dome="$DOME_LAB_I386/dome.pc" "$name.c" -o "there/$name" -lm 2>said || fail "$name: $(head -3 said)"
    go 1 "here/$name" 6
    well "$name"
    mv out expected
    from=here to=there tasks=3 then=self
    for turn in 1 2; do
        go $tasks "$from/$name" 6 --dome-checkpoint-dir "$from.$name" --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
        well "$name $from"
        same "$name $from" expected out
        for k in 1 4 7 10; do
            go $then "$to/$name" --dome-checkpoint-dir "$from.$name" --dome-restart=$k
            well "$name from $from, checkpoint $k, $to"
            [ -s out ] && tail -c "$(stat -c %s out)" expected | cmp -s - out || fail "$name from $from, checkpoint $k, $to: $(tail -2 out)"
        done
        from=there to=here tasks=self then=2
    done
done
finish
