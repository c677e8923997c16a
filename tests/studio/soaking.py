"""Works in the studio at random, for as long as it is told: `python tests/studio/soaking.py SECONDS [SEED]`.

Edits, undoes, scrubs, pokes, opens other scenes and reloads the page. Prints memory now and then; leaves with 1 if the
page complained, or if the server's or the page's memory has grown by more than a tenth after the first part.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from browsing import BROWSER, MISSING, launched, new_page, studio_in

SCENES = ("hop", "saloon", "reach", "desk_lamp")
WORKS = ("undo", "redo", "scrub", "play", "poke", "open", "reload", "text", "plots")
GROWTH = 1.10
SETTLED = 300.0  # s, after which memory should not grow any more
PATIENCE = 600.0  # s: it runs beside other work for an hour, and may have to wait for the machine


def resident(pid: int) -> float:
    """MB"""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def used(page) -> float:
    """MB of the page's heap that are not garbage."""
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.enable")
    tools.send("HeapProfiler.collectGarbage")
    size = tools.send("Runtime.getHeapUsage")["usedSize"]
    tools.detach()
    return size / 2**20


def work(page, chance, what=None) -> None:
    """One thing that a person might do."""
    what = what or chance.choice(["edit"] * 5 + ["scrub"] + list(WORKS))
    if what == "edit":
        page.evaluate(
            """(x) => { const bodies = Object.entries(studio.data.bodies).filter(([, b]) => !b.fixed);
                const [name, body] = bodies[Math.floor(x * bodies.length)];
                const value = (body.mass ?? 1) * (0.8 + 0.4 * x);
                return studio.link.ask("edit", {path: ["bodies", name, "mass"], value}).catch(() => 0); }""",
            chance.random(),
        )
    elif what in ("undo", "redo"):
        page.evaluate(f"studio.link.ask('{what}').catch(() => 0)")
    elif what == "scrub":
        page.evaluate("(x) => studio.go_to(Math.floor(x * studio.take.frames))", chance.random())
    elif what == "play":
        page.evaluate("studio.play()")
    elif what == "poke":
        page.evaluate("studio.link.ask('live', {frame: 10}).catch(() => 0)")
        page.wait_for_timeout(300)
        page.evaluate(
            """async () => { const bodies = studio.data.bodies;
                const name = studio.take.names.find((n) => bodies[n] && !bodies[n].fixed);
                const {number} = await studio.link.ask("push", {body: name, force: [0, 3, 0]}).catch(() => ({}));
                await new Promise((done) => setTimeout(done, 300));
                if (number !== undefined) await studio.link.ask("release", {number}).catch(() => 0);
                await studio.link.ask("halt").catch(() => 0); }"""
        )
    elif what == "open":
        page.evaluate("(name) => studio.open_scene({example: name}).catch(() => 0)", chance.choice(SCENES))
    elif what == "reload":
        page.reload()
    else:
        page.click(f"#tab-{what}")
        page.wait_for_timeout(100)
        page.click("#tab-inspector")
    page.wait_for_function("studio.connected && studio.take && studio.take.done > 0")


def soak(seconds: float, seed: int) -> list[str]:
    from playwright.sync_api import sync_playwright

    chance = random.Random(seed)
    faults: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        studio_in(folder) as (address, run),
        sync_playwright() as playwright,
    ):
        browser = launched(playwright)
        try:
            page = new_page(browser, 800, 500)
            page.set_default_timeout(1000 * PATIENCE)
            page.on("pageerror", lambda error: faults.append(f"page: {error}"))
            page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
            page.goto(address)
            page.wait_for_selector("#gallery[open]")
            page.evaluate("document.getElementById('gallery').close()")
            for name in SCENES:  # what is loaded once is loaded before it counts
                page.evaluate("(name) => studio.open_scene({example: name})", name)
                page.wait_for_function(f"studio.name === '{name}.yaml' && studio.take?.ended")
                for what in ("poke", "plots"):
                    work(page, chance, what)
            server, heap = [], []
            began, done, looked = time.monotonic(), 0, 0.0
            while (now := time.monotonic() - began) < seconds:
                work(page, chance)
                done += 1
                if now - looked > seconds / 24:
                    looked = now
                    server.append(resident(run.pid))
                    heap.append(used(page))
                    print(
                        f"{now:6.0f} s, {done} things done: server {server[-1]:.0f} MB, page {heap[-1]:.1f} MB",
                        flush=True,
                    )
            early = max(2, int(len(server) * SETTLED / max(now, 1)))
            for what, sizes in (("server", server), ("page", heap)):
                if now > SETTLED and min(sizes[-early:]) > GROWTH * max(sizes[:early]):
                    faults.append(f"{what}: grew from {max(sizes[:early]):.0f} to {min(sizes[-early:]):.0f} MB")
        finally:
            browser.close()
    return faults


if __name__ == "__main__":
    if BROWSER is None:
        sys.exit(MISSING)
    start = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"seed {start}")
    complaints = soak(float(sys.argv[1]), start)
    print(*complaints, sep="\n")
    sys.exit(1 if complaints else 0)
