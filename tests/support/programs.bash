# For scripts that run the examples: the programs, and checks. Sourced, not run.
. "$(dirname "${BASH_SOURCE[0]}")/checks.bash"
: "${DOME_BUILD_DIR:?}" "${DOME_SOURCE_DIR:?}" "${RUN_MULTI:?}"
examples=$DOME_BUILD_DIR/examples
matrix=$DOME_SOURCE_DIR/examples/data/lund_a.mtx
own_directory

# Without PVM there are no programs written for it, and programs run as one task.
counts="self 1 2 5"
[ -z "${DOME_TEST_ALL:-}" ] || counts="self 1 2 3 5 7"
grep -q "^DOME_PVM:BOOL=ON" "$DOME_BUILD_DIR/CMakeCache.txt" || counts=self
most=${counts##* }

# run TASKS NAME ARGUMENTS...: leaves $status, and what was printed in out and err.
run() {
    local tasks=$1 name=$2
    shift 2
    "$RUN_MULTI" "$tasks" "$examples/$name" "$@" >out 2>err
    status=$?
    # PVM does not run as root unless it is told to, which the library says.
    sed -i '/^dome: running as root: /d' err
}

# The last run has to have ended well, without a word on standard error.
well() {
    [ $status -eq 0 ] || fail "$1: status $status"
    [ ! -s err ] || fail "$1: on standard error: $(cat err)"
}

# twins NAME PATTERN "ARGUMENTS"...: the program prints the same as its sequential twin, for any number of tasks, with the last
# arguments also while data moves all the time; a line matches.
twins() {
    local name=$1 pattern=$2 arguments
    shift 2
    for arguments in "$@"; do
        # shellcheck disable=SC2086 # words
        "$examples/sequential/$name" $arguments >expected || fail "sequential $arguments: status $?"
        grep -Eq -- "$pattern" expected || fail "sequential $arguments: $(cat expected)"
        for tasks in $counts; do
            # shellcheck disable=SC2086
            run "$tasks" "$name" $arguments
            well "$name $arguments, $tasks tasks"
            same "$name $arguments, $tasks tasks" expected out
        done
    done
    for tasks in $counts; do
        # shellcheck disable=SC2086
        run "$tasks" "$name" $arguments --dome-balance random --dome-balance-every 2
        well "$name $arguments, $tasks tasks, moving"
        same "$name $arguments, $tasks tasks, moving" expected out
    done
}

# NAME: waits until this file of the directory is there, or the program $pid has ended.
until_there() {
    for _ in {1..2400}; do
        [ ! -e "dir/$1" ] || return
        kill -0 "$pid" 2>/dev/null || {
            fail "it ended before $1 was there: $(cat err)"
            return
        }
        sleep 0.05
    done
    fail "it has not written $1: $(cat err)"
}
