#!/bin/bash
# The library and its tools name Dome's environment variables in one header alone, and docs/running.md describes those for users.
. "$(dirname "$0")/../support/checks.bash"
cd "${DOME_SOURCE_DIR:?}" || exit 1
header=src/system/environment_variables.h
variables=$(sed -n 's/^#define DOME_VARIABLE_[A-Z_]* *"\([A-Z_]*\)".*/\1/p' "$header")
[ "$(wc -w <<<"$variables")" -ge 10 ] || fail "$header defines only: $variables"
for variable in $variables; do
    words=$(grep -rn --include='*.[ch]' "\"$variable\"" src tools | grep -v "^$header:")
    [ -z "$words" ] || fail "$variable stands outside of $header: $words"
done
words=$(grep -rnE --include='*.[ch]' 'env\w*\((environment, )?"DOME_' src tools)
[ -z "$words" ] || fail "a variable that $header does not name: $words"

# Each section of the header begins with a line of this form.
users=$(awk '/^\/\* ---- / { users = /for users/ } users && match($0, /"DOME_[A-Z_]*"/) { print substr($0, RSTART + 1, RLENGTH - 2) }' "$header")
[ "$(wc -w <<<"$users")" -ge 3 ] || fail "$header names for users only: $users"
for variable in $users; do
    grep -q "^|.*\`$variable\`" docs/running.md || fail "docs/running.md does not describe $variable"
done
[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
