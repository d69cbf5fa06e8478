#!/bin/bash
# cg solves the real matrix with the same bits for any number of tasks, and refuses what it should.
. "$(dirname "$0")/../support/programs.bash"
cp "$matrix" lund_a.mtx

for tasks in $counts; do
    run "$tasks" cg lund_a.mtx
    well "$tasks tasks"
    [ -f expected ] || cp out expected
    same "$tasks tasks" expected out
done
cat expected
awk '/^relative residual:/ { found = ($3 + 0 < 1e-10 && $4 ~ /^0x1\.[0-9a-f]*p-[0-9]+$/) } END { exit !found }' expected ||
    fail "the relative residual is not below 1e-10"

# The twin brackets its sums differently, so only most of the digits agree.
"$examples/sequential/cg" lund_a.mtx >twin || fail "sequential: status $?"
for file in expected twin; do
    awk '/^norm/ { printf "%.10e\n", $5 }' $file >$file.norm
done
same "norm of the solution" expected.norm twin.norm

run "$most" cg --tolerance 1e-4 lund_a.mtx
well "--tolerance"
awk '/^relative residual:/ { found = ($3 <= 1e-4 && $3 > 1e-11) } END { exit !found }' out || fail "--tolerance: $(cat out)"

run "$most" cg --max-iterations 3 lund_a.mtx
refused "--max-iterations" 1 "the tolerance was not reached"
grep -q '^iterations: *3$' out || fail "--max-iterations 3: $(cat out)"

for arguments in "" "--tolerance" "--tolerance 0 lund_a.mtx" "--tolerance x lund_a.mtx" "--max-iterations -1 lund_a.mtx" \
    "lund_a.mtx lund_a.mtx" "--other lund_a.mtx"; do
    run "$most" cg $arguments
    refused "arguments '$arguments'" 2 "cg: usage: cg"
done

# Pipelined: the same bits for any number of tasks, and as good a solution.
for tasks in $counts; do
    run "$tasks" cg_pipelined 40
    well "cg_pipelined, $tasks tasks"
    [ -f pipelined ] || cp out pipelined
    same "cg_pipelined, $tasks tasks" pipelined out
done
awk '/^relative residual:/ { found = $3 + 0 < 1e-7 } END { exit !found }' pipelined || fail "cg_pipelined: $(cat pipelined)"
run "$most" cg_pipelined 0
refused "cg_pipelined 0" 2 "cg_pipelined: usage: cg_pipelined"

banner="%%MatrixMarket matrix coordinate real"
# bad DOME TWIN: what each says of a matrix
bad() {
    cat >bad.mtx
    run "$most" cg bad.mtx
    refused "$1" 1 "$1"
    [ ! -s out ] || fail "$1: printed $(cat out)"
    "$examples/sequential/cg" bad.mtx >out 2>err
    status=$?
    refused "sequential: $2" 1 "$2"
}
bad "'bad.mtx' is not a Matrix Market file" "bad.mtx: line 1: not a Matrix Market file" <<<"hello"
bad "'bad.mtx' is empty" "bad.mtx: line 0: the file is empty" </dev/null
bad "'bad.mtx', line 4: row 3 is outside 1 ... 2" "bad.mtx: line 4: row 3 is outside 1 ... 2" <<<"$banner symmetric
2 2 2
1 1 1
3 2 1"
bad "'bad.mtx' has 2 entries, but promises 3" "bad.mtx: line 4: the file ends after 2 of 3 entries" <<<"$banner general
2 2 3
1 1 1.00000000000
2 2 1.00000000000"
bad "holds a matrix in array format" "the format is array" <<<"%%MatrixMarket matrix array real general"
bad "not positive definite" "not positive definite" <<<"$banner general
2 2 2
1 1 1
2 2 -1"
bad "not positive definite" "not positive definite" <<<"$banner symmetric
2 2 3
1 1 1
2 1 -2
2 2 1"
bad "the matrix is not symmetric" "the matrix is not symmetric: entry (1, 2) is 1, entry (2, 1) is -1" <<<"$banner general
2 2 4
1 1 2
1 2 1
2 1 -1
2 2 2"
bad "the matrix is not symmetric" "the matrix is not symmetric: entry (2, 3) is 0.10000000000000001, entry (3, 2) is 0" <<<"$banner general
3 3 4
1 1 2
2 2 2
3 3 2
2 3 0.1"
bad "too small to divide by" "entry (1, 1) is 1e-310, too small to divide by" <<<"$banner symmetric
2 2 2
1 1 1e-310
2 2 2"
bad "too large for double precision" "too large for double precision" <<<"$banner symmetric
2 2 3
1 1 1e-300
2 1 1e300
2 2 1e300"

# Entries that are missing are 0, and so is one that says so.
cat >general.mtx <<<"$banner general
2 2 3
1 1 2
1 2 0
2 2 4"
run "$most" cg general.mtx
well "a general matrix that is symmetric"
run "$most" cg missing.mtx
refused "no file" 1 "'missing.mtx' cannot be opened: No such file or directory"
finish
