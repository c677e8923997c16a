"""Making the gallery: entries are kept, pages show all of them, and the ledger tells the worst."""

import sys
from types import SimpleNamespace

import pytest

from impel.cli import main
from impel.files import Problem, read_document
from impel.gallery.ledger import Exhibit, Verdict, judge, load_exhibit, worst
from impel.gallery.run import entry_names, run

MODULE = sys.modules["impel.gallery.run"]  # which the function of the same name hides
CLAIMS = {"swing": ["001.1", "001.2"], "fall": ["001.2"], "rise": ["003.1"]}


def entry(name, *, holds=True, measured="1 of 2"):
    def make(directory):
        (directory / f"{name}.png").write_bytes(b"")
        verdicts = [judge(claim, holds, f"{name} <{measured}>") for claim in CLAIMS[name]]
        return Exhibit([(f"{name}.png", f"a picture of <{name}>"), ("walk.mp4", "a film")], verdicts)

    return SimpleNamespace(__name__=f"impel.gallery.entries.{name}", TITLE=f"T & {name}", TEXT="some words", make=make)


@pytest.fixture
def entries(monkeypatch):
    """Three small entries in place of the real ones."""
    made = {name: entry(name) for name in CLAIMS}
    monkeypatch.setattr(MODULE, "entry_names", lambda: list(made))
    monkeypatch.setattr(MODULE, "_entry", made.__getitem__)
    return made


def verdicts_in(directory):
    return [(verdict["claim"], verdict["verdict"]) for verdict in read_document(directory / "verdicts.yaml")]


def test_the_page_shows_every_entry_with_pictures_and_verdicts(entries, tmp_path):
    seen = []
    verdicts = run([], tmp_path / "new" / "out", progress=lambda *told: seen.append(told))
    assert [v.claim for v in verdicts] == ["001.1", "001.2", "001.2", "003.1"]
    assert seen == [("swing", 0, 3), ("fall", 1, 3), ("rise", 2, 3), ("", 3, 3)]
    page = (tmp_path / "new" / "out" / "index.html").read_text()
    for name in CLAIMS:
        assert f'<section id="{name}"><h2>T &amp; {name}</h2><p>some words</p>' in page
        assert f'<img src="{name}/{name}.png" alt="a picture of &lt;{name}&gt;"' in page
        assert f'<video src="{name}/walk.mp4"' in page
    ledger = page.partition('<h2 id="ledger">')[2]
    assert "swing &lt;1 of 2&gt;; fall &lt;1 of 2&gt;" in ledger  # both entries on one claim, in one row
    assert ledger.count("<tr><td>") == 3
    assert page.count('class="verdict holds"') == 4 + 3


def test_making_one_entry_again_keeps_the_others(entries, tmp_path):
    run([], tmp_path)
    entries["fall"] = entry("fall", holds=False, measured="3 of 4")
    again = run(["fall"], tmp_path)
    assert [(v.claim, v.verdict) for v in again] == [("001.2", "does not hold")]
    page = (tmp_path / "index.html").read_text()
    order = [page.index(f'<section id="{name}">') for name in CLAIMS]
    assert order == sorted(order)
    assert "swing/swing.png" in page
    assert "fall &lt;3 of 4&gt;" in page
    assert "fall &lt;1 of 2&gt;" not in page
    kept = [("001.1", "holds"), ("001.2", "holds"), ("001.2", "does not hold"), ("003.1", "holds")]
    assert verdicts_in(tmp_path) == kept
    assert 'class="verdict does-not-hold"' in page.partition('<h2 id="ledger">')[2]


def test_an_entry_alone_is_all_there_is_in_a_new_directory(entries, tmp_path):
    run(["rise"], tmp_path)
    assert verdicts_in(tmp_path) == [("003.1", "holds")]
    assert load_exhibit(tmp_path / "rise" / "exhibit.yaml") == entries["rise"].make(tmp_path / "rise")
    (tmp_path / "rise" / "exhibit.yaml").write_text("pictures: 3")
    with pytest.raises(Problem, match=r"exhibit.yaml: is not what an entry of the gallery leaves behind"):
        run(["fall"], tmp_path)
    assert not (tmp_path / "fall").exists()


@pytest.mark.parametrize("where", ["afile", "afile/x"])
def test_a_directory_that_cannot_be_is_refused_before_anything_is_made(entries, tmp_path, monkeypatch, capsys, where):
    (tmp_path / "afile").write_text("")
    monkeypatch.setattr(sys, "argv", ["impel", "gallery", "-o", str(tmp_path / where)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be written" in line
    assert (tmp_path / "afile").read_text() == ""


def test_unknown_entries_are_named(entries, tmp_path):
    with pytest.raises(Problem, match="gallery: no entry is called spin; there are swing, fall, rise"):
        run(["spin", "rise"], tmp_path)


def test_every_real_entry_says_what_it_is():
    names = entry_names()
    assert len(names) > 20
    assert names.index("fitness") < names.index("toys_poses") < names.index("damping")  # papers 001, 002, 003
    for name in names:
        module = MODULE._entry(name)
        assert module.TITLE
        assert module.TEXT
        assert callable(module.make)


def test_the_worst_verdict_counts_and_all_figures_are_told():
    holds = Verdict("001.2", "holds", "a 1")
    corrected = Verdict("001.2", "holds corrected", "b 2", "by a sign")
    not_so = Verdict("001.2", "does not hold", "c 3")
    assert worst([holds]) == holds
    assert worst([corrected, holds]) == Verdict("001.2", "holds corrected", "b 2; a 1", "by a sign")
    assert worst([holds, not_so, corrected]) == Verdict("001.2", "does not hold", "a 1; c 3; b 2", "by a sign")
    assert worst([corrected, corrected]).correction == "by a sign"
