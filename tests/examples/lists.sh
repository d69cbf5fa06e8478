#!/bin/bash
# A structure that the library does not know is moved between tasks, and keeps its values.
. "$(dirname "$0")/common"
for tasks in $counts; do
    run "$tasks" lists
    well "$tasks tasks"
    [ -f expected ] || cp out expected
    same "$tasks tasks" expected out
done
cat expected
[ "$(awk '{ print $NF }' expected | sort -u | wc -l)" -eq 1 ] || fail "the sum is another one after moving"
finish
