#!/bin/bash
# The report's program prints the report's number, however many tasks there are.
. "$(dirname "$0")/../support/programs.bash"
echo "The dot product is 32153.6" >expected
for tasks in $counts; do
    run "$tasks" inner_product
    well "$tasks tasks"
    same "$tasks tasks" expected out
done
"$examples/sequential/inner_product" >out || fail "sequential: status $?"
same sequential expected out
finish
