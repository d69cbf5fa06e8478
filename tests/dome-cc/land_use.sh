#!/bin/bash
# A program of 22 files (bench/introspection/programs/land_use), translated file by file: it prints what the plain one does, also if it
# is captured often, and if it goes on from some of those checkpoints. What one of them holds can be shown.
. "$(dirname "$0")/../support/captures.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc sources=$DOME_SOURCE_DIR/bench/introspection/programs/land_use
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
size="12 24" # years, side: the last check is of every cell and owner

cc -O1 -ffp-contract=off "$sources"/*.c -o plain -lm || exit 1
run ./plain $size
[ $status -eq 0 ] && grep -q 'faults 0, check ' out || fail "the plain program: status $status: $(tail -1 out)"
mv out plain.out
for file in "$sources"/*.c; do
    "$cc" -w -O1 -c "$file" || fail "$(basename "$file")"
done
"$cc" -w -O1 ./*.o -o translated -lm 2>said || { fail "$(head -3 said)"; finish; }
run ./translated $size
well "translated"
same "translated" plain.out out

run ./translated $size --dome-checkpoint-dir saved --dome-checkpoint-every 700 --dome-checkpoint-keep 100000
[ $status -eq 0 ] || fail "captured: status $status: $(tail -1 err)"
same "captured" plain.out out
read -ra all < <(numbers saved | tr '\n' ' ')
[ ${#all[@]} -ge 20 ] || fail "only ${#all[@]} checkpoints"
for ((i = 0; i < ${#all[@]}; i += ${#all[@]} / 7 + 1)); do
    run ./translated --dome-checkpoint-dir saved --dome-restart="${all[$i]}" --dome-checkpoint-every 100000000
    [ $status -eq 0 ] || fail "from ${all[$i]}: status $status: $(tail -1 err)"
    tail -c "$(stat -c %s out)" plain.out | cmp -s - out && grep -q 'faults 0, check ' out || fail "from ${all[$i]}: other output: $(tail -1 out)"
done
finish
