#!/bin/bash
# On x86-64, s390x (big-endian, under qemu) and i386 (32 bits) the checkpoints of every poll are the same files, and each machine goes
# on from each of them: from one machine to the next, as often as there are polls.
TMPDIR=$([ -w /dev/shm ] && [ -z "${TMPDIR:-}" ] && echo /dev/shm || echo "${TMPDIR:-/tmp}") # a thousand files
export TMPDIR
. "$(dirname "$0")/../support/captures.bash"
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386
steps=5
machines=here

for machine in s390x i386; do
    why=$("$DOME_SOURCE_DIR/tools/dome-lab-$machine" everything "$DOME_SOURCE_DIR/tests/capture/everything.c" 2>&1)
    case $? in
    0) machines="$machines $machine" ;;
    77) echo "without $machine: ${why#dome-lab-*: }" ;;
    *) fail "$why" && finish ;;
    esac
done
[ "$machines" != here ] || {
    echo "skipped: no other machine"
    exit 77
}

program_of() {
    case $1 in
    here) echo "$programs/everything" ;;
    s390x) echo "$DOME_LAB_S390X/bin/everything" ;;
    i386) echo "$DOME_LAB_I386/bin/everything" ;;
    esac
}

for machine in $machines; do
    mkdir "$machine"
    cd "$machine" || exit 1
    run "$(program_of "$machine")" out.txt $steps --dome-checkpoint-dir dir --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
    well "$machine"
    cd ..
    same "$machine" here/out.txt "$machine/out.txt"
    for k in $(numbers here/dir); do
        name=$(printf 'ckpt-%08d.dckpt' "$k")
        same "$machine" "here/dir/$name" "$machine/dir/$name"
    done
done
polls=$(numbers here/dir | tail -n 1)
[ "$polls" -ge 80 ] || fail "only $polls checkpoints"

# Each machine goes on from a checkpoint that another one has written. One in seven writes all that follow: the next machines go on
# from those.
mkdir wander
cd wander || exit 1
cp -r ../here/dir dir
cp ../here/out.txt out.txt
read -ra list <<<"$machines"
turn=0
for k in $(seq 1 "$polls"); do
    machine=${list[$((turn++ % ${#list[@]}))]}
    every=$((polls + 1))
    if [ $((k % 7)) -eq 1 ]; then
        every=1
        seq -f 'dir/ckpt-%08.0f.dckpt' $((k + 1)) "$polls" | xargs rm -f
    fi
    run "$(program_of "$machine")" --dome-checkpoint-dir dir --dome-restart="$k" --dome-checkpoint-every $every --dome-checkpoint-keep 1000
    well "$machine from poll $k" '^dome: going on from checkpoint '
    same "$machine from poll $k" ../here/out.txt out.txt
done
for k in $(numbers dir); do
    name=$(printf 'ckpt-%08d.dckpt' "$k")
    same "after all of them" "../here/dir/$name" "dir/$name"
done
finish
