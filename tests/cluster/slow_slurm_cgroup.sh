#!/bin/bash
# test_slurm.sh where Slurm knows the processes of a job by a cgroup (proctrack/cgroup): PVM's daemons and all tasks are in it, on all
# hosts, so suspension stops all of them.
here=$(dirname "$(readlink -f "$0")")
freezer=/sys/fs/cgroup/freezer
if ! [ -w "$freezer" ] || ! mkdir "$freezer/dome-test.$$" 2>/dev/null; then
    echo "skipped: no cgroups of version 1 can be made in $freezer"
    exit 77
fi
export FREEZER=$freezer/dome-test.$$

# What the lab's end leaves, once the kernel has ended its processes. What a job is suspended in does not end.
remove() {
    local state
    for _ in {1..100}; do
        for state in $(find "$FREEZER" -mindepth 1 -name freezer.state); do
            echo THAWED >"$state"
        done 2>/dev/null
        find "$FREEZER" -depth -type d -exec rmdir {} + 2>/dev/null
        [ -e "$FREEZER" ] || return
        sleep 0.1
    done
    echo "left: $FREEZER"
}
trap remove EXIT
"$BASH" "$here/test_slurm.sh"
