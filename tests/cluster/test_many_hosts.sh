#!/bin/bash
# The daemons of many hosts are started at once: each waits here until all are being started. What goes wrong with one is said.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 8 "$@"
elastic=$DOME_BUILD_DIR/tests/programs/elastic
mkdir at
cat >together <<END
#!/bin/sh
case "\$*" in *pvmd*)
    touch $work/at/\$\$
    for _ in \$(seq 2400); do
        [ \$(ls $work/at | wc -l) -lt 7 ] || break
        sleep 0.05
    done
esac
exec ssh -F $LAB/ssh_config "\$@"
END
chmod +x together
run alone on h1 "$elastic" 20 0 - --dome-transport self
ended_well alone

say "seven hosts, of which none is started before all"
DOME_RSH=$work/together run many on h1 "$dome" run --hosts "$work/hosts" -n 8 "$elastic" 20 0
ended_well many
same "on eight hosts" alone.out many.out
[ "$(ls at | wc -l)" -eq 7 ] || fail "other hosts were started: $(ls at | wc -l)"
clean many

say "a host that does not answer"
"$lab" kill h5
run dead on h1 "$dome" run --hosts "$work/hosts" -n 8 "$elastic" 20 0
failed_with dead "^dome: host h5 cannot be added: its pvmd could not be started: ssh: connect to host h5 port 22: .* \(PVM error -29\)\$"
on h5 find /tmp -xdev -mindepth 1 -delete
"$lab" sshd h5
clean dead
finish
