#!/bin/bash
# Dome programs by dome-cc go on from x86-64 on i386 (32 bits), where pointers, longs and the members of structs lie elsewhere, and on
# s390x (big-endian, under qemu), and back.
. "$(dirname "$0")/../support/programs.bash"
export DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386 DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x
cc=$DOME_BUILD_DIR/tools/dome-cc sources=$DOME_SOURCE_DIR/tests/dome-cc/parallel
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
[ "$counts" != self ] || { echo "skipped: there is no PVM"; exit 77; }
machines=
for machine in i386 s390x; do
    why=$("$DOME_SOURCE_DIR/tools/dome-lab-$machine" 2>&1)
    case $? in
    0) machines="$machines $machine" ;;
    77) echo "without $machine: ${why#dome-lab-*: }" ;;
    *) fail "$why" && finish ;;
    esac
done
[ -n "$machines" ] || { echo "skipped: no other machine"; exit 77; }

# emulated MACHINE: whether its programs run under qemu
emulated() {
    case $1 in
    s390x) true ;;
    i386) grep -q qemu "$DOME_LAB_I386/run" ;;
    *) false ;;
    esac
}

# go TASKS PROGRAM ARGUMENTS...: leaves out, err, status. Programs under qemu run as one task.
go() {
    if emulated "${2%%/*}"; then
        local lab=DOME_LAB_${2%%/*}
        lab=${lab^^}
        "${!lab}/run" "$PWD/$2" "${@:3}" --dome-transport self </dev/null >out 2>err
    else
        "$RUN_MULTI" "$1" "${@:2}" >out 2>err
    fi
    status=$?
    sed -i '/^dome: running as root: /d; /^dome: going on from checkpoint/d' err
}

# build MACHINE NAME: MACHINE/NAME
build() {
    local options=()
    mkdir -p "$1"
    case $1 in
    i386) options=(--cc="i686-linux-gnu-gcc -msse2 -mfpmath=sse" --dome="$DOME_LAB_I386/dome.pc") ;;
    s390x) options=(--cc=s390x-linux-gnu-gcc --dome="$DOME_LAB_S390X/dome.pc") ;;
    esac
    "$cc" -O2 "${options[@]}" "$2.c" -o "$1/$2" -lm 2>said || fail "$2 for $1: $(head -3 said)"
}

for name in nested types between own; do
    cp "$sources/$name.c" .
    build here "$name"
    go 1 "here/$name" 6
    well "$name"
    mv out expected
    every=1
    [ $name != between ] || every=10
    for machine in $machines; do
        build "$machine" "$name"
        from=here to=$machine tasks=3 then=self
        for turn in 1 2; do
            rm -rf "$from.$name"
            go $tasks "$from/$name" 6 --dome-checkpoint-dir "$from.$name" --dome-checkpoint-every $every --dome-checkpoint-keep 1000
            well "$name $from"
            same "$name $from" expected out
            for k in 1 4 7 10; do
                go $then "$to/$name" --dome-checkpoint-dir "$from.$name" --dome-restart=$k --dome-checkpoint-every 1000000 # none by the clock
                well "$name from $from, checkpoint $k, $to"
                [ -s out ] && tail -c "$(stat -c %s out)" expected | cmp -s - out || fail "$name from $from, checkpoint $k, $to: $(tail -2 out)"
            done
            from=$machine to=here tasks=self then=2
        done
        echo "$name: here and $machine"
    done
done
finish
