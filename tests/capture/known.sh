#!/bin/bash
# Images that earlier builds wrote (versions 4 and 7, and 6 and 8 of Dome programs), and those of this one (9 and 10): programs go on
# from them, and dome ckpt shows them. What a version has in it stays so: this build writes those of 9 and 10 again, the same bytes.
. "$(dirname "$0")/../support/captures.bash"
export PVM_ALLOW_ROOT=1
known=$DOME_SOURCE_DIR/tests/data/images
dome=$DOME_BUILD_DIR/tools/dome

cat >queens.wanted <<'END'
4 ways to place 6 queens
END
cat >circle.wanted <<'END'
step 4: 1000, 4 blocks of 10
step 5: 1500, 5 blocks of 15
step 6: 2100, 6 blocks of 21
END
for version in 4:queens 7:queens 9:queens 6:circle 8:circle 10:circle; do
    program=${version#*:} version=${version%%:*}
    cp -r "$known/$version" "dir$version"
    run "$programs/$program" --dome-checkpoint-dir "dir$version" --dome-restart
    well "version $version" '^dome: going on from checkpoint 1'
    same "version $version" out "$program.wanted"
    run "$dome" ckpt show --all "$known/$version:1"
    well "show of version $version"
    sed 1,3d out >"$version.shown"
done
grep -q '^        above = #3.column$' 7.shown || fail "show: $(cat 7.shown)"
grep -q '^        heap 6: struct node = {step = 4, next = heap 3}$' 8.shown || fail "show: $(cat 8.shown)"
for pair in 4:7 7:9 6:8 8:10; do
    same "versions ${pair/:/ and }" "${pair%:*}.shown" "${pair#*:}.shown"
    run "$dome" ckpt diff "$known/${pair%:*}:1" "$known/${pair#*:}:1"
    sed -i "/^program: /d" out # earlier builds knew it by the name of its file
    [ ! -s out ] && [ ! -s err ] || fail "diff of versions $pair: $status $(cat out err)"
done

run "$programs/queens" 6 --dome-checkpoint-dir new9 --dome-checkpoint-every 30
well queens
run "$programs/circle" --dome-checkpoint-dir new10 --dome-checkpoint-every 4
well circle
for version in 9 10; do
    same "version $version" "$known/$version/ckpt-00000001.dckpt" new$version/ckpt-00000001.dckpt
done
finish
