# For scripts of captured programs: the programs, and checks. Sourced, not run.
. "$(dirname "${BASH_SOURCE[0]}")/checks.bash"
: "${DOME_BUILD_DIR:?}" "${DOME_SOURCE_DIR:?}"
programs=$DOME_BUILD_DIR/tests/capture
own_directory

# run COMMAND...: leaves $status, and what was printed in out and err.
run() {
    "$@" >out 2>err </dev/null
    status=$?
}

# The last run has to have ended well, without a word on standard error but lines that match a pattern.
well() { # WHAT [PATTERN]
    [ $status -eq 0 ] || fail "$1: status $status: $(cat err)"
    if [ -n "${2:-}" ]; then grep -v -- "$2" err >rest; else cp err rest; fi
    [ ! -s rest ] || fail "$1: on standard error: $(cat rest)"
}

# The numbers of the checkpoints in a directory.
numbers() {
    (cd "$1" && ls ckpt-*.dckpt) | sed 's/^ckpt-0*//; s/\.dckpt$//' | sort -n
}
