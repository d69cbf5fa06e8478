#!/bin/bash
# Hosts on which a program cannot start: one clear line that names the host, and nothing left running.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
where=$DOME_BUILD_DIR/tests/cluster/where
programs=$(dirname "$where")
run_where() { # NAME OPTION...
    local name=$1
    shift
    run "$name" on h1 "$dome" run --hosts "$work/hosts" "$@" "$where"
}

say "the program does not exist on one host"
on h3 mount -t tmpfs none "$programs"
run_where missing -n 6
failed_with missing "where cannot be started on host h3: the program does not exist there"
clean missing
vm_start h1 h2 h3
run missing_own on h1 "$where"
failed_with missing_own "where cannot be started on host h3: the program does not exist there"
"$lab" ps | grep -F "$where" && fail "tasks are left"
run only_two on h1 "$where" --dome-tasks 2
ended_well only_two
vm_stop
clean missing_own
on h3 umount "$programs"

say "the program cannot run on one host"
on h3 mount -t tmpfs none "$programs"
on h3 sh -c "printf '#!/bin/sh\nexit 7\n' >$where; chmod +x $where"
run_where broken -n 3
failed_with broken "task 2 on host h3 ended before it joined the program"
clean broken
on h3 umount "$programs"

say "no sshd"
"$lab" kill h2
run_where no_sshd -n 3
failed_with no_sshd "host h2 cannot be added: .*Connection refused"
clean no_sshd
"$lab" sshd h2

say "cut off from the beginning"
"$lab" cut h2
run_where unreachable -n 3
failed_with unreachable "host h2 cannot be added: .*port 22:"
"$lab" mend h2
clean unreachable

say "several hosts that are not there"
printf '%s\n' nowhere h2 "h9 # a comment" >hosts
run_where unknown -n 3
failed_with unknown "host nowhere cannot be added" "host h9 cannot be added"
clean unknown

say "no PVM on one host"
printf '%s\n' h2 h3 >hosts
on h3 mount -t tmpfs none /usr/lib/pvm3
cp "$(readlink -f /usr/bin/pvmd)" pvmd.keep
on h3 sh -c "mkdir -p /usr/lib/pvm3 && : >$work/nothing && mount --bind $work/nothing $(readlink -f /usr/bin/pvmd)"
run_where no_pvm -n 3
failed_with no_pvm "host h3 cannot be added: .*pvmd: (not found|Permission denied)"
on h3 umount "$(readlink -f /usr/bin/pvmd)"
on h3 umount /usr/lib/pvm3
clean no_pvm

say "the first host's name is a loopback address"
sed 's/^10.*[ ]h1$/127.0.1.1 h1/' "$LAB/hosts" >hosts.loopback
on h1 mount --bind "$work/hosts.loopback" /etc/hosts
run_where loopback -n 3
ended_well loopback # an address of an interface serves
run loopback_named on h1 "$dome" run --hosts "$work/hosts" --address h1 "$where"
failed_with loopback_named "hosts cannot be added: h1 is a loopback address" "[-]-address"
run address_unknown on h1 "$dome" run --hosts "$work/hosts" --address nowhere "$where"
failed_with address_unknown "hosts cannot be added: the address nowhere of this host is not known"
clean loopback

say "in a machine of the user's that cannot add hosts"
sed 's/^127.0.1.1/127.0.0.1/' hosts.loopback >hosts.local
on h1 umount /etc/hosts
on h1 mount --bind "$work/hosts.local" /etc/hosts
vm_start h1
vm_type "add h2"
until_true vm_shows 'is Loopback' || fail "a master on loopback adds hosts: $(cat console.out)"
run own_loopback on h1 "$where"
ended_well own_loopback
grep -q '^0 h1 ' own_loopback.out || fail "no task on the only host: $(cat own_loopback.out)"
vm_stop
on h1 umount /etc/hosts
clean own_loopback

finish
