#!/bin/bash
# dome net in a lab of two switches with a slow link between them, and one slow host: the clusters and the best ring are found, hosts
# that do not answer are named, files that are damaged are not used, and nothing is left behind. One cable for all hosts is not taken for
# a switch, nor a switch for a cable.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 6 "$@"
unset DOME_CACHE_DIR # the files lie in the homes of the lab's hosts

# NAME OPTION...: measures as a user at h1 would.
net() {
    local name=$1
    shift
    run "$name" on h1 "$dome" net "$@"
}

# NAME HOSTS...: what JSON says of these hosts: that they are two clusters, h1 h4 h6 and the others, and that the ring is the best one
# of all by the links that were measured.
judge() {
    python3 - "$work/$1.out" "${@:2}" <<'END' || fail "$1: see above"
import itertools
import json
import sys

network = json.load(open(sys.argv[1]))
names = [host["name"] for host in network["hosts"]]
bad = []
if sorted(names) != sorted(sys.argv[2:]):
    bad.append("hosts %s" % names)
clusters = {}
for host in network["hosts"]:
    clusters.setdefault(host["cluster"], set()).add(host["name"])
near = {"h1", "h4", "h6"} & set(names)
if sorted(clusters.values(), key=sorted) != sorted([near, set(names) - near], key=sorted):
    bad.append("clusters %s" % clusters)
cost = {}
for link in network["links"]:
    a, b = link["hosts"]
    cost[a, b] = cost[b, a] = link["latency"] + 65536 / link["bandwidth"]
n = len(names)
if len(cost) != n * (n - 1):
    bad.append("%d links are known" % (len(cost) // 2))
else:
    length = lambda ring: sum(cost[ring[i], ring[(i + 1) % n]] for i in range(n))
    best = min(length((0,) + rest) for rest in itertools.permutations(range(1, n)))
    print("   ring over the best one: %.4f" % (length(network["ring"]) / best))
    if length(network["ring"]) > best * (1 + 1e-6):
        bad.append("the ring is not the best one")
print("\n".join(bad), end="")
sys.exit(bool(bad))
END
}

# NAME CLUSTERS WORD...: what is said of the medium between two clusters (numbers, "0, 1"), or within one.
medium() {
    local name=$1 clusters=$2 said
    shift 2
    said=$(grep -F "\"clusters\": [$clusters]" "$name.out" | sed 's/.*"sharing": //')
    echo "   $name, $clusters: $said"
    for word; do
        [[ $said = "$word"* ]] && return
    done
    fail "$name: between $clusters: $said, not $*"
}

tc qdisc add dev lo root tbf rate 1mbit burst 10000 latency 10ms 2>/dev/null || skip "the lab cannot limit rates: the kernel has no tbf"
tc qdisc del dev lo root
command -v python3 >/dev/null || skip "python3 is not installed"
"$lab" rate all 200
for host in h2 h3 h5; do
    "$lab" switch $host 2 20
done
[ -e "$LAB/no_cpu" ] || "$lab" cpu h5 20

say "six hosts"
net first --hosts "$work/hosts" --json --picture "$work/picture.svg"
ended_well first
judge first "${hosts[@]}"
# A busy machine may leave that open. Three hosts have no two pairs.
medium first "0, 1" '"shared"' '"cannot tell"'
medium first "0, 0" null
medium first "1, 1" null
python3 - "$work/picture.svg" <<'END' || fail "the picture is not as it should be"
import sys
import xml.dom.minidom
document = xml.dom.minidom.parse(sys.argv[1])
texts = [t.firstChild.data for t in document.getElementsByTagName("text")]
sys.exit(not all("h%d" % i in texts for i in range(1, 7)))
END

say "what is known is not measured again"
net known --hosts "$work/hosts" --json
ended_well known
same "the file" first.out known.out
# dome-lab's homes are in memory; a program finds the same file.
net table --hosts "$work/hosts"
ended_well table
grep -q '^6 hosts, 2 clusters, measured .* ago$' table.out || fail "table: $(head -1 table.out)"

say "a damaged file"
on h1 sh -c 'for file in ~/.cache/dome/network/*.network; do echo x >>"$file"; done'
net damaged --hosts "$work/hosts" --json
[ "$status" -eq 0 ] || fail "damaged: status $status"
errors damaged | grep -Eq '^dome: net: /.*\.network is not used: it is damaged' || fail "damaged: $(errors damaged)"
judge damaged "${hosts[@]}"
clean_but_files() {
    on h1 rm -rf "$HOME/.cache"
    clean "$1"
}
clean_but_files six

say "a user's own machine; a host stops while it is measured"
vm_start h1 h2 h3 h4 h5 h6
"$lab" switch h2 2 1 # slow, so that measuring takes a while
run whole on h1 "$dome" net --again --json &
measuring=$!
until_true eval '"$lab" ps h6 | grep -q "dome net"' || fail "nothing is measured"
sleep 0.5
"$lab" stop h3
wait $measuring
status=$?
[ $status -eq 0 ] || fail "h3 stopped: status $status; $(errors whole)"
errors whole | sed 's/^/   /'
[ "$(errors whole)" = "dome: net: no answer from h3; the other hosts are measured" ] || fail "h3 stopped: $(errors whole)"
judge whole h1 h2 h4 h5 h6
"$lab" switch h2 2 20

say "a host that is silent before"
net held_up --again # PVM's daemons may still wait for it: then nothing can be measured
errors held_up | grep -Eqx "dome: net: no answer from h3(; the other hosts are measured|, and PVM's daemons wait for it: .*)" ||
    fail "held up: $(errors held_up)"
"$lab" go h3
until_true eval '! "$lab" ps | grep -q "dome net"' || fail "tasks are left: $("$lab" ps | grep "dome net")"
net again --again --json
ended_well again
judge again "${hosts[@]}"
"$lab" stop h3
net without --again --json
[ "$status" -eq 0 ] || fail "without: status $status; $(errors without)"
[ "$(errors without)" = "dome: net: no answer from h3; the other hosts are measured" ] || fail "without: $(errors without)"
judge without h1 h2 h4 h5 h6
"$lab" go h3
until_true eval '! "$lab" ps | grep -q "dome net"' || fail "tasks are left: $("$lab" ps | grep "dome net")"
vm_stop

say "one switch for six hosts; one cable"
"$lab" rate all 200
[ -e "$LAB/no_cpu" ] || "$lab" cpu h5 max
for host in h2 h3 h5; do
    "$lab" switch $host 1
done
net switched --again --json --hosts "$work/hosts"
ended_well switched
medium switched "0, 0" '"switched"' '"cannot tell"'
"$lab" rate all 100 # as fast as the cable: what the limit lets through at once, after a pause, makes no link look twice as fast
if "$lab" cable all 100 2>cable.err; then
    net cable --again --json --hosts "$work/hosts"
    ended_well cable
    medium cable "0, 0" '"shared"' '"cannot tell"'
    # of five hosts two pairs have half of the cable each, nearer to the limit than the third of three pairs
    printf '%s\n' h2 h3 h4 h5 >five
    net five --again --json --hosts "$work/five"
    ended_well five
    medium five "0, 0" '"shared"' '"cannot tell"'
    "$lab" cable all 0
else
    echo "   no cable: $(cat cable.err)"
fi
clean_but_files media

say "one host"
net one
ended_well one
grep -q '^one host: ' one.out || fail "one: $(cat one.out)"
clean_but_files end
finish
