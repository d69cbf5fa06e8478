#!/bin/bash
# Three hosts, daemons started through ssh: a private machine by `dome run --hosts`, and one of the user's own.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
cg=$DOME_BUILD_DIR/examples/cg
matrix=$DOME_SOURCE_DIR/examples/data/lund_a.mtx
where=$DOME_BUILD_DIR/tests/cluster/where

say "six tasks on three hosts, a private machine"
run alone on h1 "$cg" --dome-transport self "$matrix"
ended_well alone
[ -s alone.out ] || fail "cg prints nothing"
run hosts on h1 "$dome" run --hosts "$work/hosts" -n 6 "$cg" "$matrix"
ended_well hosts
same "cg on one host and on three" alone.out hosts.out
clean hosts

say "its tasks are where they should be, in the user's directory"
run where on h1 sh -c "cd $work && exec $dome run --hosts $work/hosts -n 6 $where"
ended_well where
printf '%s\n' "0 h1 $work" "1 h1 $work" "2 h2 $work" "3 h2 $work" "4 h3 $work" "5 h3 $work" >expected
same where expected where.out
run spread on h1 sh -c "cd $work && exec $dome run --hosts $work/hosts -n 6 $where --dome-place spread"
ended_well spread
printf '%s\n' "0 h1 $work" "1 h2 $work" "2 h3 $work" "3 h1 $work" "4 h2 $work" "5 h3 $work" >expected.spread
same "ranks dealt in turn" expected.spread spread.out
run spread on h1 "$dome" run --hosts "$work/hosts" -n 6 "$cg" "$matrix" --dome-place spread --dome-profile
same "cg with ranks dealt in turn" alone.out spread.out
grep -Eq "placement: 3 hosts; of 6 neighbours on the ring of tasks 6 are on two hosts; .*" spread.err || fail "placement: $(cat spread.err)"
run profile on h1 "$dome" run --hosts "$work/hosts" -n 6 "$cg" "$matrix" --dome-place fill --dome-profile
grep -Eq "placement: 3 hosts; of 6 neighbours on the ring of tasks 3 are on two hosts; .*" profile.err || fail "placement: $(cat profile.err)"
same "cg with neighbours on a host" alone.out profile.out
run default on h1 sh -c "cd $work && exec $dome run --hosts $work/hosts $where"
ended_well default
printf '%s\n' "0 h1 $work" "1 h2 $work" "2 h3 $work" >expected.3
same "one task for each host by default" expected.3 default.out
clean where

say "slots: a host named twice has those of both lines; PVM's own options stay"
printf '%s\n' "h2 slots=1 sp=500" "h1 slots=2" "h2 slots=2 # the second socket" h3 >slots
run slots on h1 sh -c "cd $work && exec $dome run --hosts $work/slots $where"
ended_well slots
printf '%s\n' "0 h1 $work" "1 h1 $work" "2 h2 $work" "3 h2 $work" "4 h2 $work" "5 h3 $work" >expected.slots
same "as many tasks as slots" expected.slots slots.out
run more on h1 sh -c "cd $work && exec $dome run --hosts $work/slots -n 8 $where"
ended_well more
cut -d' ' -f2 more.out | uniq -c | tr -s ' \n' ' ' | grep -qx ' 4 h1 3 h2 1 h3 ' || fail "more tasks than slots: $(cat more.out)"
echo "h2 slots=0" >slots
run none on h1 "$dome" run --hosts "$work/slots" "$where"
failed_with none "slots=N, N from 1 on"
clean slots

say "several at a time"
pids=()
for i in 1 2 3; do
    run "many$i" on h$i sh -c "printf 'h1\nh2\nh3\n' | grep -v h$i >$work/others.$i;
        exec $dome run --hosts $work/others.$i -n 5 $cg $matrix" &
    pids+=($!)
done
wait "${pids[@]}"
for i in 1 2 3; do
    [ -z "$(errors many$i)" ] || fail "many$i: $(errors many$i)"
    same "three programs at once" alone.out many$i.out
done
clean many

say "a virtual machine of the user's: one task for each host"
vm_start h1 h2 h3
run own on h1 sh -c "cd $work && exec $where"
ended_well own
same "one task for each host by default" expected.3 own.out
run own_cg on h1 "$cg" --dome-tasks 6 "$matrix"
ended_well own_cg
same "cg on one host and on three" alone.out own_cg.out
run own_run on h1 "$dome" run -n 5 "$cg" "$matrix"
ended_well own_run
same "cg by dome run in the user's virtual machine" alone.out own_run.out

say "typed into its console"
vm_type "spawn -6 -> $cg $matrix"
until_true vm_shows finished || fail "spawn: no end: $(cat console.out)"
sed -n 's/^\(pvm> \)*\[[0-9]*:t[0-9a-f]*\] //p' console.out | grep -v '^EOF$' >spawned.out
same "cg typed into the console" alone.out spawned.out
"$lab" ps | grep -F "$cg" && fail "tasks are left in the virtual machine"
vm_stop
clean console

finish
