#!/bin/bash
# Six hosts on two switches, named in mixed order, with a slow link between: programs that read what dome net has measured have their
# ranks in the order of the ring, send less between the switches than others, and print the same.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 6 "$@"
cg=$DOME_BUILD_DIR/examples/cg
matrix=$DOME_SOURCE_DIR/examples/data/lund_a.mtx
where=$DOME_BUILD_DIR/tests/cluster/where

tc qdisc add dev lo root tbf rate 1mbit burst 10000 latency 10ms 2>/dev/null || skip "the lab cannot limit rates: the kernel has no tbf"
tc qdisc del dev lo root
"$lab" rate all 200
for host in h2 h3 h5; do
    "$lab" switch $host 2 20
done

# NAME OPTION...: runs cg on twelve tasks, and sets $packets to the number of those that crossed between the switches.
cross() {
    local name=$1 before
    shift
    before=$(packets_so_far)
    run "$name" on h1 env DOME_CACHE_DIR="$work/$name" "$dome" run --hosts "$work/hosts" -n 12 "$cg" "$matrix" --dome-profile "$@"
    [ "$status" -eq 0 ] || fail "$name: status $status; $(errors "$name")"
    packets=$(($(packets_so_far) - before))
    [ "$packets" -gt 0 ] || fail "$name: no packets were counted between the switches"
    grep '^placement' "$name.err"
    echo "   $name: $packets packets between the switches"
}

packets_so_far() {
    awk '$1 == "up2:" { print $3 + $11 }' /proc/net/dev
}

say "one after the other: alone, with ranks dealt in turn and no file of the network, along the ring that dome net has found"
run alone on h1 "$cg" --dome-transport self "$matrix"
ended_well alone
cross before --dome-place spread
same "cg alone and with ranks in turn" alone.out before.out
before=$packets
run net on h1 env DOME_CACHE_DIR="$work/now" "$dome" net --hosts "$work/hosts"
grep -q '^6 hosts, 2 clusters' net.out || fail "the clusters: $(head -3 net.out) $(errors net)"
cross now
same "cg alone and along the ring" alone.out now.out
grep -Eq 'of 12 neighbours on the ring of tasks 6 are on two hosts; 2 clusters of hosts' now.err || fail "placement: $(cat now.err)"
# The short look at the start has told the program before something of the clusters, too.
[ "$packets" -lt "$before" ] || fail "$packets packets between the switches, $before before"

say "ranks along the ring"
run where on h1 env DOME_CACHE_DIR="$work/now" "$dome" run --hosts "$work/hosts" -n 6 "$where"
ended_well where
ring=$(awk '{ printf "%s", ($2 ~ /^h[146]$/ ? "a" : "b") }' where.out)
grep -Eqx 'a+b+a*' <<<"$ring" || fail "the hosts' switches in the order of ranks are $ring: $(cat where.out)"
rm -rf "$work/now" "$work/before"
clean clusters
finish
