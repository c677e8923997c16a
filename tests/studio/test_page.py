"""The page in a real browser: what a newcomer does, and what must not be lost."""

import subprocess
import sys
from pathlib import Path

import pytest
from browsing import BROWSER, MISSING, launched, new_page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=MISSING),
]

WEDGE = """\
v 0 0 0
v 0.3 0 0
v 0 0.3 0
v 0 0 0.3
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = launched(playwright)
        yield made
        made.close()


@pytest.fixture
def page(browser, studio):
    made = new_page(browser, 1000, 640)
    faults = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    made.goto(studio)
    made.wait_for_selector("#gallery[open]")
    yield made
    made.context.close()
    assert faults == []


def opened(page, name):
    page.click(f"#gallery .card:has(strong:text-is('{name}'))")
    page.wait_for_selector("#gallery", state="hidden")
    settled(page)


def settled(page):
    """When all that was done is answered, simulated to its end and shown, on the stage and beside it."""
    page.wait_for_function("studio.settled()")


def at_rest(page, where):
    """A place on the screen, when the page is laid out and nothing moves any more."""
    page.wait_for_function("studio.framed === studio.name && studio.look === false")
    before, now = None, page.evaluate(where)
    while before != now:
        page.wait_for_timeout(400)
        before, now = now, page.evaluate(where)
    return now


def place(page, body, frame):
    return page.evaluate(f"[...studio.take.pose({frame}, studio.take.index.get('{body}')).slice(0, 3)]")


def test_a_newcomers_way(page, folder):
    """Open, change mass, see another motion, scrub, drag a key, undo, save, reopen."""
    before = (folder / "hop.yaml").read_text()
    opened(page, "hop.yaml")
    first = place(page, "tower3", 200)

    page.click("#outline .item[data-group=bodies][data-name=ball]")
    page.fill("#field-bodies-ball-mass", "2.5")
    page.keyboard.press("Tab")
    settled(page)
    assert place(page, "tower3", 200) != first, "another mass, another motion"

    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 10)
    page.wait_for_function("!studio.playing && studio.frame > 50 && studio.shown.frame === Math.floor(studio.frame)")

    page.evaluate("studio.pick_key('ball', 2)")
    handle = page.evaluate("studio.handle_on_screen()")
    page.mouse.move(*handle)
    page.mouse.down()
    page.mouse.move(handle[0], handle[1] - 30, steps=4)
    page.mouse.up()
    settled(page)
    assert page.evaluate("studio.data.actors.ball.move.keys[2][2]") > 0.9, "the key was drawn up"

    page.keyboard.press("Control+z")
    page.wait_for_function("studio.data.actors.ball.move.keys[2][2] === 0.9")
    page.keyboard.press("Control+s")
    page.wait_for_function("document.getElementById('dirty').hidden")
    assert (folder / "hop.yaml").read_text() == before.replace("mass: 1\n", "mass: 2.5\n")

    page.reload()
    page.wait_for_function("studio.data?.bodies?.ball?.mass === 2.5")


def test_keys_are_added_and_removed_on_the_path_and_timed_ones_are_dragged(page):
    opened(page, "hop.yaml")
    page.evaluate("studio.play(false); studio.go_to(60)")
    page.mouse.dblclick(*at_rest(page, "studio.place_on_screen(studio.take.paths['ball.move'].at(-8))"))
    page.wait_for_function("studio.data.actors.ball.move.keys.length === 6 && studio.selection?.key?.number === 4")
    page.focus("#view")
    page.keyboard.press("Delete")
    page.wait_for_function("studio.data.actors.ball.move.keys.length === 5")
    assert page.evaluate("studio.data.actors.ball.move.keys[4].time") == 2.5, "the last one is still there"

    x, y = page.evaluate("studio.key_on_timeline('ball', 2.5)")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=3)
    page.mouse.up()
    page.wait_for_function("studio.data.actors.ball.move.keys[4].time > 2.6")
    settled(page)
    passed = page.evaluate("studio.take.events.find((e) => e.kind === 'key passed' && e.details.key === 2).time")
    x, y = page.evaluate(f"studio.key_on_timeline('ball', {passed})")
    page.mouse.click(x, y)  # that alone goes there and picks it
    page.wait_for_function("studio.selection?.key?.number === 2 && Array.isArray(studio.data.actors.ball.move.keys[2])")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 10, y, steps=3)
    page.mouse.up()
    page.wait_for_function(f"studio.data.actors.ball.move.keys[2].time > {passed}")
    page.wait_for_selector("#field-actors-ball-move-keys-2-time")


def test_a_shape_is_another_kind_of_shape_at_once(page):
    opened(page, "hop.yaml")
    page.click("#outline .item[data-group=bodies][data-name=tower3]")
    page.select_option("#field-bodies-tower3-shape-kind", "cylinder")
    page.wait_for_function("studio.data.bodies.tower3.shape.cylinder?.radius > 0")
    page.wait_for_selector("#field-bodies-tower3-shape-cylinder-length")
    page.keyboard.press("Control+z")
    page.wait_for_selector("#field-bodies-tower3-shape-box")


def test_the_gizmo_stands_where_the_body_is_now_and_moves_its_start(page):
    opened(page, "hop.yaml")
    page.evaluate("studio.play(false); studio.go_to(studio.take.frames - 1)")
    page.wait_for_function("studio.shown.frame === studio.take.frames - 1")
    page.click("#outline .item[data-group=bodies][data-name=tower3]")
    at, shown = page.evaluate("studio.data.bodies.tower3.at"), place(page, "tower3", "studio.take.frames - 1")
    assert at != pytest.approx(shown, abs=0.1), "it was knocked over"
    assert page.evaluate("studio.handle_at()") == pytest.approx(shown, abs=1e-4)
    x, y = at_rest(page, "studio.handle_on_screen()")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 20, steps=3)
    page.mouse.up()
    page.wait_for_function("studio.data.bodies.tower3.at[2] > 1.01")
    moved = page.evaluate("studio.data.bodies.tower3.at")
    assert moved[:2] == pytest.approx(at[:2], abs=1e-3), "straight up, wherever it lies now"


def test_a_body_gets_another_name_and_whoever_speaks_of_it_knows(page):
    opened(page, "hop.yaml")
    page.evaluate("studio.play(false)")
    page.click("#outline .item[data-group=bodies][data-name=ball]")
    page.keyboard.press("F2")
    page.keyboard.type("tower1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#inspector .wrong:has-text('is there already')")
    page.fill("#field-name", "bouncer")
    page.keyboard.press("Enter")
    page.wait_for_function("studio.data.bodies.bouncer && studio.data.actors.bouncer && !studio.data.bodies.ball")
    page.wait_for_selector("#outline .item[data-group=bodies][data-name=bouncer][aria-current=true]")
    page.keyboard.press("Control+z")
    page.wait_for_function("studio.data.bodies.ball && !studio.data.bodies.bouncer")
    page.click("#outline .item[data-group=bodies][data-name=ball]")
    page.keyboard.press("Delete")
    page.wait_for_selector("#notices:has-text('With it went actors.ball.')")
    assert page.evaluate("studio.data.bodies.ball === undefined && studio.data.actors === undefined")


def offered(page, what, text=None):
    page.click(f"#outline button[aria-label='Add {what}']")
    if text is not None:
        page.click(f"#menu button:has-text('{text}')")


def test_what_a_scene_is_made_of_is_added_in_the_page(page, folder):
    (folder / "wedge.obj").write_text(WEDGE)
    opened(page, "hop.yaml")
    page.evaluate("studio.play(false); studio.go_to(60)")
    for kind in ("box", "blob", "compound", "mesh"):
        offered(page, "a body", kind)
        page.wait_for_function(f"studio.selection?.name === '{kind}1' && studio.data.bodies.{kind}1?.shape.{kind}")
    page.wait_for_function("studio.data.bodies.mesh1.shape.mesh.file === 'wedge.obj'")
    page.select_option("#field-bodies-mesh1-shape-kind", "convex")
    page.wait_for_function("studio.data.bodies.mesh1.shape.convex?.file === 'wedge.obj'")
    offered(page, "wishes of a body", "box1")
    page.wait_for_function("studio.data.actors.box1?.move.keys.length === 2")
    offered(page, "an appointment")
    page.wait_for_function("studio.data.appointments?.meeting1.cues.join() === 'ball.move.4,box1.move.1'")
    page.select_option("#field-appointments-meeting1-cues-0", "ball.move.2")
    page.wait_for_function("studio.data.appointments.meeting1.cues.join() === 'ball.move.2,box1.move.1'")
    offered(page, "a push", "box1")
    page.wait_for_function("studio.data.pushes?.[0].body === 'box1' && studio.data.pushes[0].from === 1")
    offered(page, "a camera", "from this view")
    page.wait_for_function("studio.data.camera?.from.length === 3")
    offered(page, "a camera")  # a cut is all that is left: what was the only camera comes before it
    page.wait_for_function("!studio.data.camera && studio.data.cameras?.map(({time}) => time).join() === '0,1'")
    page.keyboard.press("Control+z")
    page.wait_for_function("studio.data.camera && !studio.data.cameras")


def test_a_joint_becomes_another_kind_with_what_that_needs(page):
    opened(page, "saloon.yaml")
    page.evaluate("studio.play(false)")
    name = page.evaluate("Object.keys(studio.data.joints).find((name) => studio.data.joints[name].hinge)")
    page.click(f"#outline .item[data-group=joints][data-name='{name}']")
    page.select_option(f"#field-joints-{name}-kind", "ball")
    page.wait_for_function(f"studio.data.joints['{name}'].ball && !studio.data.joints['{name}'].limits")
    page.select_option(f"#field-joints-{name}-kind", "hinge")
    page.wait_for_function(f"studio.data.joints['{name}'].hinge && studio.data.joints['{name}'].axis")


def test_what_is_offered_is_picked_by_keys(page):
    opened(page, "hop.yaml")
    page.focus("#export")
    page.keyboard.press("Enter")
    page.wait_for_selector("#menu:popover-open")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.textContent") == "NPZ take"
    page.keyboard.press("ArrowUp")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "hop.csv"
    page.wait_for_selector("#menu:popover-open", state="hidden")


def test_a_toy_is_picked_from_its_palette_framed_and_changed(page):
    opened(page, "hop.yaml")
    page.click("#toys")
    page.select_option("#toy-figure", "luxo")
    page.fill("#toy-evaluations", "100")
    page.click("#toy-search")
    page.wait_for_selector("#palette .card canvas")
    page.click("#palette .card")
    page.wait_for_function("studio.take?.toy && studio.take.ended && studio.shown?.run === studio.take.run")
    page.wait_for_selector("[aria-label='Phase plot']:not([hidden])")
    page.evaluate("studio.play(false)")
    for frame in (0, "studio.take.frames - 1"):  # it runs off, and stays in the middle
        page.evaluate(f"studio.go_to({frame})")
        page.wait_for_function(f"studio.shown.frame === {frame}")
        x, y = page.evaluate("studio.on_screen(studio.take.names[1])")
        box = page.locator("#view").bounding_box()
        assert 0.25 < (x - box["x"]) / box["width"] < 0.75
        assert 0.2 < (y - box["y"]) / box["height"] < 0.8
    run = page.evaluate("studio.take.run")
    page.focus("#inspector input[type=range][aria-label=lasts]")
    page.keyboard.press("PageUp")
    page.wait_for_function(f"studio.take.run > {run} && studio.take.toy")
    page.click("#inspector >> text=Back to the scene")
    page.wait_for_function("!studio.take.toy && studio.take.ended")
    page.wait_for_selector("#outline .item[data-name=ball]")


def test_a_slider_that_is_drawn_without_a_stop_shows_one_motion_after_the_other(page):
    opened(page, "hop.yaml")
    page.click("#outline .item[data-group=bodies][data-name=ball]")
    page.evaluate("studio.play(false); studio.go_to(100)")
    runs = page.evaluate("""async () => { const runs = new Set();
        const range = document.querySelector("input[type=range][aria-label='mass as a slider']");
        for (let k = 0; k < 200; k++) {
            range.value = 500 + k / 2; range.dispatchEvent(new Event("input"));
            await new Promise((done) => setTimeout(done, 8)); runs.add(studio.shown.run); }
        return runs.size; }""")
    assert runs > 2, "each step superseded the one before it"
    page.wait_for_function("studio.data.bodies.ball.mass === 1.974")  # the last
    page.keyboard.press("Control+z")
    page.wait_for_function("studio.data.bodies.ball.mass === 1")


def test_what_is_typed_wrong_is_answered_where_it_is_typed(page):
    opened(page, "hop.yaml")
    page.click("#outline .item[data-group=bodies][data-name=ball]")
    page.fill("#field-bodies-ball-mass", "-1")
    page.keyboard.press("Tab")
    page.wait_for_selector(".field:has(#field-bodies-ball-mass) .wrong:has-text('must be greater than 0')")
    assert page.evaluate("studio.data.bodies.ball.mass") == 1


def test_poked_the_arm_gives_way_and_comes_back(page):
    opened(page, "blow")
    page.evaluate("studio.play(false); studio.go_to(60)")
    page.wait_for_function("studio.shown.frame === 60")
    page.click("#live")
    page.wait_for_function("studio.live && studio.take.done > 62")
    x, y = page.evaluate("studio.on_screen('lower')")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 80, steps=3)
    page.wait_for_function("studio.pull !== undefined")
    page.wait_for_timeout(700)
    page.mouse.up()
    page.wait_for_timeout(2500)
    page.click("#live")
    page.wait_for_function("!studio.live && studio.take.ended")
    heights = page.evaluate(
        "Array.from({length: studio.take.done}, (_, f) => studio.take.pose(f, studio.take.index.get('lower'))[2])"
    )
    away, left = max(abs(z - heights[60]) for z in heights), abs(heights[-1] - heights[60])
    assert away > 0.05
    assert left < 0.5 * away
    page.click("#keep")
    page.wait_for_function("studio.data.pushes?.length === 1")


def test_a_body_is_picked_where_it_is_now(page):
    opened(page, "hop.yaml")
    page.evaluate("studio.play(false)")
    for frame in (0, "studio.take.frames - 1"):
        page.evaluate(f"studio.go_to({frame})")
        page.wait_for_function(f"studio.shown.frame === {frame}")
        page.click("#outline .item[data-group=bodies][data-name=tower1]")
        x, y = at_rest(page, "studio.on_screen('tower3')")
        page.mouse.click(x, y)
        page.wait_for_function("studio.selection?.name === 'tower3'")


def test_an_actor_is_switched_off_and_what_was_done_is_kept(page):
    opened(page, "hop.yaml")
    page.evaluate("studio.play(false); studio.go_to(40)")
    page.click("#outline .item[data-group=actors][data-name=ball]")
    page.click("#live")
    page.wait_for_function("studio.live && studio.take.done > 42")
    page.click("#limp")
    page.wait_for_function("studio.off?.has('ball')")
    page.wait_for_timeout(1500)
    page.click("#live")
    page.wait_for_function("!studio.live && studio.take.ended")
    ball = place(page, "ball", "studio.take.done - 1")
    assert ball[2] < 0.45, "it has fallen"
    page.click("#keep")
    page.wait_for_function("studio.data.changes?.length === 1")
    assert page.evaluate("studio.data.world.seconds") == 5, "as long as it was"


def test_soft_bodies_are_seen_pressed_in(page):
    opened(page, "collisions")
    page.wait_for_function("studio.skins?.size === 3")
    page.evaluate("studio.playing = false; studio.go_to(70)")
    page.wait_for_function("studio.shown.frame === 70")
    lengths = page.evaluate(
        "(() => { const p = studio.skins.get(studio.take.index.get('soft')).seen[0].array;"
        "return Array.from({length: p.length / 3}, (_, i) => Math.hypot(...p.subarray(3 * i, 3 * i + 3))); })()"
    )
    assert min(lengths) < 0.15 - 0.03, "the bar presses the soft ball in"
    assert max(lengths) > 0.15, "and it bulges"
    page.evaluate("studio.go_to(0)")
    page.wait_for_function("studio.skins.get(studio.take.index.get('soft')).frame === 0")


def test_a_walker_is_led_by_its_path_and_its_mood(page):
    opened(page, "moods")
    page.evaluate("studio.play(false); studio.pick_key('spider', 1)")
    place_of = "studio.place_on_screen(studio.data.walkers.spider.path[1])"
    page.wait_for_function(f"{place_of}[0] > 0")
    x, y = page.evaluate(place_of)
    page.mouse.move(x + 20, y - 1)  # on one of the two arrows
    page.mouse.down()
    page.mouse.move(x - 30, y + 4, steps=3)
    page.mouse.up()
    page.wait_for_function("Math.hypot(...studio.data.walkers.spider.path[1].map((c, k) => c - [9, 0, 0][k])) > 0.1")
    assert page.evaluate("studio.data.walkers.spider.path[1][2]") == 0, "on the ground"

    page.click("#live")
    page.wait_for_function("studio.live && studio.take.done > 5")
    page.focus("input[type=range][aria-label='mood as a slider']")
    page.keyboard.press("End")
    page.wait_for_timeout(300)
    page.click("#live")
    page.wait_for_function("!studio.live && studio.take.ended")
    page.click("#keep")
    page.wait_for_function("studio.data.changes?.at(-1).value === 100")


def test_by_keyboard_alone(page):
    opened(page, "hop.yaml")
    page.keyboard.press("?")
    page.wait_for_selector("#shortcuts[open]")
    page.keyboard.press("Escape")
    page.focus("#view")
    playing = page.evaluate("studio.playing")
    page.keyboard.press(" ")
    assert page.evaluate("studio.playing") != playing
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("Math.floor(studio.frame) === 1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    page.click("#outline .item[data-group=bodies][data-name=tower1]")
    page.click("#inspector > details > summary")
    assert page.evaluate("document.activeElement.id") == "view", "after a click the keys are for the stage"
    playing = page.evaluate("studio.playing")
    page.focus("#field-bodies-tower1-fixed")
    page.keyboard.press(" ")
    page.wait_for_function("studio.data.bodies.tower1.fixed === true")
    assert page.evaluate("studio.playing") == playing


def test_the_view_is_that_of_the_scenes_cameras(page, folder):
    cuts = "cameras: [{time: 0, from: [1, -6, 2], to: [0, 0, 0]}, {time: 1, from: [9, 0, 2], to: [0, 0, 1], fov: 20}]\n"
    cuts = cuts.replace("fov: 20}", "fov: 20}, {time: 2, follow: ball, from: [0, -3, 1]}")
    (folder / "cuts.yaml").write_text((folder / "hop.yaml").read_text() + cuts)
    page.reload()
    page.wait_for_selector("#gallery[open]")
    opened(page, "cuts.yaml")
    page.evaluate("studio.play(false)")
    page.keyboard.press("v")
    ball = place(page, "ball", 150), place(page, "ball", 0)
    for frame, seen in (
        (30, [1, -6, 2]),
        (60, [9, 0, 2]),
        (150, [x + a - b for x, a, b in zip([0, -3, 1], *ball)]),
        (59, [1, -6, 2]),
    ):
        page.evaluate(f"studio.go_to({frame})")
        page.wait_for_function(f"studio.shown.frame === {frame}")
        assert at_rest(page, "studio.seen().from") == pytest.approx(seen, abs=2e-3)
    box = page.locator("#view").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 330, box["y"] + 150, steps=2)
    page.mouse.up()
    assert page.get_attribute("#through", "aria-pressed") == "false", "who turns the view has it"


def test_every_control_has_a_name(page):
    opened(page, "hop.yaml")
    page.click("#outline .item[data-group=bodies][data-name=ball]")
    nameless = page.evaluate("""[...document.querySelectorAll('button, input, select, textarea')].filter((e) =>
        !e.textContent.trim() && !e.getAttribute('aria-label') && !e.labels?.length && !e.title)
        .map((e) => e.outerHTML)""")
    assert nameless == []


def test_a_lost_connection_comes_back_and_loses_nothing(page):
    opened(page, "hop.yaml")
    page.click("#outline .item[data-group=bodies][data-name=ball]")
    page.fill("#field-bodies-ball-mass", "2")
    page.keyboard.press("Tab")
    page.wait_for_function("studio.data.bodies.ball.mass === 2")
    page.evaluate("studio.link.socket.close()")
    page.wait_for_function("!studio.connected")
    page.wait_for_function("studio.connected && studio.data.bodies.ball.mass === 2")
    settled(page)


def test_a_while_of_random_work_leaves_no_complaint():
    """A minute of it; `make soak` works for an hour."""
    run = [sys.executable, str(Path(__file__).parent / "soaking.py"), "60", "1"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
