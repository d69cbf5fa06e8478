# For tests with domed and Corosync on the hosts of a lab: sourced behind lab.bash; `in_lab_with_daemons N "$@"` is next. $domed is the
# daemon, $elastic a program that can change.
domed=$DOME_BUILD_DIR/tools/domed elastic=$DOME_BUILD_DIR/tests/programs/elastic

in_lab_with_daemons() {
    local i
    PATH=$PATH:/usr/sbin:/sbin
    command -v corosync >/dev/null || skip "corosync is not installed"
    "$domed" --version | grep -q "built without" && skip "domed was built without Corosync"
    in_lab "$@"
    export PVM_ALLOW_ROOT=1 PVM_ROOT=${PVM_ROOT:-/usr/lib/pvm3}
    unset DOME_DAEMON
    {
        printf 'totem {\n version: 2\n cluster_name: lab\n transport: knet\n crypto_cipher: none\n crypto_hash: none\n token: 1000\n}\n'
        printf 'quorum {\n provider: corosync_votequorum\n}\nlogging {\n to_stderr: no\n to_logfile: yes\n logfile: /tmp/corosync.log\n to_syslog: no\n}\n'
        printf 'nodelist {\n'
        for ((i = 1; i <= ${#hosts[@]}; i++)); do printf ' node {\n  ring0_addr: 10.99.0.%s\n  nodeid: %s\n  name: h%s\n }\n' $i $i $i; done
        printf '}\n'
    } >"$work/corosync.conf"
}

# HOST: Corosync there, with places of its own for its lock and its state
corosync_on() {
    on "$1" cp "$work/corosync.conf" /tmp # the lab's files are in /run, too
    on "$1" unshare -m bash -c "mount -t tmpfs none /run && mkdir -p /run/lock && mkdir -p /var/lib/corosync && \
        mount -t tmpfs none /var/lib/corosync && exec corosync -c /tmp/corosync.conf" </dev/null >>"$work/corosync.$1" 2>&1
}

# HOST [OPTION...]
domed_on() {
    local host=$1
    shift
    on "$host" bash -c "$domed --engine corosync --name $host --state /tmp/domed --socket /tmp/domed.sock --slots 4 $* \
        >>$work/domed.$host 2>&1 </dev/null & echo \$! >/tmp/domed.pid"
}

# HOST: the pid of its daemon there
daemon_of() {
    on "$1" cat /tmp/domed.pid
}

ps_on() {
    on "$1" "$dome" ps --submitted --json 2>/dev/null
}

# HOST PROGRAM NAME: what the table says of it there
value() {
    local text line
    text=$(ps_on "$1")
    while IFS= read -r line; do
        [[ $line == *"\"$2\""*"\"$3\": "* || $line == *"\"$3\": "*"\"$2\""* ]] || continue
        line=${line##*"\"$3\": "}
        line=${line#\"}
        echo "${line%%[\",\}]*}"
    done <<<"$text"
}

is() {
    [ "$(value "$1" "$2" "$3")" = "$4" ]
}

# HOST COUNT: so many hosts are there
there() {
    local text line count=0
    text=$(on "$1" "$dome" hosts --daemons 2>/dev/null)
    while IFS= read -r line; do
        [[ $line != *" there "* ]] || count=$((count + 1))
    done <<<"$text"
    [ $count -eq "$2" ]
}

# HOST...: they have one table
equal() {
    local host table first=
    for host; do
        table=$(ps_on "$host")
        [ -n "$table" ] && [ "$table" = "${first:=$table}" ] || return
    done
}

await() {
    local what=$1
    shift
    until_true "$@" || fail "waited for: $what; $(ps_on h3); $(on h3 "$dome" hosts --daemons); $(cat "$work"/domed.h?)"
}
