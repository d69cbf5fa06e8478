#!/bin/bash
# Checkpoints go between machines: written on x86-64, s390x (big-endian, under qemu), i386 (32 bits), and by tasks of both byte orders
# together, they are the same files, and on each of these a program goes on from them to the same bits, on another number of tasks.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386
examples=$DOME_SOURCE_DIR/examples
grep -q '^DOME_CHECKPOINT:BOOL=ON' "$DOME_BUILD_DIR/CMakeCache.txt" || skip "built without checkpoints"

# build MACHINE: its md, particles and deltas. Leaves a file of the machine's name in the build directory where that cannot be done.
build() {
    local why
    why=$("$DOME_SOURCE_DIR/tools/dome-lab-$1" md "$examples"/{md,md_options,lennard_jones,lammps_data}.c 2>&1 &&
        "$DOME_SOURCE_DIR/tools/dome-lab-$1" particles "$examples/particles.c" "$examples/particle_box.c" 2>&1 &&
        "$DOME_SOURCE_DIR/tools/dome-lab-$1" deltas "$DOME_SOURCE_DIR/tests/checkpoint/deltas.c" 2>&1)
    case $? in
    0) return 0 ;;
    77) echo "without $1: ${why#dome-lab-*: }" && return 1 ;;
    *) fail "$why" && finish ;;
    esac
}

if [ -z "${LAB:-}" ]; then
    need_lab
    machines=""
    build s390x && machines="s390x"
    build i386 && machines="$machines i386"
    [ -n "$machines" ] || skip "no other machine"
    export machines
fi
in_lab 3 "$@"
case $machines in
*s390x*)
    "$lab" arch h2 s390x || exit
    mkdir bin
    ln -s "$DOME_LAB_S390X"/bin/{md,particles} bin
    printf '%s\n' "h2 ep=$work/bin" "h3" >hosts
    on h2 od -An -tx1 -j5 -N1 "$DOME_LAB_S390X/programs/md" | grep -q 02 || fail "the other machine is not big-endian"
    ;;
esac
arguments_of_md="--cells 3 --steps 16 --thermo 0"
arguments_of_particles="--particles 150 --steps 16"
arguments_of_deltas=30
every=4 middle=2

# start NAME TASKS PROGRAM ARGUMENTS...: on x86-64, s390x (one task), i386, or mixed.
start() {
    local name=$1 tasks=$2 where=$3 program=$4 folder=$DOME_BUILD_DIR/examples first=()
    shift 4
    [ "$program" != deltas ] || folder=$DOME_BUILD_DIR/tests/checkpoint
    case $where in
    x86-64) first=(on h1 "$dome" run -n "$tasks" "$folder/$program") ;;
    s390x) first=(on h2 "$DOME_LAB_S390X/bin/$program" --dome-transport self) ;;
    i386) first=(on h1 "$dome" run -n "$tasks" "$DOME_LAB_I386/bin/$program") ;;
    mixed) first=(on h1 "$dome" run --hosts "$work/hosts" -n "$tasks" "$folder/$program") ;;
    esac
    run "$name" "${first[@]}" "$@"
}

# check PROGRAM: every machine writes; every machine goes on from what the one before it has written.
check() {
    local program=$1 arguments=arguments_of_$1 where before=x86-64 tasks=3 list="x86-64" load=""
    case $machines in *s390x*) list+=" s390x mixed" ;; esac
    [ "$program" != deltas ] || list=${list% mixed} load="--dome-restart-load lazy" # it has a region
    case $machines in *i386*) list+=" i386" ;; esac
    # shellcheck disable=SC2086
    for where in $list; do
        start "$program.$where" $tasks $where $program ${!arguments} --dome-checkpoint-dir "$work/$program.$where.dir" \
            --dome-checkpoint-every $every --dome-checkpoint-keep 100
        ended_well "$program.$where"
        clean "$program.$where"
        tail -n 1 "$program.$where.out" | cmp -s - <(tail -n 1 "$program.x86-64.out") ||
            fail "$program on $where: $(tail -n 1 "$program.$where.out")"
        (cd "$program.x86-64.dir" && ls ckpt-*) >files
        [ "$(wc -l <files)" -ge 3 ] || fail "$program on $where: no checkpoints"
        for file in $(cat files); do
            same "$program on $where: $file" "$program.x86-64.dir/$file" "$program.$where.dir/$file"
        done
        before=$where tasks=$((tasks == 3 ? 5 : 3))
    done
    [ "$program" != deltas ] || [ "$(od -An -tu1 -j11 -N1 deltas.x86-64.dir/ckpt-00000002.dckpt | tr -d ' ')" = 2 ] ||
        fail "the second checkpoint is not one of deltas"
    # shellcheck disable=SC2086
    for where in $list; do
        rm -rf again
        cp -r "$program.$before.dir" again
        start "$program.$where.again" 2 $where $program ${!arguments} --dome-checkpoint-dir "$work/again" \
            --dome-checkpoint-every $every --dome-restart=$middle $load
        [ "$status" -eq 0 ] || fail "$program on $where, from $before: status $status: $(errors "$program.$where.again")"
        grep -q "^dome: going on from checkpoint $middle, after $((every * middle)) loop" "$program.$where.again.err" ||
            fail "$program on $where, from $before: $(errors "$program.$where.again")"
        tail -n 1 "$program.$where.again.out" | cmp -s - <(tail -n 1 "$program.x86-64.out") ||
            fail "$program on $where, from $before: $(tail -n 1 "$program.$where.again.out")"
        before=$where
    done
}

for program in md particles deltas; do
    say "$program:$machines"
    check $program
done
finish
