#!/bin/bash
# A beat costs the hub about the same whether it has 1,000 tasks or 10,000, and less than half where one task of each host tells of
# all 32 of it. The tasks are simulated, the hub is real. The cheapest of three rounds counts, since other programs disturb.
beats=$DOME_BUILD_DIR/bench/beats
[ -x "$beats" ] || { echo "skipped: bench/beats was not built"; exit 77; }

cost() # TASKS HOST: microseconds of a beat
{
    local said status
    said=$("$beats" "$1" 3 1 "$2") || { status=$?; echo "$said"; return $status; }
    sed -n 's/.*processor, \([0-9.]*\) us a beat$/\1/p' <<<"$said"
}

least() # of the numbers given
{
    printf '%s\n' "$@" | sort -g | head -1
}

few= many= together=
for _ in 1 2 3; do
    a=$(cost 1000 1) || { status=$?; echo "$a"; exit $status; }
    b=$(cost 10000 1) || { status=$?; echo "$b"; exit $status; }
    c=$(cost 10000 32) || { status=$?; echo "$c"; exit $status; }
    few=$(least $few "$a")
    many=$(least $many "$b")
    together=$(least $together "$c")
done
echo "a beat of 1,000 tasks: $few us, of 10,000: $many us, of 10,000 on hosts of 32: $together us"
awk "BEGIN { exit !($few > 0 && $many > 0 && $together > 0 && $many < 2 * $few && $together < $many / 2) }" || exit 1
