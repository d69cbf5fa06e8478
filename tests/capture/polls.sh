#!/bin/bash
# At every poll in turn the program is captured and continued, in memory, from a file in the same process, and in a new process; what it
# writes is the same.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm # some hundred checkpoints: in memory
. "$(dirname "$0")/../support/captures.bash"
everything=$programs/everything
steps=7

run "$everything" plain.txt $steps
well "undisturbed"
tail -n 1 plain.txt | grep -q '^7 calls, total .* 7 nodes' || fail "undisturbed: $(tail -n 1 plain.txt)"

run "$everything" out.txt $steps --dome-checkpoint-dir dir --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
well "written"
same "written" plain.txt out.txt
polls=$(numbers dir | tail -n 1)
[ "$polls" -ge 130 ] || fail "only $polls checkpoints"
[ "$(numbers dir | wc -l)" -eq "$polls" ] || fail "a poll has no checkpoint"

# In memory alone.
for k in $(numbers dir); do
    run "$everything" memory.txt $steps "$k"
    well "captured in memory at poll $k"
    same "captured in memory at poll $k" plain.txt memory.txt
done

# A new process goes on from each of them; it leaves the same checkpoints that the first one left.
for k in $(numbers dir); do
    rm -rf again && cp -rl dir again && rm again/lock # no checkpoint is written to
    run "$everything" unused 0 --dome-checkpoint-dir again --dome-restart="$k" --dome-checkpoint-every 1000000
    well "restarted at poll $k" '^dome: going on from checkpoint '
    same "restarted at poll $k" plain.txt out.txt
    [ ! -e unused ] || fail "restarted at poll $k: it has taken the new arguments"
done

# The checkpoints of a program that was restarted are those of one that was not.
rm -rf again && mkdir again
for f in dir/*; do case $(basename "$f") in ckpt-0000000[1-9].dckpt | ckpt-0000001?.dckpt | lock | run) cp "$f" again ;; esac; done
run "$everything" unused 0 --dome-checkpoint-dir again --dome-restart --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
well "restarted in the middle" '^dome: going on from checkpoint '
[ "$(numbers again | tail -n 1)" -eq "$polls" ] || fail "restarted in the middle: $(numbers again | tail -n 1) checkpoints, not $polls"
for k in $(numbers dir); do
    name=$(printf 'ckpt-%08d.dckpt' "$k")
    same "restarted in the middle" "dir/$name" "again/$name"
done

# The example of the documentation, which is this program.
sed -n '/<!-- queens.c -->/,/<!-- end of queens.c -->/p' "$DOME_SOURCE_DIR/docs/capture.md" | sed '1d;$d; s/^    //' >queens.c
same "docs/capture.md" queens.c "$DOME_SOURCE_DIR/tests/capture/queens.c"
run "$programs/queens" 5
well "queens"
mv out plain
grep -qx '10 ways to place 5 queens' plain || fail "queens: $(cat plain)"
rm -rf dir
run "$programs/queens" 5 --dome-checkpoint-dir dir --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
well "queens, written"
same "queens, written" plain out
for k in $(numbers dir); do
    run "$programs/queens" --dome-checkpoint-dir dir --dome-restart="$k" --dome-checkpoint-every 1000000
    well "queens at poll $k" '^dome: going on from checkpoint '
    same "queens at poll $k" plain out
done
finish
