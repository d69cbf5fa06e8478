#!/bin/bash
# As many tasks as one daemon can have, each with three connections to the hub, from a login's limit on open files; and 400 where
# that is also the most: with the connections that they need by default.
starter=$DOME_BUILD_DIR/tests/programs/starter
hard=$(ulimit -Hn)
if [ "$hard" != unlimited ] && [ "$hard" -lt 1600 ]; then
    echo "skipped: the limit on open files is $hard"
    exit 77
fi
[ "$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)" -ge 8000 ] || { echo "skipped: less than 8 GB of memory are free"; exit 77; }
ulimit -Sn 1024

run() # TASKS COMMAND...
{
    local tasks=$1 said status
    shift
    said=$(timeout 300 "$@" sum --dome-tasks "$tasks" --dome-timeout 60 2>&1)
    status=$?
    said=$(grep -v "^dome: running as root" <<<"$said")
    [ $status = 0 ] && [ "$said" = "$tasks tasks, sum 500" ] && return
    echo "$tasks tasks: status $status: ${said:0:500}"
    exit 1
}

DOME_OPTIONS="--dome-output all" run 480 "$starter"
run 400 prlimit --nofile=1024:1024 "$starter"
