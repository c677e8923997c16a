# make demo   a fresh clone shows what impel does          make test    lint, types and all tests
# make bench  the figures the documentation claims         make gallery pictures and verdicts on the papers' claims
# make fuzz   new random scenes, with their seeds          make pages   docs/fields.md from the schema

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VALIDATOR := .cache/gltf-validator
BLENDER := .cache/blender

THREE := src/impel/studio/three
.PHONY: demo studio soak test test-plain test-wheel library wheel audit blender-test bench fuzz fuzz-takes fuzz-ends fuzz-goals many rewind wishes gallery pictures pages lint clean

demo: $(VENV)/.installed
	@$(BIN)/impel demo -o out

# The studio in the browser: `make studio SCENE=scene.yaml`.
studio: $(VENV)/.studio-installed $(THREE)/three.module.js
	@$(BIN)/impel studio $(SCENE)

test: lint $(VALIDATOR)/.installed $(THREE)/three.module.js
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Without numba's inner classes: kernels, physics, control, stage, and one run of each command, in one process.
test-plain: $(VENV)/.test-installed
	IMPEL_PLAIN_NUMBA=1 $(BIN)/python -m pytest tests/test_kernel.py tests/test_plain.py tests/physics tests/control \
	  tests/stage tests/cli/test_cli_each.py

# All tests again, slower, with every index of every kernel checked.
audit: $(VENV)/.test-installed $(VALIDATOR)/.installed
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# Soft bodies in Blender, which is installed in an environment of its own (400 MB, GPL; its wheels ask for Python 3.11).
blender-test: $(VENV)/.test-installed $(BLENDER)/.installed
	IMPEL_BLENDER=$(BLENDER) $(BIN)/python -m pytest tests/takes/test_blender.py

# Machine code for whoever installs the wheel, or works in this clone; any edit of kernels puts it out of use.
library: $(VENV)/.installed
	$(BIN)/python ship.py

wheel: library $(THREE)/three.module.js
	rm -rf dist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps -w dist .
	@ls dist

test-wheel: wheel
	$(BIN)/python tests/check_wheel.py dist/*.whl

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test-installed
	$(BIN)/python -m benchmarks

# SEEDS="FIRST COUNT" plays scenes again that were printed.
fuzz: $(VENV)/.test-installed
	$(BIN)/python tests/fuzz $(SEEDS)

# Two thousand damaged takes: each is read as a valid one, or refused in one line. SEEDS as above.
fuzz-takes: $(VENV)/.test-installed
	$(BIN)/python tests/takes/mutations.py $(SEEDS)

# Runs that are stopped, unheard or without room at random moments: whole files or none.
fuzz-ends: $(VENV)/.test-installed
	$(BIN)/python tests/cli/endings.py $(SEED)

# A thousand random sequences of goals: free, pushed, and at the tip of an arm. SEEDS as above.
fuzz-goals: $(VENV)/.test-installed
	$(BIN)/python tests/stage/goal_sequences.py $(SEEDS)

# Twelve walks that are to take so long and cost so much.
wishes: $(VENV)/.test-installed
	IMPEL_LONG=1 $(BIN)/python -m pytest tests/gaits/test_gait_evolution.py -k there_in_time

# Ten thousand different scenes in one process, which must not grow by more than 500 MB; COUNT as you like.
many: $(VENV)/.test-installed
	$(BIN)/python tests/stage/many_scenes.py $(COUNT)

# Restores random moments of all kinds of scenes and plays on, to the same bytes.
rewind: $(VENV)/.test-installed
	$(BIN)/python tests/stage/rewinding.py

# An hour of random work in the studio; SECONDS and SEED as you like.
soak: $(VENV)/.test-installed $(THREE)/three.module.js
	$(BIN)/python tests/studio/soaking.py $(or $(SECONDS),3600) $(SEED)

gallery: $(VENV)/.installed
	$(BIN)/impel gallery -o out/gallery

# The README's pictures.
pictures: $(VENV)/.test-installed $(THREE)/three.module.js
	$(BIN)/impel simulate examples/hop.yaml --overlays -o docs/hop.png
	$(BIN)/impel simulate examples/reach.yaml --overlays -o docs/reach.png
	$(BIN)/impel simulate examples/wrecking_ball.yaml -o docs/wrecking_ball.png
	$(BIN)/python docs/studio_pictures.py

# Every field of a scene, from the sentences of the schema; a test tells when it is due.
pages: $(VENV)/.installed
	$(BIN)/python docs/fields.py

clean:
	rm -rf $(VENV) $(VALIDATOR) out dist src/impel/kernel/shipped

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing impel into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.studio-installed: $(VENV)/.installed
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[studio]'
	@touch $@

$(VENV)/.test-installed: $(VENV)/.installed
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

# The Khronos validator, an independent judge of our .glb files.
$(VALIDATOR)/.installed:
	npm install --silent --no-audit --no-fund --prefix $(VALIDATOR) gltf-validator@2.0.0-dev.3.10
	@touch $@

$(BLENDER)/.installed:
	$(PYTHON) -m venv $(BLENDER)
	$(BLENDER)/bin/python -m pip install --quiet --disable-pip-version-check bpy==5.0.1 'numpy<2'
	@touch $@

# three.js, which draws the studio's pictures; wheels bring it along.
$(THREE)/three.module.js:
	npm install --silent --no-audit --no-fund --prefix .cache/three three@0.187.0
	@mkdir -p $(THREE)
	@cp .cache/three/node_modules/three/LICENSE .cache/three/node_modules/three/build/three.core.js $(THREE)
	@cp .cache/three/node_modules/three/examples/jsm/controls/OrbitControls.js $(THREE)
	@cp .cache/three/node_modules/three/examples/jsm/controls/TransformControls.js $(THREE)
	@cp .cache/three/node_modules/three/build/three.module.js $(THREE)
