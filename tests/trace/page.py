"""The page that dome view makes, in a browser: bands, loads and marks are there with the right numbers, and nothing is asked of others."""

import json
import os
import re
import subprocess
import sys
import tempfile

import browser

RUN_MULTI, BUILD = os.environ["RUN_MULTI"], os.environ["DOME_BUILD_DIR"]
DOME = BUILD + "/tools/dome"
failures = 0
folder = None
MS = 1_000_000


def fail(what, text):
    global failures
    failures += 1
    print("failed: %s: %s" % (what, text))


def expect(what, got, wanted):
    if got != wanted:
        fail(what, "%r instead of %r" % (got, wanted))


LACKED = {2: 400, 5: 200}  # task -> ms in a second in which it could have run, and had no processor


def made_up(before=0):
    """Six hosts, ten seconds, all numbers known. Task 1's clock is 5 s ahead. Names that would be harmful in a page. before: seconds
    for which the program had run when somebody looked. The files of tasks 0, 1, 3 and 4 are older: they do not say what the kernel counts."""
    lines = ["dome-trace 1", "T -", "H 0 1700000000000000 1 home ./prog%20</script><script>bad=1</script>%20&amp;"]
    for rank in range(6):
        lead = 5000 * MS if rank == 1 else 0
        lines += ["T %d" % rank, "I %d %d 6 2 host%d" % (lead, 10 + rank, rank), "C 1 %d %d 1000" % (lead, -lead)]
        if rank == 0 and before:
            lines += ["B 0 %d 0 0 0" % (before * 1000 * MS)]
        if rank == 0:
            lines += ["N 1 dvec_dot", "N 2 dvec_map", "v 1000000 1 1200 1 0 10 f64 pressure", "v 1000000 2 60 3 1 10 f32 <b>fixed"]
            lines += ["y 1000000 2 60 10 0 1 1 1 1 1 1", "y 1000000 0 1200 10 0 20 20 20 20 20 20"]
            for k in range(1, 10):  # from second to second task 0 gives one block to task 5, around the end
                lines += ["b %d 2000000 1 %d 1000000000" % (k * 1000 * MS, 1500000 - k * 50000)]
                lines += ["y %d 0 1200 10 %d %d 20 20 20 20 %d" % (k * 1000 * MS + MS, k, 20 - k, 20 + k)]
            lines += ["b 9500000000 1000000 0 1050000 500000000"]
        lines += ["c %d 1 100 %d %d 8000000" % (9000 * MS + lead, 300 * MS, 700 * MS), "c %d 2 50 %d 0 0" % (9000 * MS + lead, (2000 + 400 * (rank == 3)) * MS)]
        lines += ["k %d 20000000 7 1000000" % (4000 * MS + lead)]
        for k in range(0, 11):  # a quarter of the processor, half of the time waiting
            line = "s %d %d %d %d 20480" % (k * 1000 * MS + lead, k * 250 * MS, k * 500 * MS, k * 1500)
            # Task 2 is asleep for 35 % of the time only, so it has waited for no longer: the rest of the half it could have run.
            lines += [line + (" %d %d" % (k * 250 * MS, k * LACKED[rank] * MS) if rank in LACKED else "")]
    lines += ["T -", "F 9800000000 task%204%20on%20host%20host4%20is%20lost", "Z 10000000000 1"]
    return "\n".join(lines) + "\n"


def time_of_tasks(tasks):
    """Ten seconds of each task r, of which it waits 2 + r / tasks s: half of it for its neighbour below, a quarter for task 1, one part in
    200 for task 2; 1 s of it in halos, half a second in balancing."""
    lines = ["dome-trace 1", "T -", "H 0 1700000000000000 1 home prog"]
    names = "dvec_dot", "dvec_halo_elements", "load%20balancing", "dome_checkpoint", "dome_env_relayout"
    for rank in range(tasks):
        lines += ["T %d" % rank, "I 0 %d %d 1 host%d" % (rank + 1, tasks, rank)]
        if rank == 0:
            lines += ["N %d %s" % (k + 1, name) for k, name in enumerate(names)]
        wait = 2000 + 1000 * rank // tasks
        costs = (1, 5500 - wait, wait - 1500), (2, 500, 1000), (3, 250, 400), (4, 250, 0), (5, 250, 100), (0, 3250, 0)
        lines += ["c %d %d 1 %d %d 0" % (10000 * MS, code, compute * MS, waited * MS) for code, compute, waited in costs]
        below, waits = (rank - 1) % tasks, {}
        for peer, part in (below, wait // 2), (1, wait // 4), (2, wait // 200):
            waits[peer] = waits.get(peer, 0) + part
        lines += ["W %d %d %d" % (10000 * MS, peer, 1) for peer in waits]
        lines += ["W %d %d %d" % (10000 * MS, peer, part * MS) for peer, part in waits.items()]
    return "\n".join(lines + ["T -", "Z 10000000000 0"]) + "\n"


def changing():
    """Ten seconds of a program that has two tasks, four from second 3, and three from second 6 after a loss."""
    lines = ["dome-trace 1", "T -", "H 0 1700000000000000 1 home prog", "V 0 0 2 1 0 start %"]
    for begin, number, tasks, line in (0, 0, 2, ""), (3, 1, 4, "V 3000000000 1 4 2 250000000 grow dome%20grow"), \
            (6, 3, 3, "V 6000000000 3 3 2 500000000 heal task%201%20on%20host%20<b>h2%20is%20lost"):
        if begin:
            lines += ["T -", "H %d 1700000000000000 1 home prog" % (begin * 1000 * MS - 200 * MS)]
        for rank in range(tasks):
            at = begin * 1000 * MS
            lines += ["T %d" % rank, "I %d 1 %d 2 h%d" % (at, tasks, rank % 2 + 1), "C %d %d 0 1000" % (begin, at)]
            if rank == 0:
                lines += ["N 1 dvec_map", "v %d 1 1200 1 0 10 f64 x" % at, "y %d 0 1200 10 0 %s" % (at, " ".join(["%d" % (120 // tasks)] * tasks))]
            lines += ["s %d %d 0 0 1000" % (at + k * 100 * MS, k * 100 * MS) for k in range(29)]
            lines += ["c %d 1 10 %d %d 0" % (at + 2800 * MS, 2000 * MS, 500 * MS)]
        if line:
            lines += ["T -", line, "P %d %d 100000000 200000000 50000000 150000000" % (at + 300 * MS, number)]
    return "\n".join(lines + ["T -", "Z 10000000000 0"]) + "\n"


def check_views(b):
    """Size over time, why it changed, and how long each part took: in the picture, in its marks and in a table."""
    what = "views"
    path, words = page("views.trace", changing())
    expect(what + ", words", words, "")
    b.size(1100, 1000)
    b.scheme("light")
    b.open("file://" + path)
    frames(b)
    s = b.run("dome.summary()")
    expect(what, (s["tasks"], s["views"], s["healed"], s["restarts"], round(s["still"], 6)), (4, 2, 1, 0, 1.5))
    expect(what + ", tasks now", (s["now"], "tasks (at most)3 (4)" in b.run("document.body.textContent").replace("\n", "")), (3, True))
    expect(what + ", why a number is left out", "Healing counts views by two" in b.run("document.getElementById('viewsnote').textContent"), True)
    marks = b.run("dome.marks.map(m => [m.kind, Math.round(m.t * 1000)])")
    expect(what + ", marks", marks, [["view", 3000], ["heal", 6000], ["end", 10000]])
    rows = b.run("[...document.querySelectorAll('#views tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    wanted = [["0", "0.00 ms", "2", "1", "-", "-", "-", "-", "-", "-", "start"],
              ["1", "3.000 s", "4", "2", "0.500", "0.250", "0.100", "0.200", "0.050", "0.150", "grow: dome grow"],
              ["3", "6.000 s", "3", "2", "1.000", "0.500", "0.100", "0.200", "0.050", "0.150", "heal: task 1 on host <b>h2 is lost"]]
    expect(what + ", table", rows, wanted)
    box = b.run("document.getElementById('chart').getBoundingClientRect().toJSON()")
    heights = []
    for t in 1, 4.5, 8:  # where the line of the number of tasks is, from above
        x = b.run("dome.X(%g)" % t)
        column = [colour(b, x, y) for y in range(10, 42)]
        heights.append(next((k for k, c in enumerate(column) if c != column[0]), 99))
        b.mouse("mouseMoved", box["x"] + x, box["y"] + 20)
        tip = b.run("document.getElementById('tip').textContent")
        at = {1: "2 tasks on 1 host, view 0", 4.5: "4 tasks on 2 hosts, view 1", 8: "3 tasks on 2 hosts, view 3"}[t]
        if at not in tip:
            fail(what, "at %g s it says %r" % (t, tip))
    if not heights[1] <= heights[2] < heights[0]:
        fail(what, "the heights of 2, 4 and 3 tasks are %s" % heights)
    b.mouse("mouseMoved", box["x"] + b.run("dome.X(6)"), box["y"] + b.run("dome.geometry.markTop") + 23)
    tip = b.run("document.getElementById('tip').textContent")
    if "view 3: 3 tasks on 2 hosts (heal: task 1 on host <b>h2 is lost), nothing was computed for 1.000 s" not in tip:
        fail(what, "over the mark: %r" % tip)
    expect(what + ", of one run", b.run("dome.bands(dome.layouts.list[0]).length"), 2)
    check_quiet(what, b, "file://" + path)
    b.open("file://" + page("none.trace", time_of_tasks(4))[0])
    frames(b)
    expect(what + ", none", b.run("document.getElementById('changes').hidden"), True)


def with_regions():
    """Three tasks on two hosts, ten seconds. 'grid' made tasks wait longest; one of its units is shared falsely by tasks 0 and 2, of
    which the first tells for task 1, too. The last totals count."""
    lines = ["dome-trace 1", "T -", "H 0 1700000000000000 1 home prog"]
    for rank in range(3):
        lines += ["T %d" % rank, "I 0 %d 3 2 host%d" % (rank + 1, rank // 2)]
        lines += ["u %d grid%%3cb%%3e %d %d %d %d %d" % (t * 1000 * MS, 10 * t, 2 * t * rank, t * (rank != 1), 4096 * t * (rank != 1), t * rank * 100 * MS)
                  for t in (1, 5, 9)]
        lines += ["u 5000000000 % 1 0 0 0 1000"]
    both = "U 5000000000 grid%%3cb%%3e 0 3 %d 40 1 %d 10"
    lines += ["T 0", both % (0, 100), "U 5000000000 % 0 1 0 40 1 0 10", "T 2", both % (2, 110) + " 110 1", "U 5000000000 % 0 1 2 40 1 5 10"]
    return "\n".join(lines + ["T -", "Z 10000000000 0"]) + "\n"


def check_regions(b):
    what = "regions"
    path, words = page("regions.trace", with_regions())
    expect(what + ", words", words, "")
    b.open("file://" + path)
    frames(b)
    rows = b.run("[...document.querySelectorAll('#regions tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    wanted = [["grid<b>", "", "270", "54", "18", "73.7 kB", "2.700"],
              ["task 2 on host1", "", "90", "36", "9", "36.9 kB", "1.800"],
              ["task 1 on host0", "", "90", "18", "0", "0 bytes", "0.900"],
              ["task 0 on host0", "", "90", "0", "9", "36.9 kB", "0.000"],
              ["without a name", "", "3", "0", "0", "0 bytes", "0.000"]]
    expect(what, rows[:5], wanted)
    expect(what + ", rows", len(rows), 8)
    widths = b.run("[...document.querySelectorAll('#regions tbody tr')].slice(1, 3).map(r => r.querySelector('.part').getBoundingClientRect().width)")
    if not 1.9 < widths[0] / widths[1] < 2.1:
        fail(what, "the bars are %s wide" % widths)
    shared = b.run("[...document.querySelectorAll('#shared p')].map(p => p.textContent)")
    expect(what + ", shared", len(shared), 1)
    for part in "Region 'grid<b>' is shared falsely in 1 unit", "task 0 on host0 has written elements 100 to 109", "task 2 on host1 elements 110 to 119", "in 40 and 40 turns":
        if part not in shared[0]:
            fail(what, "%r is not in %r" % (part, shared[0]))
    check_quiet(what, b, "file://" + path)
    b.open("file://" + page("none.trace", time_of_tasks(4))[0])
    frames(b)
    expect(what + ", none", b.run("document.getElementById('memory').hidden"), True)


def page(name, text):
    path = folder + "/" + name
    with open(path, "w") as f:
        f.write(text)
    made = subprocess.run([DOME, "view", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    expect("dome view " + name, (made.returncode, made.stdout), (0, path + ".html\n"))
    return path + ".html", made.stderr


def colour(b, x, y):
    """Of the picture itself."""
    got = b.run(
        "(() => { const c = document.getElementById('chart'), s = c.width / c.clientWidth;"
        "return [...c.getContext('2d').getImageData(%f * s, %f * s, 1, 1).data].slice(0, 3).join(','); })()" % (x, y)
    )
    return "rgb(%s)" % got


def frames(b):
    b.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def check_quiet(what, b, address):
    if any(a != address and not a.startswith("data:") for a in b.requests()):
        fail(what, "the page asked for %s" % b.requests())
    if b.complaints():
        fail(what, json.dumps(b.complaints())[:2000])


def check_numbers(b):
    what = "made-up run"
    path, words = page("made-up.trace", made_up())
    expect(what + ", words", words, "")
    address = "file://" + path
    b.size(1100, 1000)
    b.scheme("light")
    b.open(address)
    frames(b)
    if b.run("typeof bad") != "undefined":
        fail(what, "a name in the trace ran as a script")
    expect(what, b.run("document.getElementById('title').textContent"), "prog")
    s = b.run("dome.summary()")
    expect(what, (s["tasks"], s["phases"], s["moving"], s["checkpoints"], s["failures"], s["restarts"]), (6, 10, 9, 1, 1, 0))
    expect(what, [round(s[k], 6) for k in ("seconds", "efficiency", "first", "last")], [10, 0.525, 1.45, 1.05])
    expect(what, round(s["without"], 6), 0.1)
    figures = b.run("document.getElementById('figures').textContent")
    if "without a processor10 %" not in figures:
        fail(what, "the figures are %r" % figures)
    if "without a processor" not in b.run("document.getElementById('legend').textContent"):
        fail(what, "the legend does not have the time without a processor")
    expect(what + ", note", b.run("document.getElementById('note').textContent"), "task 4 on host host4 is lost")
    vectors = b.run("[...document.getElementById('vector').options].map(o => o.textContent)")
    expect(what, vectors, ["pressure - 1,200 f64, dynamic", "<b>fixed - 60 x 3 f32, block"])
    table = b.run("[...document.querySelectorAll('#operations tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    expect(what, table[0][:7], ["dvec_map", "50", "2.0667", "2.4000", "1.16", "0.0000", "0.0000"])
    expect(what, table[1], ["dvec_dot", "100", "0.3000", "0.3000", "1.00", "0.7000", "0.7000", "10 %", "0.03"])
    shares = b.run("dome.rows().map(r => Math.round(r.share * 1000) / 10)")
    expect(what + ", shares", sorted(shares), [10, 20.7])
    b.open("file://" + page("later.trace", made_up(10))[0])
    frames(b)
    shares = b.run("dome.rows().map(r => Math.round(r.share * 1000) / 10)")
    expect(what + ", recorded after 10 s, shares", sorted(shares), [5, 10.3])
    b.open(address)
    frames(b)
    marks = b.run("dome.marks.map(m => [m.kind, Math.round(m.t * 1000)])")
    wanted = [["moved", k * 1000] for k in range(1, 10)] + [["phase", 9500], ["checkpoint", 4000], ["failure", 9800], ["end", 10000]]
    expect(what + ", marks", sorted(marks), sorted(wanted))

    # bands: at 5.5 s task 0 has blocks 5 to 19, and task 5 has gone around the end
    g = b.run("dome.geometry")
    x, height = b.run("dome.X(5.5)"), 268
    colours = b.run("dome.colours")
    box = b.run("document.getElementById('chart').getBoundingClientRect().toJSON()")
    for block, owner in ((2, 5), (10, 0), (30, 1), (110, 5)):
        y = g["bandTop"] + (block + 0.5) / 120 * height
        expect(what + ", band of block %d" % block, colour(b, x - 5, y), colours[owner].replace(" ", ""))
        b.mouse("mouseMoved", box["x"] + x, box["y"] + y)
        tip = b.run("document.getElementById('tip').textContent")
        blocks = {0: 15, 5: 25}.get(owner, 20)
        if "task %d has elements" % owner not in tip or "%d of 120 blocks" % blocks not in tip:
            fail(what, "at block %d it says %r" % (block, tip))
        if block == 10 and "elements 50 to 199" not in tip:
            fail(what, tip)
    # loads: a quarter of the row is the processor, half of it waiting from above, below that the time without a processor
    seen = {}
    for rank in 0, 1, 2, 5:
        bottom = g["loadTop"] + (rank + 1) * g["rowHeight"] - 1
        inside = g["rowHeight"] - 4
        b.mouse("mouseMoved", box["x"] + x, box["y"] + bottom - 3)
        tip = b.run("document.getElementById('tip').textContent")
        share = "waiting 35 %, without a processor 40 %" if rank == 2 else "waiting 50 %" + (", without a processor 20 %" if rank == 5 else "\n")
        for part in "task %d on host%d" % (rank, rank), "processor 25 %, " + share, "1.5 of 2 processors", "21 MB":
            if part not in tip:
                fail(what, "over task %d's load: %r" % (rank, tip))
        b.mouse("mouseMoved", box["x"] + 200, box["y"] + g["markTop"] + 30)  # the cursor out of the way
        expect(what + ", load", colour(b, x, bottom - 0.12 * inside), colours[rank].replace(" ", ""))
        waiting, below = colour(b, x, bottom - 0.8 * inside), colour(b, x, bottom - 0.4 * inside)
        if waiting == below:
            fail(what, "waiting is not to be seen")
        seen[rank] = waiting, below
    expect(what + ", waiting", {waiting for waiting, _ in seen.values()}, {seen[0][0]})
    if len({seen[2][1], seen[0][0], seen[0][1]}) < 3 or seen[2][1] != seen[5][1] or seen[1][1] != seen[0][1]:
        fail(what, "time without a processor is not to be seen: %s" % seen)
    # a mark under the mouse, and by keyboard
    b.mouse("mouseMoved", box["x"] + b.run("dome.X(4)"), box["y"] + g["markTop"] + 23)
    tip = b.run("document.getElementById('tip').textContent")
    if "checkpoint 7, 6 MB, the program stood still for 20.00 ms" not in tip:
        fail(what, "over the checkpoint: %r" % tip)
    b.run("document.getElementById('chart').focus()")
    for _ in range(20):
        b.key("p")
    b.key("n")
    said = b.run("document.getElementById('said').textContent")
    if "at 2.000 s: phase of balancing, data moved" not in said:
        fail(what, "keyboard: %r" % said)
    b.key("+")
    frames(b)
    width = b.run("dome.range[1] - dome.range[0]")
    if abs(width - 5) > 1e-6:
        fail(what, "+ shows %g s" % width)
    b.key("Home")
    # dragging shows what was dragged over
    x0, x1, y = b.run("dome.X(2)"), b.run("dome.X(4)"), box["y"] + 100
    b.mouse("mouseMoved", box["x"] + x0, y)
    b.mouse("mousePressed", box["x"] + x0, y, button="left", clickCount=1)
    b.mouse("mouseMoved", box["x"] + (x0 + x1) / 2, y, button="left")
    b.mouse("mouseMoved", box["x"] + x1, y, button="left")
    b.mouse("mouseReleased", box["x"] + x1, y, button="left", clickCount=1)
    frames(b)
    if any(abs(got - wanted) > 0.05 for got, wanted in zip(b.run("dome.range"), (2, 4))):
        fail(what, "dragged from 2 to 4, it shows %s" % b.run("dome.range"))
    # another vector
    b.run("(() => { const v = document.getElementById('vector'); v.selectedIndex = 1; v.onchange({target: v}); })()")
    frames(b)
    expect(what, b.run("dome.bands(dome.layouts.list[0]).length"), 6)
    check_quiet(what, b, address)
    # dark: the panel is dark, the ink is not
    b.scheme("dark")
    b.open(address)
    frames(b)
    back = b.run("getComputedStyle(document.body).backgroundColor")
    if not re.match(r"rgb\((\d|[1-4]\d), (\d|[1-4]\d), (\d|[1-4]\d)\)$", back):
        fail(what, "dark: the background is %s" % back)
    check_quiet(what + ", dark", b, address)


def time_rows(b):
    return b.run("[...document.querySelectorAll('#times tbody tr')].map(r => [...r.cells].map(c => c.textContent))")


def check_times(b):
    """Where the time goes: sums, bars as wide as they should be, whom a task waited for; few tasks and many."""
    for tasks in 1, 4, 500:
        what = "times, %d tasks" % tasks
        address, _ = page("times%d.trace" % tasks, time_of_tasks(tasks))
        b.scheme("light")
        b.open("file://" + address)
        frames(b)
        for t in b.run("dome.data.times"):
            if abs(sum(t["parts"]) - 10) > 1e-5:
                fail(what, "the parts add up to %g" % sum(t["parts"]))
        heads = b.run("[...document.querySelectorAll('#times th')].map(c => c.textContent)")
        expect(what, heads, ["task", "", "computing", "own code", "checkpoints", "balancing", "halos", "waiting", "held others up", "waits for"])
        table = time_rows(b)
        if tasks == 4:
            expect(what, table[0][:8], ["mean", "", "3.125", "3.250", "0.250", "0.500", "0.500", "2.375"])
            expect(what, table[1], ["task 0 on host0", "", "3.500", "3.250", "0.250", "0.500", "0.500", "2.000", "1.125", "task 3: 1.000, task 1: 0.500, others: 0.500"])
            expect(what, table[4][7:], ["2.750", "1.000", "task 2: 1.388, task 1: 0.687, others: 0.675"])
        if tasks == 500:
            shown = [int(row[0].split()[1]) for row in table[1:]]
            expect(what, shown, b.run("dome.timesShown()"))
            if not 10 <= len(shown) <= 24 or not {0, 1, 2, 499} <= set(shown):
                fail(what, "these tasks are shown: %s" % shown)
            if "Of 500 tasks" not in b.run("document.getElementById('timesnote').textContent"):
                fail(what, "the page does not say that it shows some tasks only")
        wide = b.run("[...document.querySelectorAll('#times .bar')].slice(-1).map(b => [...b.children].map(c => c.getBoundingClientRect().width / b.clientWidth))[0]")
        part = b.run("dome.data.times[dome.data.times.length - 1].parts.map(x => x / 10)")
        if len(wide) != 8 or any(abs(got - wanted) > 0.01 for got, wanted in zip(wide, part)):
            fail(what, "the bar's parts are %s, not %s" % (wide, part))
        check_quiet(what, b, "file://" + address)
    # Of ten seconds each task had a processor for 6.5, and none for 2.5 in which it could have run: so it was asleep for 1 s, and has
    # waited for no longer.
    lacking = time_of_tasks(4)
    for rank in range(4):
        lacking = lacking.replace("T %d\n" % rank, "T %d\ns %d 6600000000 2000000000 0 1000 6500000000 2500000000\n" % (rank, 10000 * MS))
    b.open("file://" + page("lacking.trace", lacking)[0])
    frames(b)
    heads = b.run("[...document.querySelectorAll('#times th')].map(c => c.textContent)")
    expect("times, lacking", heads[5:9], ["balancing", "halos", "without a processor", "waiting"])
    row = time_rows(b)[1]  # 1.5 s of 8 s of work, and half of the waiting
    expect("times, lacking", row, ["task 0 on host0", "", "2.844", "2.641", "0.203", "0.406", "0.406", "2.500", "1.000"] + row[9:])
    expect("times, lacking", row[10], "task 3: 0.500, task 1: 0.250, others: 0.250")
    for t in b.run("dome.data.times"):
        if abs(sum(t["parts"]) - 10) > 1e-5 or abs(t["parts"][8] - 2.5) > 1e-6:
            fail("times, lacking", "the parts are %s" % t["parts"])
    once = time_of_tasks(4)  # both runs of a program that was started again count
    again = once.split("\n", 1)[1].replace("H 0 ", "H %d " % (20000 * MS))
    b.open("file://" + page("again.trace", once + again)[0])
    frames(b)
    expect("times, two runs", b.run("dome.data.times[0].waits"), [[3, 2], [1, 1], [2, 0.02]])
    expect("times, two runs", time_rows(b)[1][7:9], ["4.000", "2.250"])


def check_recorded(b):
    what, path = "recorded run", folder + "/run.trace"
    program = [RUN_MULTI, "6", BUILD + "/tests/balance/steps", "60", "--dome-trace", path, "--dome-balance", "random"]
    done = subprocess.run(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    expect(what, (done.returncode), 0)
    with open(path) as f:
        text = f.read()
    address, words = page("run.trace", text)
    expect(what + ", words", words, "")
    b.open("file://" + address)
    frames(b)
    s = b.run("dome.summary()")
    expect(what + ", phases", s["phases"], len(re.findall("^b ", text, re.M)))
    expect(what + ", tasks", (s["tasks"], s["now"]), (6, 6))
    calls = b.run("dome.rows().map(r => [r.name, r.calls])")
    for wanted in ["dvec_map", 60], ["dvec_sum", 60], ["dome_barrier", 60]:
        if wanted not in calls:
            fail(what, "calls: %s" % calls)
    owned = b.run("dome.layouts.list.filter(l => l.counts).map(l => l.counts.reduce((a, b) => a + b, 0) - l.blocks)")
    if not owned or any(owned):
        fail(what, "layouts do not add up: %s" % owned)
    written = len(re.findall(r"^y \d+ 0 ", text, re.M))
    if not 2 <= len(owned) <= written:
        fail(what, "%d layouts of %d" % (len(owned), written))
    for rank, t in enumerate(b.run("dome.data.times")):
        wait, whom = sum(t["parts"][5:8]), sum(w[1] for w in t["waits"])
        if abs(wait - whom) > 5e-3 + 0.05 * wait or not any(w[0] != rank for w in t["waits"]):
            fail(what, "task %d waited for %g s, by task %s" % (rank, wait, t["waits"]))
        if not 0 <= s["seconds"] - sum(t["parts"]) <= 1:
            fail(what, "the parts of task %d's time are %s of %g s" % (rank, t["parts"], s["seconds"]))
    known = re.findall(r"^s \d+ \d+ \d+ \d+ \d+ (\d+) \d+$", text, re.M)
    if len(known) != len(re.findall("^s ", text, re.M)) or not any(int(had) for had in known):
        fail(what, "samples do not say how long the task had a processor: %s" % known[:5])
    if not all(b.run("data.loads.map(l => l.length)".replace("data", "dome.data"))):
        fail(what, "a task has no loads")
    check_quiet(what, b, "file://" + address)


def check_large(b):
    """64 tasks and 5000 phases; a trace that stops."""
    what = "large run"
    lines = ["dome-trace 1", "T -", "H 0 1700000000000000 1 home prog"]
    for rank in range(64):
        lines += ["T %d" % rank, "I 0 %d 64 1 host%d" % (rank, rank)]
        lines += ["s %d %d %d %d 1000" % (k * 100 * MS, k * 50 * MS, k * 10 * MS, k * 90) for k in range(1000)]
    lines += ["T 0", "v 0 1 640000 1 0 100 f64 x"]
    for k in range(5000):
        lines += ["b %d 1000000 1 1200000 20000000" % (k * 20 * MS), "y %d 0 640000 100 %d %s" % (k * 20 * MS, k, " ".join(["100"] * 64))]
    address, words = page("large.trace", "\n".join(lines) + "\ny 1 0 64")
    if "stops before the end" not in words:
        fail(what, "words: %r" % words)
    b.open("file://" + address)
    frames(b)
    took = b.run("(() => { const t = performance.now(); for (let k = 0; k < 5; k++) dome.draw(); return (performance.now() - t) / 5; })()")
    hover = b.run("(() => { const t = performance.now(); for (let k = 0; k < 100; k++) dome.describe(k, 100); return (performance.now() - t) / 100; })()")
    print("note: 64 tasks, 5000 phases: %.1f ms to draw it all, %.3f ms to say what is under the mouse" % (took, hover))
    expect(what, b.run("dome.summary().phases"), 5000)
    x, g = b.run("dome.X(50)"), b.run("dome.geometry")
    owner = b.run("dome.bands(dome.layouts.list[2500]).find(r => r[1] <= 3200 && 3200 < r[1] + r[2])[0]")
    got = {colour(b, x, g["bandTop"] + (3200 + k) / 6400 * 268) for k in (-30, 0, 30)}
    if not got & {c.replace(" ", "") for c in b.run("dome.colours")[owner - 1 : owner + 2]}:
        fail(what, "the band of task %d is not to be seen: %s" % (owner, got))
    if "stops before the end" not in b.run("document.getElementById('note').textContent"):
        fail(what, "the page does not say that the trace stops")
    check_quiet(what, b, "file://" + address)


def main():
    global folder
    if not browser.find():
        print("skipped: chromium is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="dome-page-test.") as folder:
        b = browser.Browser()
        try:
            check_numbers(b)
            check_times(b)
            check_views(b)
            check_regions(b)
            check_recorded(b)
            check_large(b)
        finally:
            b.close()


main()
print("ok" if not failures else "%d failed" % failures)
sys.exit(1 if failures else 0)
