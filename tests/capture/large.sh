#!/bin/bash
# 10^5 active functions, and a graph of 10^6 blocks of the heap: captured and resumed, and restarted from a file.
. "$(dirname "$0")/../support/captures.bash"

# case PROGRAM ARGUMENTS... -- EXPECTED
check() {
    local name=$1 expected=$2
    shift 2
    run "$programs/$name" "$@"
    well "$name $*, in memory"
    grep -qE "$expected" out || fail "$name $*: $(cat out)"
    mv out plain
    rm -rf dir
    run "$programs/$name" "$@" --dome-checkpoint-dir dir
    well "$name $*, written"
    same "$name $*, written" plain out
    run "$programs/$name" --dome-checkpoint-dir dir --dome-restart
    well "$name $*, restarted" '^dome: going on from checkpoint '
    same "$name $*, restarted" plain out
}

check deep '^[0-9]+, 20 polls' 10
cp out small
check deep '^[0-9]+, 200000 polls' 100000
bytes=$(stat -c %s dir/ckpt-00000001.dckpt)
[ "$bytes" -lt $((100000 * 100 + 10000)) ] || fail "deep: $bytes bytes for 100000 active functions"
check deep '^[0-9]+, 200000 polls' 100000 150000
check graph '^same [0-9a-f]+ ' 1000 2
check graph '^same [0-9a-f]+ .* 1000005 blocks$' 1000000 2
finish
