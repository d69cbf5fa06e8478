#!/bin/bash
# The command dome on a network: its doctor finds prepared faults and what mends them, and nothing afterwards; hosts come into the
# user's own virtual machine and leave it; programs on it are listed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
phase=$DOME_BUILD_DIR/tests/cluster/phase
export PVM_ALLOW_ROOT=1

# h1's files may change.
cp -a /etc "$work/etc" 2>/dev/null
on h1 mount --bind "$work/etc" /etc

these="h2 h3"

# NAME ID MEND [ENVIRONMENT...]: one thing is wrong, of this kind; the command that mends it matches. The command is in $mend.
finds() {
    settings=("${@:4}")
    local name=$1 id=$2 pattern=$3 wrong
    shift 3
    run "$name" on h1 env "$@" "$dome" doctor $these --json
    [ "$status" -eq 1 ] || fail "$name: status $status"
    wrong=$(grep '"state": "wrong"' "$name.out")
    [ "$(grep -c '' <<<"$wrong")" -eq 1 ] && [ -n "$wrong" ] || fail "$name: not one thing is wrong: '$wrong' $(cat "$name.err")"
    grep -q "\"id\": \"$id\"" <<<"$wrong" || fail "$name: it is not called $id: $wrong"
    mend=$(sed -n 's/.*"mend": "\(.*\)"}.*/\1/p' <<<"$wrong" | sed 's/\\\\/\\/g; s/\\"/"/g')
    grep -Eq -e "$pattern" <<<"$mend" || fail "$name: no '$pattern' in the mend '$mend'"
    echo "   $(sed 's/.*"host": \([^,]*\), "text": "\(.*\)", "mend".*/\1: \2/' <<<"$wrong"); mend: $mend"
}

well() { # NAME
    run "$1.well" on h1 "$dome" doctor h2 h3
    [ "$status" -eq 0 ] && grep -q '^nothing is wrong' "$1.well.out" || fail "$1: after the mend: $(cat "$1.well.out" "$1.well.err")"
    clean "$1"
}

# What is wrong is in the settings of this shell: the same with the mend typed into it.
well_with() { # NAME
    run "$1.well" on h1 env "${settings[@]}" sh -c "$mend
        exec $dome doctor h2 h3"
    [ "$status" -eq 0 ] && grep -q '^nothing is wrong' "$1.well.out" || fail "$1: after the mend: $(cat "$1.well.out" "$1.well.err")"
    clean "$1"
}

say "nothing is wrong"
well nothing

say "a daemon's file was left behind"
on h1 sh -c 'echo /tmp/pvmtmp1.0 >/tmp/pvmd.$(id -u)'
finds stale stale-daemon '^rm .*/tmp/pvmd'
on h1 sh -c "$mend"
well stale

say "the same on another host"
on h2 sh -c 'echo /tmp/pvmtmp1.0 >/tmp/pvmd.$(id -u)'
finds stale_there stale-daemon '^ssh h2 rm /tmp/pvmd'
on h1 sh -c "$mend"
well stale_there

say "the name of the host is a loopback address"
cp etc/hosts hosts.keep
sed -i 's/^10.*[ ]h1$/127.0.1.1 h1/' etc/hosts
finds loopback loopback 'sed .*10\.99\.0\.1 h1.* /etc/hosts$'
on h1 sh -c "$mend"
well loopback
cp hosts.keep etc/hosts

say "the host does not know its name"
sed -i '/[ ]h1$/d' etc/hosts
finds name host-name '/etc/hosts$'
on h1 sh -c "$mend" >/dev/null
well name
cp hosts.keep etc/hosts

say "no netbase"
cp etc/services services.keep
sed -i '/^exec[^a-z]/d' etc/services
finds netbase netbase 'apt-get install netbase'
cp services.keep etc/services
well netbase

say "no key for another host"
mv "$LAB/ssh/authorized_keys" keys.keep
these=h2
finds key ssh-key 'ssh-copy-id h2$'
mv keys.keep "$LAB/ssh/authorized_keys"
well key

say "a host whose key is not known"
these=h2
printf '#!/bin/sh\nexec ssh -F %s -o StrictHostKeyChecking=yes -o UserKnownHostsFile=%s "$@"\n' "$LAB/ssh_config" "$work/home/.ssh/known_hosts" >rsh
chmod +x rsh
mkdir -p home/.ssh
finds host_key ssh-host-key '^ssh-keyscan -H h2 >>' DOME_RSH="$work/rsh"
on h1 env HOME="$work/home" sh -c "$mend" 2>/dev/null
run host_key_well on h1 env DOME_RSH="$work/rsh" "$dome" doctor h2
[ "$status" -eq 0 ] && grep -q '^nothing is wrong' host_key_well.out || fail "host_key: after the mend: $(cat host_key_well.out)"
clean host_key

say "another key than before"
ssh-keygen -q -t ed25519 -N '' -f other.key
sed -n "s/^\([^ ]*\) ssh-ed25519 .*/\1 $(cut -d' ' -f1,2 other.key.pub | sed 's/[/&]/\\&/g')/p" home/.ssh/known_hosts >other.known
mv other.known home/.ssh/known_hosts
sed -i 's/-o StrictHostKeyChecking/-o HostKeyAlgorithms=ssh-ed25519 &/' rsh
finds other_key ssh-host-key '^ssh-keygen -R h2 && ssh-keyscan -H h2 >>' DOME_RSH="$work/rsh"
on h1 env HOME="$work/home" sh -c "${mend/-R h2/-f $work/home/.ssh/known_hosts -R h2}" >/dev/null 2>&1 # ssh-keygen looks the home up
run other_key_well on h1 env DOME_RSH="$work/rsh" "$dome" doctor h2
[ "$status" -eq 0 ] && grep -q '^nothing is wrong' other_key_well.out || fail "other_key: after the mend: $(cat other_key_well.out)"
clean other_key

say "no ssh, and one that fails"
finds ssh_missing ssh-missing 'apt-get install openssh-client$' DOME_RSH=/nowhere/ssh
printf '#!/bin/sh\necho no entry >&2\nexit 3\n' >noentry
chmod +x noentry
finds ssh_fails ssh '^ssh -v .*h2 true$' DOME_RSH="$work/noentry"
well ssh_fails

say "no sshd"
"$lab" kill h2
finds refused ssh-refused 'start ssh # on h2$'
"$lab" sshd h2
well refused

say "a host that is cut off"
"$lab" cut h2
finds cut host-down '^ping h2$'
"$lab" mend h2
well cut

say "a host that nobody knows"
these=h9
finds unknown host-unknown 'h9.* /etc/hosts'
these="h2 h3"
cp etc/hosts hosts.keep
on h1 sh -c "${mend/ADDRESS/10.99.0.2}" >/dev/null
run unknown_well on h1 env DOME_RSH="ssh -F $LAB/ssh_config -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null" "$dome" doctor h9
[ "$status" -eq 0 ] && grep -q '^nothing is wrong' unknown_well.out || fail "unknown: after the mend: $(cat unknown_well.out unknown_well.err)"
cp hosts.keep etc/hosts
clean unknown

pvmd=$(readlink -f /usr/lib/pvm3/lib/pvmd)
: >nothing
hide_pvm() {
    on "$1" mount -t tmpfs none /usr/lib/pvm3
    on "$1" mount --bind "$work/nothing" "$pvmd"
}
show_pvm() {
    on "$1" umount "$pvmd"
    on "$1" umount /usr/lib/pvm3
}

say "no PVM here"
these="h2 h3"
hide_pvm h1
finds no_pvm_here pvm-missing 'apt-get install pvm$'
show_pvm h1
well no_pvm_here

say "another version of Dome there"
on h3 mount -t tmpfs none /usr/local/bin
on h3 sh -c 'printf "#!/bin/sh\necho dome 0.0.9\n" >/usr/local/bin/dome; chmod +x /usr/local/bin/dome'
finds dome_version dome-version '^cmake --install build # the same version on h3'
on h3 umount /usr/local/bin
well dome_version

say "no PVM on another host"
these="h2 h3"
hide_pvm h3
finds no_pvm pvm-missing '^ssh h3 apt-get install pvm$'
show_pvm h3
well no_pvm

say "another version of PVM there"
sed 's/3\.4\.6/3.4.5/g' "$pvmd" >pvmd.other
chmod +x pvmd.other
on h3 mount --bind "$work/pvmd.other" "$pvmd"
finds version pvm-version '^ssh h3 apt-get install pvm '
on h3 umount "$pvmd"
well version

say "no room for files there"
on h3 mount -t tmpfs -o size=4k,nr_inodes=1 none /tmp
finds tmp_there tmp '^ssh h3 .*/tmp'
on h3 umount /tmp
well tmp_there

say "wrong settings"
long=/tmp/$(printf 'a%.0s' $(seq 80))
on h1 mkdir "$long"
cp -rs /usr/bin no-pvmd
rm -f no-pvmd/pvmd
finds root pvm-root '^export PVM_ROOT=/usr/lib/pvm3$' PVM_ROOT=/nowhere PATH="$work/no-pvmd"
well_with root
finds tmpdir tmp '^export TMPDIR=/tmp$' TMPDIR=/nowhere
well_with tmpdir
finds pvm_tmp pvm-tmp '^unset PVM_TMP$' PVM_TMP=/nowhere
well_with pvm_tmp
finds pvm_tmp_long pvm-tmp-long '^unset PVM_TMP$' PVM_TMP="$long"
well_with pvm_tmp_long
on h1 rmdir "$long"

say "several at once, as text"
run several on h1 env PVM_ROOT=/nowhere PATH="$work/no-pvmd" TMPDIR=/nowhere "$dome" doctor
[ "$status" -eq 1 ] && grep -q '^2 things are wrong$' several.out || fail "several: status $status: $(cat several.out)"
[ "$(grep -c '^wrong' several.out)" -eq 2 ] || fail "several: $(cat several.out)"
clean doctor

say "hosts of the user's virtual machine"
cat >rsh <<END
#!/bin/sh
host=\$1
shift
while [ \$# -gt 1 ]; do shift; done
exec ssh -F $LAB/ssh_config "\$host" "PVM_ROOT=${PVM_ROOT:-/usr/lib/pvm3} PVM_ALLOW_ROOT=1; export PVM_ROOT PVM_ALLOW_ROOT; \$1"
END
export PVM_RSH=$work/rsh

# NAME STATUS PATTERN ARGUMENT...: a line of dome hosts or of its error
hosts_say() {
    local name=$1 wanted=$2 pattern=$3
    shift 3
    run "$name" on h1 "$dome" hosts "$@"
    [ "$status" -eq "$wanted" ] || fail "$name: status $status: $(cat "$name.out" "$name.err")"
    [ -z "$pattern" ] || grep -Eq -e "$pattern" "$name.out" "$name.err" || fail "$name: no '$pattern' in $(cat "$name.out" "$name.err")"
}

hosts_say none 0 'no virtual machine of yours'
hosts_say none_json 0 '^\[\]$' --json
hosts_say none_remove 1 'no virtual machine' remove h2
hosts_say add 0 'dome hosts halt ends it' add h2
hosts_say two 0 '^h2 +LINUX'
hosts_say add_more 0 '' add h3 h2
hosts_say three 0 '"host": "h3".*"tasks": 0' --json
hosts_say unknown 1 'h9 cannot be added: there is no host of that name' add h9
hosts_say first 1 'dome hosts halt' remove h1
hosts_say stranger 1 'h9 is not in' remove h9

say "a program on it"
: >there.out
on h1 "$phase" sum --dome-tasks 6 >there.out 2>there.err &
program=$!
until_true grep -q there there.out || fail "it does not start: $(cat there.err)"
known() {
    on h1 "$dome" ps --json >ps.out
    [ "$(grep -c '"rank": .*"operations": [1-9]' ps.out)" -eq 6 ]
}
until_true known || fail "dome ps does not know its tasks: $(cat ps.out)"
[ "$(grep -c '"host": "h[23]"' ps.out)" -eq 4 ] && grep -q '"machine": "own"' ps.out || fail "dome ps: $(cat ps.out)"
on h1 "$dome" ps | grep -q '6 tasks on 3 hosts of your own virtual machine' || fail "dome ps: $(on h1 "$dome" ps)"
seen_from_h2() {
    on h2 "$dome" ps --json >ps2.out 2>ps2.err
    [ "$(grep -c '"rank": .*"operations": [1-9]' ps2.out)" -eq 6 ] && grep -q '"host": "h1", "command"' ps2.out
}
seen_from_h2 || fail "dome ps on another host does not know it: $(cat ps2.out ps2.err)"
on h2 "$dome" ps | grep -q '^[0-9]* on h1: ' || fail "dome ps on another host: $(on h2 "$dome" ps)"
hosts_say busy 1 'h3 has 2 tasks running: --force ends them' remove h3
hosts_say forced 0 '' remove h3 --force
wait $program
grep -q 'task [0-9] on host h3 is lost' there.err || fail "the program lives on without h3: $(cat there.err)"
hosts_say gone 0 '^h2 +LINUX'
grep -q '^h3' gone.out && fail "h3 is still there"
[ "$(on h1 "$dome" ps --json)" = "[]" ] || fail "dome ps lists a program that has ended"
[ "$(on h2 "$dome" ps --json)" = "[]" ] || fail "dome ps on another host lists a program that has ended"

say "a program whose hub is killed is not listed anywhere"
: >there.out
on h1 "$phase" sum --dome-tasks 2 >there.out 2>there.err &
program=$!
until_true grep -q there there.out || fail "it does not start: $(cat there.err)"
listed_from_h2() { on h2 "$dome" ps --json | grep -q '"host": "h1", "command"'; }
until_true listed_from_h2 || fail "dome ps on another host does not know it"
on h1 sh -c "kill -KILL $(on h1 "$dome" ps --json | sed -n 's/^ *{"pid": \([0-9]*\), "host".*/\1/p')"
wait $program
not_listed() { [ "$(on h2 "$dome" ps --json)" = "[]" ]; }
until_true not_listed || fail "dome ps on another host lists a program whose hub was killed"
hosts_say halt 0 '' halt
hosts_say halted 0 'no virtual machine of yours'
for host in "${hosts[@]}"; do
    on "$host" sh -c 'rm -f /tmp/pvml.* /tmp/pvmtmp*' # of PVM's own
done
clean hosts
finish
