#!/bin/bash
# matmul makes its own input, multiplies with the same bits for any number of tasks, agrees with its twin, and refuses bad files.
. "$(dirname "$0")/../support/programs.bash"
export OPENBLAS_NUM_THREADS=1
for tasks in $counts; do
    run "$tasks" matmul --generate 150 A.npy B.npy
    well "--generate, $tasks tasks"
    [ -f expected_A.npy ] || cp A.npy expected_A.npy
    [ -f expected_B.npy ] || cp B.npy expected_B.npy
    same "--generate, $tasks tasks" expected_A.npy A.npy
    same "--generate, $tasks tasks" expected_B.npy B.npy
done
cmp -s A.npy B.npy && fail "both matrices are the same"
for tasks in $counts; do
    rm -f C.npy
    run "$tasks" matmul A.npy B.npy C.npy
    well "$tasks tasks"
    [ -f expected ] || cp out expected
    [ -f expected_C.npy ] || cp C.npy expected_C.npy
    same "$tasks tasks" expected out
    same "$tasks tasks" expected_C.npy C.npy
done
cat expected
"$examples/sequential/matmul" A.npy B.npy C.npy >twin || fail "sequential: status $?"
for file in expected twin; do
    awk '{ printf "%s %s %s %.11e\n", $2, $3, $4, $6 }' $file >$file.norm
done
same "norm of the product" expected.norm twin.norm

# matrix FILE ROWS COLUMNS DESCR [BYTES]: a .npy file of zeros
matrix() {
    local header="{'descr': '$4', 'fortran_order': False, 'shape': ($2, $3), }"
    printf "\\x93NUMPY\\x01\\x00\\x76\\x00%-117s\\n" "$header" >"$1"
    head -c "${5:-$(($2 * $3 * 8))}" /dev/zero >>"$1"
}
matrix few.npy 7 3 '<f8'
run "$most" matmul few.npy few.npy C.npy
refused "shapes" 1 "A has not as many columns as B has rows"
matrix short.npy 3 7 '<f8' 100
run "$most" matmul few.npy short.npy C.npy
refused "a truncated file" 1 "short.npy"
matrix single.npy 3 7 '<f4' 84
run "$most" matmul few.npy single.npy C.npy
refused "floats" 1 "the matrices must be of doubles"
matrix fits.npy 3 7 '<f8'
run "$most" matmul few.npy fits.npy missing/C.npy
refused "no directory" 1 "missing/C.npy"
matrix none.npy 0 3 '<f8'
run "$most" matmul none.npy fits.npy C.npy
well "no rows in A"
[ "$(cat out)" = "C.npy: 0 x 7, norm 0.000000000000000e+00  0x0p+0" ] || fail "no rows in A: $(cat out)"
"$examples/sequential/matmul" none.npy fits.npy C.npy >twin || fail "sequential, no rows in A: status $?"
same "no rows in A" out twin
run "$most" matmul few.npy missing.npy C.npy
refused "no file" 1 "missing.npy"
for arguments in "" "A.npy B.npy" "--generate 0 A.npy B.npy" "--generate x A.npy B.npy" "--help"; do
    run "$most" matmul $arguments
    refused "arguments '$arguments'" 2 "matmul: "
done
finish
