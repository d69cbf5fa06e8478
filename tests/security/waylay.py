"""waylay.py FILE SECONDS: makes silent connections to whatever begins to listen in this network, and writes where that was to FILE."""

import socket
import sys
import time

end = time.monotonic() + float(sys.argv[2])
seen, held = set(), []
while time.monotonic() < end:
    with open("/proc/self/net/tcp") as f:
        lines = f.read().split("\n")[1:]
    for line in lines:
        part = line.split()
        if len(part) < 10 or part[3] != "0A" or part[1] in seen:
            continue
        seen.add(part[1])
        address, port = part[1].split(":")
        address = ".".join(str(b) for b in reversed(bytes.fromhex(address)))
        for _ in range(8):
            s = socket.socket()
            s.settimeout(0.2)
            try:
                s.connect((address if address != "0.0.0.0" else "127.0.0.1", int(port, 16)))
                held.append(s)
            except OSError:
                s.close()
        with open(sys.argv[1], "a") as f:
            f.write("%s:%d\n" % (address, int(port, 16)))
