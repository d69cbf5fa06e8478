#!/bin/bash
# scripts/test shows what ctest says line by line, and ctest's last lines at its end. ctest is a script here, which goes on when its
# line has been seen.
set -u
work=$(mktemp -d) || exit 1
trap ': >"$work/seen"; wait; rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/build/Testing/Temporary"
: >"$work/build/Testing/Temporary/LastTest.log"
cat >"$work/bin/ctest" <<'END'
#!/bin/bash
echo "first line"
for _ in $(seq 600); do
    [ -e "$SEEN" ] && break
    sleep 0.1
done
echo "second line"
printf '\n50%% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.10 sec\n\nThe following tests FAILED:\n\t  2 - some.test (Failed)\n'
exit 8
END
# Nothing is built or installed.
printf '#!/bin/sh\nexit 0\n' >"$work/bin/cmake"
printf '#!/bin/sh\nexit 1\n' | tee "$work/bin/apt-get" >"$work/bin/sudo"
chmod +x "$work"/bin/*

fail() {
    echo "failed: $*"
    exit 1
}

exec {out}< <(DOME_BUILD_DIR=$work/build SEEN=$work/seen PATH=$work/bin:$PATH exec "$DOME_SOURCE_DIR/scripts/test")
pid=$!
seen=''
while [ "$seen" != "first line" ]; do
    IFS= read -r -t 30 -u "$out" seen || fail "ctest's first line does not come before its second"
done
: >"$work/seen"
rest=$(cat <&"$out")
wait "$pid"
[ $? -eq 8 ] || fail "another status than ctest's"
[ "$(grep -c 'second line' <<<"$rest")" -ge 1 ] || fail "$rest"
[ "$(tail -2 <<<"$rest")" = "Total Test time (real) =   0.10 sec
50% tests passed, 1 tests failed out of 2" ] || fail "its end: $rest"
grep -q 'some.test (Failed)' <<<"$rest" || fail "what failed: $rest"
echo ok
