#!/bin/bash
# md prints the same as its sequential twin, byte by byte, whatever the number of tasks and whatever moves its data; what LAMMPS
# prints for the same atoms; and it refuses what it should.
. "$(dirname "$0")/../support/programs.bash"
melt=$DOME_SOURCE_DIR/examples/data/lj-melt-4000
cp "$melt.data" melt.data

# The smallest box in which an atom does not meet another one twice, one that is no cube, gas with many empty cells, a file.
for arguments in "--cells 3 --steps 25 --thermo 5" "--cells 3x5x4 --steps 12 --thermo 0 --temperature 0.5" \
    "--cells 4 --density 0.01 --steps 10 --thermo 3" "melt.data --steps 50"; do
    "$examples/sequential/md" $arguments >expected || fail "sequential $arguments: status $?"
    grep -Eq "^after [0-9]+ steps: positions [0-9a-f]+, velocities [0-9a-f]+\$" expected || fail "$arguments: $(cat expected)"
    for tasks in $counts; do
        run "$tasks" md $arguments
        well "$arguments, $tasks tasks"
        same "$arguments, $tasks tasks" expected out
    done
    for options in "random --dome-check-pointers" "global --dome-balance-every 5" "ring --dome-balance-every 3"; do
        run "$most" md $arguments --dome-balance $options
        well "$arguments, $options"
        same "$arguments, $options" expected out
    done
done
cat expected

# LAMMPS: all digits that it prints for the start, five for step 50, then averages over times at which trajectories are far from
# each other, to within the fluctuation.
"$examples/sequential/md" melt.data >long || fail "sequential, 500 steps: status $?"
cmp -s <(sed -n '3,4p' expected) <(sed -n '3,4p' long) || fail "lines of the first 50 steps differ"
compare() {
    awk -v what="$1" '
    function off(a, b, limit) { return (a > b ? a - b : b - a) > limit }
    FNR == 1 { file++ }
    $1 !~ /^[0-9]+$/ || NF != 5 { next }
    file == 1 { for (k = 1; k <= 5; k++) wanted[$1, k] = $k; known++; next }
    {
        lines++
        for (k = 2; k <= 5; k++) {
            w = wanted[$1, k]; size = w < 0 ? -w : w
            if ($1 == 0 && off($k, w, size * 5e-10) || $1 == 50 && off($k, w, size * 5e-6)) {
                print what ": step " $1 ": " $k " and not " w; bad = 1
            }
            if ($1 >= 100) { sum[k] += $k; sum_wanted[k] += w; square[k] += w * w; n[k]++ }
        }
    }
    END {
        for (k = 2; k <= 5; k++) {
            mean = sum_wanted[k] / n[k]; spread = sqrt(square[k] / n[k] - mean * mean)
            if (off(sum[k] / n[k], mean, spread)) { print what ": column " k ": on average " sum[k] / n[k] " and not " mean; bad = 1 }
        }
        exit bad || lines != known
    }' "$melt.thermo" "$2" || fail "$1"
}
compare "not as LAMMPS" long

# The order of lines and sections in a file does not matter.
awk '/^Atoms/ { section = "atoms"; next } /^Velocities/ { section = "velocities"; next } NF == 0 { next }
    section == "" { print $0 "\n"; next }
    section == "atoms" { a[++na] = $0; next } { v[++nv] = $0 }
    END {
        print "Velocities # atomic\n"; for (k = nv; k >= 1; k--) print v[k]
        print "\nAtoms\n"; for (k = na; k >= 1; k--) print a[k]
    }' melt.data >turned.data
run "$most" md turned.data --steps 50
well "turned"
same "lines in another order" expected out

for program in "$RUN_MULTI $most $examples/md" "$examples/sequential/md"; do
    $program --help >out 2>err || fail "$program --help: status $?"
    grep -q '^usage: md' out || fail "$program --help: $(cat out)"
    for arguments in "--steps" "--steps -1" "--steps x" "--steps 5x" "--thermo -1" "--cells 0" "--cells 3x4" "--cells 3x4x5x6" \
        "--cells 1000" "--cells 99999999999999999999" "--density 0" "--density -1" "--temperature -1" "--temperature nan" "--other 3" \
        "melt.data melt.data" "melt.data --cells 4" "--density 0.5 melt.data"; do
        $program $arguments >out 2>err
        status=$?
        sed -i '/^dome: running as root: /d' err
        refused "arguments '$arguments'" 2 "md: usage: md"
    done
    for arguments in "--cells 2" "--cells 9x9x2" "--cells 4 --density 40"; do
        $program $arguments >out 2>err
        status=$?
        sed -i '/^dome: running as root: /d' err
        refused "arguments '$arguments'" 1 "the box is too small: its sides have to be at least 5"
    done
    $program missing.data >out 2>err
    status=$?
    sed -i '/^dome: running as root: /d' err
    refused "no file" 1 "missing.data: No such file or directory"
done

# bad TEXT: a file that both programs refuse with TEXT, before they print anything.
bad() {
    local text=$1
    cat >bad.data
    run "$most" md bad.data
    refused "$text" 1 "$text"
    grep -q 'md: bad.data: line [0-9]*: ' err || fail "$text: $(cat err)"
    [ ! -s out ] || fail "$text: printed $(cat out)"
    "$examples/sequential/md" bad.data >out 2>err
    status=$?
    refused "sequential: $text" 1 "$text"
    [ ! -s out ] || fail "sequential: $text: printed $(cat out)"
}

head="title

2 atoms
1 atom types
-3 3 xlo xhi
-3 3 ylo yhi
-3 3 zlo zhi"
atoms="Atoms # atomic

1 1 0 0 0
2 1 1.5 0 0 0 -1 0"
bad "line 0: the file is empty" </dev/null
bad "line 1: the file ends before the section Atoms" <<<"hello"
bad "line 3: neither a line of a header nor the name of a section: %%MatrixMarket" <<<"

%%MatrixMarket matrix"
bad "line 7: the file ends before the section Atoms" <<<"$head"
bad "the header promises no atoms" <<<"${head/2 atoms/}
$atoms"
bad "the header promises no atoms" <<<"${head/2 atoms/0 atoms}
$atoms"
bad "the header promises 90000000000 atoms, more than the rest of the file can hold" <<<"${head/2 atoms/90000000000 atoms}
$atoms"
bad "line 3: atoms is not a whole number: -2" <<<"${head/2 atoms/-2 atoms}
$atoms"
bad "line 3: atoms is too large: 99999999999999999999" <<<"${head/2 atoms/99999999999999999999 atoms}
$atoms"
bad "line 4: 2 atom: this program takes atoms of one type, and nothing else" <<<"${head/1 atom types/2 atom types}
$atoms"
bad "line 4: 7 bonds: this program takes atoms of one type, and nothing else" <<<"${head/1 atom types/7 bonds}
$atoms"
bad "line 6: the box has no extent from ylo = 3 to yhi = -3" <<<"${head/-3 3 ylo/3 -3 ylo}
$atoms"
bad "line 6: yhi is not a number: 0x3" <<<"${head/-3 3 ylo/-3 0x3 ylo}
$atoms"
bad "line 6: yhi is not a number: inf" <<<"${head/-3 3 ylo/-3 inf ylo}
$atoms"
bad "yhi is too large: 1e999" <<<"${head/-3 3 ylo/
-3 1e999 ylo}
$atoms"
bad "the header lacks zlo zhi" <<<"${head/-3 3 zlo zhi/}
$atoms"
bad "line 8: the box is tilted" <<<"$head
0 0 0 xy xz yz
$atoms"
bad "the file ends after 1 of 2 lines of Atoms" <<<"$head

Atoms

1 1 1.00000000000000000000000 2 3"
bad "Atoms ends after 1 of 2 lines" <<<"$head

Atoms

1 1 0 0 0

Velocities

1 0 0 0
2 0 0 0"
bad "not the name of a section: 3" <<<"$head
$atoms
3 1 1 1 1"
# section TEXT LINES: the file whose section Atoms has these two lines or more.
section() {
    bad "$1" <<<"$head

Atoms

$2"
}
section "line 12: atom 1 was given before" "1 1 0 0 0
1 1 1.5 0 0"
section "line 12: id 3 is outside 1 ... 2" "1 1 0 0 0
3 1 1.5 0 0"
section "line 11: id 0 is outside 1 ... 2" "0 1 0 0 0
1 1 1.5 0 0"
section "line 12: type 2 is outside 1 ... 1" "1 1 0 0 0
2 2 1.5 0 0"
section "line 12: an atom has 5 or 8 numbers" "1 1 0 0 0
2 1 1.5 0"
section "line 12: an atom has 5 or 8 numbers" "1 1 0 0 0
2 1 1.5 0 0 0"
section "line 12: position is not a number: 1.5.5" "1 1 0 0 0
2 1 1.5.5 0 0"
section "line 12: position is not a number: nan" "1 1 0 0 0
2 1 nan 0 0"
section "line 12: position is not a number: 1000000000" "1 1 0 0 0
2 1 $(printf '1%099d' 0) 0 0"
section "line 13: not the name of a section: 3" "1 1 0 0 0
2 1 1.5 0 0
3 1 1 1 1"
bad "Masses: this program takes 1 for type 1 and not 2 for type 1" <<<"$head

Masses
1 2

$atoms"
bad "the atom style is charge; this program takes atomic" <<<"$head

${atoms/atomic/charge}"
bad "a velocity has 4 numbers" <<<"$head
$atoms
Velocities

1 0 0"
bad "the file ends after 1 of 2 lines of Velocities" <<<"$head
$atoms
Velocities

1 0 0 0
#"
bad "a second section Atoms" <<<"$head
$atoms
$atoms"
bad "this program takes no section Bonds" <<<"$head
$atoms
Bonds"
head -c 300000 melt.data >short
bad "of 4000 lines of Velocities" <short
head -c 5000 /dev/urandom | tr -d '\0' >noise
bad "line " <noise

# What only the physics refuses.
cat >close.data <<<"$head
${atoms/1.5 0 0/0.1 0 0}"
for tasks in self "$most"; do
    run "$tasks" md close.data
    refused "close atoms" 1 "md: step 0: two atoms are too close to each other for this length of step"
done
finish
