# For scripts: checks that are counted, and a directory of their own. Sourced, not run.
set -u
failures=0

skip() {
    echo "skipped: $*"
    exit 77
}

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# Ends the test.
finish() {
    [ "$failures" -eq 0 ] && echo "ok" || echo "$failures failed"
    exit $((failures > 0))
}

# Goes to a new directory, $work, which is removed in the end.
own_directory() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/dome-test.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 1
}

same() { # WHAT FILE FILE
    cmp -s "$2" "$3" || fail "$1: $2 and $3 differ: '$(head -c 300 "$2")', '$(head -c 300 "$3")'"
}

# Of the last run, whose status is in $status and whose words are in err: it has failed with a status and one line that has a text in it.
refused() { # WHAT STATUS TEXT
    [ "$status" -eq "$2" ] || fail "$1: status $status, not $2: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "$1: not one line: $(cat err)"
    grep -qF -- "$3" err || fail "$1: '$3' is not in: $(cat err)"
}
