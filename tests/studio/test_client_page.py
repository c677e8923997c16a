"""The page on the studio: its client works as printed."""

import re
from pathlib import Path


def test_the_client_of_the_page_talks_to_the_studio(studio, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", Path("docs/studio.md").read_text(), re.DOTALL)
    exec(compile(code, "docs/studio.md", "exec"), {"address": studio})
    names, apart = capsys.readouterr().out.rsplit("]", 1)
    assert "'ball'" in names
    assert float(apart) > 0.01


def test_the_page_lists_every_command():
    from impel.studio.session import Session

    page = Path("docs/studio.md").read_text()
    commands = {name.removeprefix("do_") for name in dir(Session) if name.startswith("do_")}
    assert {name for name in commands if f"`{name}`" not in page} == set()
