#!/bin/bash
# The programs written for PVM by hand, on a daemon of their own.
. "$(dirname "$0")/../support/programs.bash"
if [ ! -d "$examples/pvm" ]; then
    echo "skipped: built without PVM"
    exit 77
fi
export PVM_ROOT=${PVM_ROOT:-/usr/lib/pvm3} PVM_TMP=$work PVM_VMID=examples PVM_ALLOW_ROOT=1
unset PVMSOCK
daemon=$PVM_ROOT/lib/pvmd
[ -x "$daemon" ] || daemon=$(command -v pvmd) || {
    echo "skipped: no PVM daemon"
    exit 77
}
mkfifo address
"$daemon" >address 2>daemon.err </dev/null &
pid=$!
# A daemon of PVM's that does not end is known.
end_daemon() {
    kill $pid 2>/dev/null
    for _ in {1..600}; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL $pid 2>/dev/null && echo "the daemon did not end"
    wait $pid
    rm -rf "$work"
}
trap end_daemon EXIT
read -r -t 60 address <address || fail "the daemon did not start: $(cat daemon.err)"
export PVMSOCK=$address

echo "The dot product is 32153.6" >expected
for workers in 1 3; do
    "$examples/pvm/inner_product" $workers >out || fail "inner_product: status $?"
    same "$workers workers" expected out
done
"$examples/matmul" --dome-transport self --generate 40 A.npy B.npy || fail "matmul --generate: status $?"
"$examples/sequential/matmul" A.npy B.npy C.npy >expected || fail "sequential: status $?"
for workers in 1 3; do
    "$examples/pvm/matmul" A.npy B.npy C.npy $workers >out || fail "matmul: status $?"
    for file in expected out; do
        awk '{ printf "%s %s %s %.11e\n", $2, $3, $4, $6 }' $file >$file.norm
    done
    same "$workers workers" expected.norm out.norm
done
"$examples/pvm/matmul" A.npy missing.npy C.npy >out 2>err
status=$?
refused "no file" 1 "missing.npy: No such file or directory"
finish
