#!/bin/bash
# In an allocation of Slurm: dome run takes its hosts and reaches them by steps, without ssh. The output is that of one task, also when
# a host is lost; nothing is left, whatever ends first. FREEZER (slow_slurm_cgroup.sh): a cgroup, in which Slurm has one for each job.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
PATH=$PATH:/usr/sbin:/sbin
for command in slurmctld slurmd srun salloc sbatch munged; do
    command -v $command >/dev/null || skip "$command of Slurm is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "Slurm's daemons start steps as root"
in_lab 3 "$@"
unset DOME_RSH PVM_RSH
export PVM_ALLOW_ROOT=1 SLURM_CONF=$work/slurm.conf
elastic=$DOME_BUILD_DIR/tests/programs/elastic
marks=$work/marks

cat >"$SLURM_CONF" <<END
ClusterName=lab
SlurmctldHost=h1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/tmp/munge/socket
StateSaveLocation=/tmp/slurm/state
SlurmdSpoolDir=/tmp/slurm/spool
SlurmctldPidFile=/tmp/slurm/slurmctld.pid
SlurmdPidFile=/tmp/slurm/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
ProctrackType=proctrack/$([ -n "${FREEZER:-}" ] && echo cgroup || echo linuxproc)
TaskPlugin=task/none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
JobRequeue=1
NodeName=h[1-3] CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nCgroupMountpoint=/tmp/cgroup\n' >"$work/cgroup.conf"
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"

# The hosts of a lab share a kernel: the cgroup of each is the root of what it sees.
in_cgroup=()
if [ -n "${FREEZER:-}" ]; then
    cat >"$work/in_cgroup" <<'END'
#!/bin/bash
mkdir -p "$FREEZER/$(hostname)" && echo $$ >"$FREEZER/$(hostname)/cgroup.procs" && mkdir -p /tmp/cgroup/freezer || exit
exec unshare -C bash -c 'mount -t cgroup -o freezer none /tmp/cgroup/freezer && exec "$@"' bash "$@"
END
    chmod +x "$work/in_cgroup"
    in_cgroup=("$work/in_cgroup")
fi

# HOST: munged and slurmd there, and on h1 the controller; each has its files in its own /tmp
slurm_on() {
    on "$1" bash -c "mkdir -p /tmp/munge /tmp/slurm/state /tmp/slurm/spool && chmod 755 /tmp/munge && munged --force --key-file=$work/munge.key \
        --socket=/tmp/munge/socket --pid-file=/tmp/munge/pid --log-file=/tmp/munge/log --seed-file=/tmp/munge/seed" </dev/null \
        >>"$work/munged.$1" 2>&1 || fail "munged on $1: $(cat "$work/munged.$1")"
    [ "$1" != h1 ] || on h1 slurmctld </dev/null >>"$work/slurm.h1" 2>&1 || fail "slurmctld: $(cat "$work/slurm.h1")"
    on "$1" "${in_cgroup[@]}" slurmd -N "$1" </dev/null >>"$work/slurm.$1" 2>&1 || fail "slurmd on $1: $(cat "$work/slurm.$1")"
}

up=("${hosts[@]}")

are_idle() {
    [ "$(on h1 sinfo -h -o '%D %t' 2>/dev/null)" = "$1 idle" ]
}

# Processes of programs and of PVM's daemons, on the hosts given or on all.
tasks() {
    "$lab" ps "$@" | awk -v program="$elastic" '$4 == program || $4 ~ /\/pvmd$/ { print $1, $4 }'
}

none_left() {
    local host
    [ -z "$(tasks)" ] && [ -z "$(for host in "${up[@]}"; do on "$host" find /tmp -xdev -maxdepth 1 -name 'dome-*'; done)" ]
}

# NAME: no process and no file of the program, now or in a moment
nothing_left() {
    until_true none_left || fail "$1: left behind: $(tasks); $(on h2 ls /tmp)"
}

for host in "${hosts[@]}"; do
    slurm_on "$host"
done
until_true are_idle 3 || fail "Slurm does not come up: $(on h1 sinfo 2>&1); $(tail -5 "$work"/slurm*.log)"
run alone on h1 "$elastic" 300 0 - --dome-transport self
ended_well alone
run long on h1 "$elastic" 2500 0 - --dome-transport self
ended_well long

say "its hosts, by host:tasks; a command on one of them"
run hosts on h1 salloc -Q -N3 -n5 -m plane=2 srun -N1 -n1 --overlap "$dome" slurm hosts
ended_well hosts
[ "$(tr '\n' ' ' <"$work/hosts.out")" = "h1:2 h2:2 h3:1 " ] || fail "hosts: $(cat "$work/hosts.out")"
run step on h1 salloc -Q -N3 srun -N1 -n1 --overlap "$dome" slurm step h3 "hostname; echo wrong >&2; sleep 0.2 & exit 7"
[ "$status" -eq 7 ] && [ "$(cat "$work/step.out")" = h3 ] && grep -qx wrong "$work/step.err" || fail "step: $status $(cat "$work/step".???)"
run step on h1 salloc -Q -N2 -w h1,h2 srun -N1 -n1 --overlap "$dome" slurm step h3 true
[ "$status" -ne 0 ] && grep -q "srun: error" "$work/step.err" || fail "a step on a host of others: $status $(cat "$work/step.err")"
run outside on h1 "$dome" slurm hosts
failed_with outside "this is not an allocation"

say "from a batch script: as many tasks as Slurm would start, on the hosts of the job"
cat >"$work/batch.sh" <<END
#!/bin/bash
exec "$dome" run "$elastic" 300 0 -
END
run batch on h1 sbatch -Q -W -N3 -n5 -o "$work/job.out" -e "$work/job.err" "$work/batch.sh"
[ "$status" -eq 0 ] || fail "batch: $status: $(cat "$work/job.err")"
diff "$work/alone.out" "$work/job.out" >/dev/null || fail "batch: other output: $(cat "$work/job.out")"
nothing_left batch

say "dome doctor looks at the hosts of the job"
run doctor on h1 salloc -Q -N2 -w h1,h2 srun -Q -N1 -n1 --overlap "$dome" doctor --json
[ "$status" -eq 0 ] && grep -q '"id": "slurm", "state": "ok".*h1=[12] h2=[12]' "$work/doctor.out" || fail "doctor: $status $(cat "$work/doctor.out")"
grep -q '"state": "ok", "host": "h2"' "$work/doctor.out" || fail "doctor does not look at h2: $(cat "$work/doctor.out")"

say "a job that Slurm begins again goes on from its checkpoint"
cat >"$work/again.sh" <<END
#!/bin/bash
"$dome" run "$elastic" 300 0 - --dome-checkpoint-dir "$work/again" --dome-checkpoint-every 50
END
run first on h1 sbatch -Q -W -N2 -n2 -o "$work/first.job" "$work/again.sh"
sed -i '2i export SLURM_RESTART_COUNT=1' "$work/again.sh"
run second on h1 sbatch -Q -W -N2 -n2 -o "$work/second.job" "$work/again.sh"
[ "$(tail -1 "$work/second.job")" = "$(tail -1 "$work/alone.out")" ] || fail "again: $(cat "$work/second.job")"
[ "$(grep -c '^step' "$work/second.job")" -lt 10 ] || fail "again: from the beginning: $(cat "$work/second.job")"
nothing_left again

say "from a login host, and by srun several times"
run login on h1 salloc -Q -N2 "$dome" run "$elastic" 300 0 -
failed_with login "run: this host is not in the allocation of Slurm's job"
run several on h1 salloc -Q -N2 srun -n2 --overlap "$dome" run "$elastic" 300 0 -
[ "$status" -ne 0 ] && grep -q "srun has started this command 2 times" "$work/several.err" || fail "several: $status $(cat "$work/several.err")"

say "a job is suspended, and goes on; its warning signal writes a checkpoint, from which it begins again"
cat >"$work/warned.sh" <<END
#!/bin/bash
exec "$dome" run --output-state "$work/warned.shown" "$elastic" 2500 20 - "$marks" hurries --dome-checkpoint-dir "$work/warned" \
    --dome-checkpoint-every 100000 --dome-timeout 4
END
has_checkpoint() {
    [ -n "$(find "$work/warned" -name "ckpt-*.dckpt" 2>/dev/null)" ]
}
# Slurm stops what it knows as the job's: by proctrack/linuxproc no daemon, nor what that has started on another host; by cgroups all.
is_stopped() {
    if [ -n "${FREEZER:-}" ]; then
        [ "$("$lab" ps | awk -v program="$elastic" '$4 == program || $4 ~ /pvmd$/ { print $3 }' | grep -vc D)" -eq 0 ]
    else
        "$lab" ps h1 | awk -v program="$elastic" '$4 == program { print $3 }' | grep -q T
    fi
}
is_in() {
    local state
    state=$(on h1 scontrol show -o job "$job" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\) .*/\1/p')
    [[ " $* " == *" $state "* ]]
}
rm -rf "$marks"
mkdir -p "$marks"
touch "$marks/slow"
job=$(on h1 sbatch --parsable --requeue --signal=B:USR1@60 --open-mode=append -N2 -n2 -w h1,h2 -o "$work/warned.out" "$work/warned.sh")
until_true beyond 25 || fail "warned: the program does not start: $(tail -5 "$work/warned.out")"
on h1 scontrol suspend "$job"
until_true is_stopped || fail "warned: not suspended: $(on h1 scontrol show job "$job")"
reached=$(step)
sleep 6 # longer than the limit of silence
[ "$(step)" -eq "$reached" ] || fail "warned: it computes while it is suspended"
on h1 scontrol resume "$job"
until_true beyond $((reached + 10)) || fail "warned: it does not go on: $(tail -5 "$work/warned.out")"
has_checkpoint && fail "warned: a checkpoint before the signal"
on h1 scancel -b -s USR1 "$job" # as Slurm does, a minute before the end
until_true has_checkpoint || fail "warned: no checkpoint: $(tail -5 "$work/warned.out")"
reached=$(step)
until_true beyond $((reached + 30)) || fail "warned: it does not go on behind its checkpoint: $(tail -5 "$work/warned.out")"
grep "lost" "$work/warned.out" && fail "warned: a loss before Slurm ends the tasks"
on h1 scontrol requeue "$job"
nothing_left warned
rm "$marks/slow"
# Slurm itself would wait for two minutes. It takes another time when the job has completed on all of its hosts, and the hosts refuse
# to begin a job in the second, as the clock counts, in which its former start was ended ("credential revoked").
until_true is_in PENDING || fail "warned: it is not to begin again: $(on h1 scontrol show job "$job")"
sleep 1
on h1 scontrol update JobId="$job" StartTime=now || fail "warned: it takes no other time: $(on h1 scontrol show job "$job")"
until_true is_in COMPLETED FAILED || fail "warned: it does not end: $(on h1 scontrol show job "$job")"
[ "$(tail -1 "$work/warned.out")" = "$(tail -1 "$work/long.out")" ] || fail "warned: other output: $(tail -3 "$work/warned.out")"
[ "$(grep -c "^begins" "$work/warned.out")" -eq 1 ] || fail "warned: it began anew: $(tail -5 "$work/warned.out")"
# Dome's own lines, and Slurm's, are in the file, too.
diff <(grep -E "^(begins|step |after )" "$work/warned.out") "$work/long.out" || fail "warned: not each line once"
[ ! -e "$work/warned.shown" ] || fail "warned: what was shown is still noted"
nothing_left warned

say "a host is lost"
rm -rf "$marks"
mkdir -p "$marks"
touch "$marks/slow"
run lost on h1 salloc -Q --no-kill -N3 -n3 srun -Q --no-kill -N1 -n1 -w h1 --overlap "$dome" run --restarts 3 "$elastic" 2500 20 - "$marks" hurries \
    --dome-checkpoint-dir "$work/ck" --dome-checkpoint-every 10 --dome-timeout 4 &
program=$!
until_true beyond 25 || fail "lost: the program does not start: $(cat "$work/lost.err")"
"$lab" kill h3
up=(h1 h2)
reached=$(step)
until_true beyond $((reached + 30)) || fail "lost: it does not go on: $(cat "$work/lost.err")"
rm "$marks/slow"
wait "$program"
status=$?
[ $status -eq 0 ] || fail "lost: $status $(cat "$work/lost.err")"
grep -q "; healed " "$work/lost.err" || fail "lost: no line about h3: $(cat "$work/lost.err")"
[ "$(tail -1 "$work/lost.out")" = "$(tail -1 "$work/long.out")" ] || fail "lost: other output: $(tail -1 "$work/lost.out")"
nothing_left lost

say "the job is cancelled"
rm -rf "$marks"
mkdir -p "$marks"
touch "$marks/slow"
run cancelled on h1 salloc -Q -J ends -N2 -n2 -w h1,h2 srun -Q -N1 -n1 -w h1 --overlap "$dome" run "$elastic" 2500 20 - "$marks" hurries &
program=$!
until_true beyond 25 || fail "cancelled: the program does not start: $(cat "$work/cancelled.err")"
on h1 scancel -n ends
wait "$program" && fail "cancelled: status 0"
nothing_left cancelled
finish
