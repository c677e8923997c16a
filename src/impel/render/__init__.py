"""Pictures and video of takes, drawn in software: no graphics card, no display.

`impel.render.outputs` writes files and is quick to import; `impel.render.sequences` gives pictures as arrays.
"""
