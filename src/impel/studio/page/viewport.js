// The stage in three dimensions: bodies, paths, keys, targets, ropes, contacts; what is pointed at, and what is dragged.

import * as THREE from "three";
import { OrbitControls } from "/three/OrbitControls.js";
import { TransformControls } from "/three/TransformControls.js";
import { Skin } from "./skins.js";

const PALETTE = ["#e4572e", "#2e86ab", "#f2a541", "#4f9d69", "#8a5a9e", "#d1495b", "#3aafa9", "#c98b5a", "#5b6c9d", "#b5a642"];
const GROUND = "#d9d4c7";
const MARK = 0.72; // of the second tone of balls and wheels
const FILM = 16 / 9;
const WIDE = 20; // times the mesh of a plane
const CROWD = 80; // bodies, beyond which each is drawn with fewer triangles ...
const MULTITUDE = 800; // ... and with hardly any, and no shadows
const CHEQUER = "0.05"; // contrast of a floor's squares
const ASKEW = [0.35, -0.9, 0.38], ASIDE = [0.16, -1, 0.16]; // from where one looks: a toy moves in a plane
const ROOM = 0.5; // of its size, around a toy
const TRIES = 200, GOLDEN = 2.4; // to find room; rad
const FLASH = 0.25; // s that a contact is shown

const v = new THREE.Vector3(), q = new THREE.Quaternion(), m = new THREE.Matrix4(), one = new THREE.Vector3(1, 1, 1);

export class Viewport {
  constructor(canvas, listener) {
    this.canvas = canvas;
    this.listener = listener; // picked, dragged, released, pulled, added
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 2000);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(3, -6, 3);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.enableDamping = false;
    this.orbit.addEventListener("change", () => { this.stale = true; });
    this.gizmo = new TransformControls(this.camera, canvas);
    this.gizmo.setSize(0.8);
    this.gizmo.setColors("#d1495b", "#4f9d69", "#2e86ab", "#f2a541");
    this.scene.add(this.gizmo.getHelper());
    this.gizmo.addEventListener("dragging-changed", ({ value }) => {
      this.orbit.enabled = !value;
      if (value) this.held = { handle: this.handle, ...this.sight(this.handle) };
      else { this.listener.released(this.handle); this.stand(); }
    });
    this.gizmo.addEventListener("objectChange", () => {
      this.stale = true;
      const { handle, begin, back } = this.held, moved = this.grip.position.clone().sub(begin).applyMatrix4(back);
      this.listener.dragged(handle, handle.at.map((x, k) => x + moved.getComponent(k)));
    });
    this.fov = 35;
    this.light();
    this.bodies = new THREE.Group();
    this.overlays = new THREE.Group();
    this.cords = new THREE.Group(); // ropes and wires, which are things
    this.rings = new THREE.Group();
    this.flashes = [];
    this.scene.add(this.bodies, this.cords, this.overlays, this.rings);
    this.geometries = new Map();
    this.seats = []; // of each body: which instanced mesh, which instance
    this.skins = new Map(); // of soft bodies
    this.grip = new THREE.Object3D();
    this.scene.add(this.grip);
    this.rim = { value: 0.01 }; // m
    this.thin = { value: 0.005 }; // m: half as wide as paths are drawn, and ropes
    this.square = { value: 1 }; // m, of a floor
    this.glow = new THREE.Mesh(new THREE.BufferGeometry(), rim(this.rim));
    this.glow.visible = false;
    this.scene.add(this.glow);
    this.spring = new THREE.Group().add(new THREE.Mesh(COIL, ink("#ff6a3d")), new THREE.Mesh(BEAD, ink("#ff6a3d")));
    this.spring.visible = false;
    this.scene.add(this.spring);
    this.pointing();
    this.stale = true;
    this.size = 1; // m, of the action
    this.drawn = 0;
  }

  light() {
    this.sky = new THREE.HemisphereLight("#ffffff", "#b9b2a6", 1.9);
    this.scene.add(this.sky);
    const sun = this.sun = new THREE.DirectionalLight("#fff6e8", 2.2);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.02;
    this.scene.add(sun, sun.target);
  }

  // Light or dark: the ground fades into the sky, and what is lit does not glare in the dark.
  paint(sky, dark) {
    this.scene.background = new THREE.Color(sky);
    this.scene.fog ??= new THREE.Fog(sky, 100, 200);
    this.scene.fog.color.set(sky);
    this.sky.intensity = dark ? 0.75 : 1.9;
    this.sun.intensity = dark ? 1.5 : 2.2;
    this.stale = true;
  }

  // A new take: as many instanced meshes as there are different shapes.
  async cast(take, looks) {
    const same = this.take && sameList(this.take.meshes, take.meshes) && sameList(this.take.names, take.names);
    this.take = take;
    this.undress();
    if (!same) {
      this.ready = false; // until its meshes have come
      const many = take.names.length, coarse = many > MULTITUDE ? "?sides=8" : many > CROWD ? "?sides=16" : "";
      const meshes = await Promise.all([...new Set(take.meshes)].map(async (id) => [id, await this.geometry(id + coarse)]));
      this.sun.castShadow = many <= MULTITUDE;
      this.orbit.maxPolarAngle = meshes.some(([, geometry]) => geometry.userData.flat) ? Math.PI / 2 : Math.PI; // no floor from below
      if (this.take !== take) return;
      for (const mesh of [...this.bodies.children]) { this.bodies.remove(mesh); mesh.material.dispose(); mesh.dispose(); }
      this.forget(new Set(meshes.map(([, geometry]) => geometry)));
      const crowd = new Map(meshes.map(([id, geometry]) => {
        const count = take.meshes.filter((other) => other === id).length;
        const dull = geometry.userData.flat || many > CROWD; // floors do not shine, and crowds not to be seen
        const vertexColors = geometry.hasAttribute("color");
        const material = dull ? new THREE.MeshLambertMaterial({ vertexColors }) : new THREE.MeshStandardMaterial({ roughness: 0.75, metalness: 0, vertexColors });
        if (geometry.userData.flat) chequer(material, this.square);
        const mesh = new THREE.InstancedMesh(geometry, material, count);
        mesh.castShadow = !geometry.userData.flat;
        mesh.receiveShadow = true;
        mesh.frustumCulled = false;
        mesh.userData.bodies = [];
        this.bodies.add(mesh);
        return [id, mesh];
      }));
      this.seats = take.meshes.map((id, body) => {
        const mesh = crowd.get(id);
        mesh.userData.bodies.push(body);
        return { mesh, instance: mesh.userData.bodies.length - 1 };
      });
    }
    this.ready = true;
    this.dress(looks);
    const lines = JSON.stringify([take.paths, take.wires, take.ropes.length, take.actuators, take.colors, looks.colors]);
    if (!same || lines !== this.lines) this.draw_lines(); // else they are as they were, which is sooner seen
    this.lines = lines;
    this.stale = true;
  }

  dress(looks) {
    if (!this.take) return;
    this.looks = looks;
    this.seats.forEach((seat, body) => {
      const { mesh, instance } = seat;
      const flat = mesh.geometry.userData.flat;
      const name = this.take.names[body], told = looks.colors?.[name] ?? this.take.colors[name] ?? (flat ? GROUND : PALETTE[body % PALETTE.length]);
      seat.color = told.slice(0, 7);
      mesh.setColorAt(instance, new THREE.Color(mesh.geometry.userData.painted ? "#ffffff" : seat.color));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    });
    this.skins.forEach((skin, body) => skin.dress(this.tones(body)));
    this.stale = true;
  }

  // Soft bodies of a take that has ended get their own surfaces.
  async soften(take, bodies) {
    await Promise.all(bodies.map(async (body) => {
      const answer = await fetch(`/soft/${take.run}/${body}`);
      const data = answer.ok ? await answer.arrayBuffer() : null; // another run has begun
      if (data === null || this.take !== take || !this.seats[body]) return;
      this.skins.set(body, new Skin(data, body, this.tones(body)));
      this.scene.add(this.skins.get(body).mesh);
    }));
    if (this.frame !== undefined) this.show(this.frame);
  }

  undress() {
    for (const skin of this.skins.values()) skin.drop();
    this.skins.clear();
  }

  tones(body) {
    const color = this.tone(body);
    return [color, color.clone().multiplyScalar(MARK)];
  }

  tone(body) {
    return new THREE.Color(this.seats[body].color);
  }

  color_of(name) {
    const body = this.take?.index.get(name);
    return body === undefined || !this.seats[body] ? "#999" : `#${this.tone(body).getHexString()}`;
  }

  async geometry(id) {
    if (this.geometries.has(id)) return this.geometries.get(id);
    const data = await (await fetch(`/mesh/${id}`)).arrayBuffer();
    const [vertices, triangles, painted] = new Uint32Array(data, 0, 3);
    let geometry = new THREE.BufferGeometry();
    let at = 12;
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(data, at, 3 * vertices), 3));
    at += 12 * vertices;
    geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(data, at, 3 * vertices), 3));
    at += 12 * vertices;
    geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(data, at, 3 * triangles), 1));
    at += 12 * triangles;
    if (painted) geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(data, at, 3 * painted), 3));
    geometry.userData.painted = painted > 0;
    at += 12 * painted;
    const marks = new Uint8Array(data, at, triangles);
    if (!id.endsWith("=8") && marks.some((mark) => mark)) { // of a multitude, each is too small to have two tones
      geometry = geometry.toNonIndexed();
      const color = new Float32Array(9 * triangles);
      marks.forEach((mark, t) => color.fill(mark ? MARK : 1, 9 * t, 9 * t + 9));
      geometry.setAttribute("color", new THREE.BufferAttribute(color, 3));
    }
    geometry.computeBoundingSphere();
    geometry.computeBoundingBox();
    geometry.userData.flat = geometry.boundingBox.max.z - geometry.boundingBox.min.z < 1e-9;
    if (geometry.userData.flat) geometry.scale(WIDE, WIDE, 1); // a plane has no end
    this.geometries.set(id, geometry);
    return geometry;
  }

  // Shapes whose sizes are tried out become many.
  forget(used) {
    if (this.geometries.size < 100) return;
    for (const [id, geometry] of this.geometries) if (!used.has(geometry)) { this.geometries.delete(id); geometry.dispose(); }
  }

  // Paths, wires, keys: what changes only with the scene.
  draw_lines() {
    for (const child of [...this.overlays.children, ...this.cords.children]) { child.removeFromParent(); if (child.userData.own) child.geometry.dispose(); }
    const take = this.take;
    this.pathLines = Object.entries(take.paths).map(([label, points]) => {
      const cord = this.cord(points.length, this.color_of(label.endsWith(".way") ? label.replace(/way$/, "body") : this.owner(label)), true);
      along(cord.geometry, points);
      this.overlays.add(cord);
      const path = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3(...p)))); // to be pointed at
      path.userData = { label, points };
      return path;
    });
    this.wires = Object.entries(take.wires).map(([name, points]) => {
      const wire = this.cord(points.length, CORD);
      along(wire.geometry, points);
      wire.userData.body = take.index.get(this.owner(name));
      this.cords.add(wire);
      return wire;
    });
    this.ropes = take.ropes.map(() => {
      const rope = this.cord(25, CORD);
      this.cords.add(rope);
      return rope;
    });
    this.targets = take.actuators.map((label) => {
      const dot = new THREE.Mesh(BEAD, ink("#1d1e20"));
      dot.visible = label.endsWith(".move") && !label.endsWith(".goals.move"); // goals have no target ahead of them
      dot.renderOrder = 2;
      this.overlays.add(dot);
      return dot;
    });
    this.place_keys(this.keys ?? []);
  }

  // The body that something is named after.
  owner(label) { return this.take.names.filter((body) => label.startsWith(`${body}.`)).sort((a, b) => b.length - a.length)[0]; }

  // A line through so many points that is seen from afar: a thin tube, as wide on the screen wherever one looks from.
  cord(points, color, faint = false) {
    const cord = new THREE.Mesh(tube(points), thread(color, faint, this.thin));
    cord.frustumCulled = false; // it is pulled about
    cord.userData.own = true;
    return cord;
  }

  // The keys that can be dragged: {actor, kind, number, at}, some `within` a body.
  place_keys(keys) {
    this.keys = keys;
    for (const bead of this.beads ?? []) this.overlays.remove(bead);
    this.beads = keys.map((key) => {
      const bead = new THREE.Mesh(key.kind === "goal" ? GOAL : BEAD, ink(this.color_of(key.actor)));
      bead.position.copy(this.sight(key).begin);
      bead.userData = key;
      bead.renderOrder = 1;
      this.overlays.add(bead);
      return bead;
    });
    this.stale = true;
  }

  // Draws a frame of the take.
  show(frame) {
    const take = this.take;
    if (!take || take.done === 0 || this.seats.length === 0) return;
    this.frame = Math.max(0, Math.min(frame, take.done - 1));
    this.seats.forEach(({ mesh, instance }, body) => {
      this.matrix(body, m);
      const skin = this.skins.get(body);
      if (skin) {
        skin.show(this.frame);
        skin.mesh.matrix.copy(m);
        m.makeScale(0, 0, 0); // its rigid self is not seen
      }
      mesh.setMatrixAt(instance, m);
    });
    for (const mesh of this.bodies.children) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // rays look there first: it is found anew when one is cast
    }
    for (const wire of this.wires ?? []) {
      if (wire.userData.body === undefined) continue;
      wire.matrixAutoUpdate = false;
      this.matrix(wire.userData.body, wire.matrix);
    }
    this.targets?.forEach((dot, a) => dot.position.fromArray(take.aim(this.frame, a)));
    for (const bead of this.beads ?? []) if (bead.userData.within !== undefined) bead.position.copy(this.sight(bead.userData).begin);
    this.stand();
    this.ropes?.forEach((rope, r) => along(rope.geometry, hanging(take.rope(this.frame, r), 25)));
    this.flash();
    if (this.seats[this.selected]) this.matrix(this.selected, this.glow.matrix);
    if (this.seats[this.following]) {
      const at = new THREE.Vector3().fromArray(take.pose(this.frame, this.following));
      this.led ??= take.toy ? at : this.orbit.target.clone();
      v.copy(at).sub(this.led);
      if (take.toy) v.setZ(0); // it hops, the eye does not
      this.led = at;
      for (const place of [this.orbit.target, this.camera.position, this.sun.position, this.sun.target.position]) place.add(v);
      this.orbit.update();
    }
    this.stale = true;
  }

  // A round part of the size of the action, in metres.
  sized(part) { return nice(this.size / part); }

  // A place near another one where nothing is at the start: on the floor, or above what is in the way.
  room([x, y, z], size) {
    const floor = this.seats.findIndex(({ mesh }) => mesh.geometry.userData.flat), boxes = [];
    if (!this.take?.done) return [x, y, z];
    this.seats.forEach(({ mesh: { geometry } }, body) => { if (!geometry.userData.flat) boxes.push(geometry.boundingBox.clone().applyMatrix4(this.matrix(body, m, 0)).expandByScalar(1.5 * size)); });
    const low = floor < 0 ? z : this.take.pose(0, floor)[2] + size, taken = (at) => boxes.some((box) => box.containsPoint(at)), at = new THREE.Vector3(x, y, low);
    for (let k = 1; k < TRIES && taken(at); k++) at.set(x + size * Math.sqrt(k) * Math.cos(GOLDEN * k), y + size * Math.sqrt(k) * Math.sin(GOLDEN * k), low); // as seeds lie in a sunflower
    while (taken(at)) at.z = Math.max(...boxes.filter((box) => box.containsPoint(at)).map((box) => box.max.z)) + 1e-3;
    return at.toArray().map(tidy);
  }

  // The eye goes along with a body, or stays.
  follow(body) { this.following = body; this.led = undefined; }

  // The first of those that can go somewhere.
  solid() { const body = this.seats.findIndex(({ mesh }) => !mesh.geometry.userData.flat); return body < 0 ? undefined : body; }

  matrix(body, into, frame = this.frame) {
    const p = this.take.pose(frame, body);
    return into.compose(v.set(p[0], p[1], p[2]), q.set(p[4], p[5], p[6], p[3]), one);
  }

  flashes_at(frame) {
    const now = frame / this.take.fps;
    if (!this.overlays.visible) return [];
    return this.take.events.filter(({ kind, time, details }) => kind === "contact begins" && details?.at && now - time >= 0 && now - time < FLASH).slice(-10);
  }

  // Rings where something began to touch a moment ago.
  flash() {
    const now = this.frame / this.take.fps, fresh = this.flashes_at(this.frame);
    while (this.flashes.length < fresh.length) {
      const ring = new THREE.Mesh(RING, new THREE.MeshBasicMaterial({ color: "#ff6a3d", transparent: true, depthTest: false }));
      this.rings.add(ring);
      this.flashes.push(ring);
    }
    this.flashes.forEach((ring, k) => {
      ring.visible = k < fresh.length;
      if (!ring.visible) return;
      const age = (now - fresh[k].time) / FLASH;
      ring.position.set(...fresh[k].details.at);
      ring.lookAt(this.camera.position);
      ring.scale.setScalar(ring.position.distanceTo(this.camera.position) * (0.006 + 0.014 * age));
      ring.material.opacity = 1 - age;
    });
  }

  render() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = this.renderer.getPixelRatio();
    if (this.canvas.width !== Math.floor(width * ratio) || this.canvas.height !== Math.floor(height * ratio)) {
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / Math.max(height, 1);
      this.widen();
    }
    if (!this.stale) return false;
    this.stale = false;
    const scale = 0.008 * this.camera.position.distanceTo(this.orbit.target);
    this.rim.value = 0.45 * scale;
    this.thin.value = 0.16 * scale;
    for (const bead of this.beads ?? []) bead.scale.setScalar(scale * (bead === this.bead ? 1.5 : 1));
    for (const dot of this.targets ?? []) dot.scale.setScalar(0.7 * scale);
    if (this.scene.fog) {
      const away = this.camera.position.distanceTo(this.orbit.target);
      this.scene.fog.near = away + 2 * this.size;
      this.scene.fog.far = Math.max(1.3 * this.scene.fog.near, Math.min(2 * away + 14 * this.size, 9 * WIDE)); // before the ground ends
    }
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
    return true;
  }

  // What is seen, without what is only there to work with.
  picture() {
    const helper = this.gizmo.getHelper(), shown = [helper, this.glow].map((thing) => [thing, thing.visible]);
    for (const [thing] of shown) thing.visible = false;
    this.stale = true;
    this.render();
    for (const [thing, before] of shown) thing.visible = before;
    this.stale = true;
    return this.canvas.toDataURL("image/png");
  }

  // Where everything happens that moves, over all frames so far; of what is followed, what is around it now. A toy runs
  // off, and is followed as a whole.
  bounds() {
    const box = new THREE.Box3(), take = this.take, still = new THREE.Box3();
    if (take.toy) {
      this.seats.forEach(({ mesh: { geometry } }, body) => { if (!geometry.userData.flat) box.union(geometry.boundingBox.clone().applyMatrix4(this.matrix(body, m))); });
      return box.expandByVector(box.getSize(new THREE.Vector3()).multiplyScalar(ROOM).clampScalar(0, box.getSize(v).length() * ROOM));
    }
    if (this.seats[this.following]) {
      const [x, y, z] = take.pose(this.frame, this.following), size = this.seats[this.following].mesh.geometry.boundingSphere.radius;
      return box.setFromCenterAndSize(new THREE.Vector3(x, y, z), new THREE.Vector3(2.6 * size, 2.6 * size, 2.6 * size));
    }
    const stride = Math.max(1, Math.floor(take.done / 40)), places = [];
    this.seats.forEach(({ mesh }, body) => {
      const { userData, boundingSphere } = mesh.geometry, size = Math.min(boundingSphere.radius, 20);
      if (userData.flat) return;
      const own = [];
      for (let f = 0; f < take.done; f += stride) {
        const at = take.pose(f, body), last = own.at(-1);
        if (!last || Math.hypot(at[0] - last[0], at[1] - last[1], at[2] - last[2]) > 0.1 * size) own.push(Array.from(at.subarray(0, 3)));
      }
      if (own.length > 1) places.push(...own.map((at) => ({ at, size })));
      else still.union(around(own[0], size));
    });
    // What flies off and does not come back is not waited for.
    const middle = [0, 1, 2].map((k) => median(places.map(({ at }) => at[k])));
    const away = places.map(({ at }) => Math.hypot(at[0] - middle[0], at[1] - middle[1], at[2] - middle[2])), most = 6 * median(away);
    places.forEach(({ at, size }, k) => { if (away[k] <= most + 2 * size) box.union(around(at, size)); });
    return box.isEmpty() ? still : box;
  }

  // Looks at the action; from where the scene's own camera is, if it has one.
  look(camera) {
    if (!this.take || this.take.done === 0) return;
    const box = this.bounds();
    if (box.isEmpty()) box.setFromCenterAndSize(new THREE.Vector3(0, 0, 0.5), new THREE.Vector3(2, 2, 1));
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    if (camera?.from && camera?.to) { // what it shows is what matters
      sphere.center.set(...camera.to);
      sphere.radius = sphere.center.distanceTo(v.set(...camera.from)) * Math.tan(((camera.fov ?? 40) * Math.PI) / 360) * FILM;
    }
    this.size = Math.max(sphere.radius, 1e-3);
    this.square.value = nice(this.size / 4);
    this.sun.position.copy(sphere.center).add(v.set(-0.5, -0.8, 1.6).multiplyScalar(2.2 * this.size));
    this.sun.target.position.copy(sphere.center);
    const half = 1.6 * this.size;
    Object.assign(this.sun.shadow.camera, { left: -half, right: half, top: half, bottom: -half, near: 0.1 * this.size, far: 9 * this.size });
    this.sun.shadow.camera.updateProjectionMatrix();
    if (camera?.from && camera?.to) {
      this.fov = camera.fov ?? 40;
      this.camera.position.set(...camera.from);
      this.orbit.target.set(...camera.to);
    } else {
      this.fov = 35;
      this.orbit.target.copy(sphere.center);
      this.camera.position.copy(sphere.center).add(this.away_from(box, v.set(...(this.take.toy ? ASIDE : ASKEW)).normalize()));
    }
    this.led = undefined;
    this.camera.near = this.size / 100;
    this.camera.far = this.size * 400;
    this.widen();
    this.orbit.update();
  }

  // Stands where a camera of the scene does in a frame; one that follows a body goes along with it, others see all of the
  // action if they tell no place.
  place(camera, body, frame) {
    const start = new THREE.Vector3(), now = new THREE.Vector3(), box = this.bounds();
    if (body !== undefined) { start.fromArray(this.take.pose(0, body)); now.fromArray(this.take.pose(frame, body)); }
    const way = now.clone().sub(start), to = camera?.to ? new THREE.Vector3(...camera.to) : body === undefined ? box.getCenter(new THREE.Vector3()) : start;
    this.fov = camera?.fov ?? 40;
    this.widen();
    this.orbit.target.copy(to).add(way);
    if (camera?.from) this.camera.position.set(...camera.from).add(way);
    else this.camera.position.copy(this.orbit.target).add(this.away_from(box, v.set(...ASKEW).normalize()));
    this.orbit.update();
  }

  // The way from the middle of a box to where all of it is seen, in a direction.
  away_from(box, direction) {
    const high = this.half_height() / 1.08, wide = high * this.camera.aspect; // with a margin
    const middle = box.getCenter(new THREE.Vector3()), right = new THREE.Vector3(0, 0, 1).cross(direction).normalize();
    const up = direction.clone().cross(right), corner = new THREE.Vector3();
    let way = 0;
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(middle);
      way = Math.max(way, corner.dot(direction) + Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(up)) / high));
    }
    return direction.clone().multiplyScalar(way);
  }

  // What is seen of a thing 1 m away, up from the middle: at least what a film of these proportions would show.
  half_height() { return Math.tan((this.fov * Math.PI) / 360) * Math.max(1, FILM / this.camera.aspect); }

  widen() {
    this.camera.fov = (360 / Math.PI) * Math.atan(this.half_height());
    this.camera.updateProjectionMatrix();
    this.stale = true;
  }

  // As a scene's `camera`, for films and pictures.
  seen() {
    return { from: this.camera.position.toArray().map(tidy), to: this.orbit.target.toArray().map(tidy), fov: tidy(this.fov) };
  }

  select(body, bead) {
    this.selected = body;
    this.glow.visible = body !== undefined && this.seats[body] !== undefined && !this.seats[body].mesh.geometry.userData.flat;
    if (this.glow.visible) {
      this.glow.geometry = this.skins.get(body)?.mesh.geometry ?? this.seats[body].mesh.geometry;
      this.glow.matrixAutoUpdate = false;
      if (this.frame !== undefined) this.matrix(body, this.glow.matrix);
    }
    this.bead = bead;
    this.stale = true;
  }

  // Lets something be dragged: {path, at}, and what it goes along with: `within` the frame of a body, or `since` the start
  // with one, which it may be turned by (`turned`) or not.
  attach(handle) {
    this.handle = handle;
    if (!handle) { this.gizmo.detach(); this.stale = true; return; }
    this.gizmo.showZ = !handle.level;
    this.gizmo.attach(this.grip);
    this.stand();
  }

  // The gizmo is where the thing is now.
  stand() {
    if (!this.handle || this.gizmo.dragging) return;
    this.grip.position.copy(this.sight(this.handle).begin);
    this.stale = true;
  }

  // Where a handle is seen in the present frame, and how a way in the world is turned back to what is written.
  sight({ at, within, since, turned }) {
    const begin = new THREE.Vector3(...at), back = new THREE.Matrix4(), body = within ?? since;
    if (body === undefined || this.frame === undefined || !this.seats[body]) return { begin, back };
    const now = this.matrix(body, new THREE.Matrix4()), start = within === undefined ? this.matrix(body, new THREE.Matrix4(), 0) : back;
    begin.applyMatrix4(start.clone().invert()).applyMatrix4(now);
    if (within !== undefined || turned) back.extractRotation(start).multiply(new THREE.Matrix4().extractRotation(now).transpose());
    return { begin, back };
  }

  pointing() {
    const down = new THREE.Vector2(), at = new THREE.Vector2(), ray = new THREE.Raycaster(), plane = new THREE.Plane();
    const aim = (event) => {
      ray.params.Line.threshold = 0.012 * this.camera.position.distanceTo(this.orbit.target);
      const box = this.canvas.getBoundingClientRect();
      at.set(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
      ray.setFromCamera(at, this.camera);
    };
    const hit = () => {
      const beads = this.overlays.visible ? ray.intersectObjects(this.beads ?? []) : [];
      if (beads.length) return { bead: beads[0].object };
      const bodies = ray.intersectObjects([...this.bodies.children, ...[...this.skins.values()].map(({ mesh }) => mesh)]);
      if (!bodies.length) return {};
      return { body: bodies[0].object.userData.bodies[bodies[0].instanceId ?? 0], point: bodies[0].point };
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      down.set(event.clientX, event.clientY);
      if (!this.poking || event.button !== 0) return;
      aim(event);
      const { body, point } = hit();
      if (body === undefined || !this.listener.grabbed(body, this.local(body, point), point.toArray())) return;
      this.orbit.enabled = false;
      this.canvas.setPointerCapture(event.pointerId);
      plane.setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(v), point);
      this.pulling = { body, at: this.local(body, point), to: point.clone() };
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.pulling) return;
      aim(event);
      if (ray.ray.intersectPlane(plane, this.pulling.to)) this.listener.pulled(this.pulling.to.toArray());
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (this.pulling) {
        this.pulling = undefined;
        this.orbit.enabled = true;
        this.spring.visible = false;
        this.listener.let_go();
        return;
      }
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4 || this.gizmo.dragging || this.gizmo.axis) return;
      aim(event);
      const { body, bead } = hit();
      this.listener.picked(body, bead?.userData);
    });
    this.canvas.addEventListener("dblclick", (event) => {
      aim(event);
      if (this.poking) return;
      const [found] = this.overlays.visible ? ray.intersectObjects(this.pathLines ?? []) : [];
      if (found) this.listener.added(found.object.userData, found.point.toArray(), found.index);
    });
  }

  // From the world to the picture, -1 to 1.
  project([x, y, z]) { return v.set(x, y, z).project(this.camera).toArray(); }

  // The middle of the gizmo's arrow that points up.
  gizmo_tip() {
    const size = this.gizmo.size * 0.25 * this.camera.position.distanceTo(this.grip.position) * Math.min(1.9 * Math.tan((Math.PI * this.camera.fov) / 360), 7) * 0.5;
    return this.grip.position.clone().add(new THREE.Vector3(0, 0, size)).toArray();
  }

  local(body, point) {
    this.matrix(body, m);
    return point.clone().applyMatrix4(m.clone().invert()).toArray();
  }

  draw_spring() {
    if (!this.pulling) return;
    this.matrix(this.pulling.body, m);
    v.set(...this.pulling.at).applyMatrix4(m);
    const [coil, bead] = this.spring.children, width = 0.006 * this.camera.position.distanceTo(this.orbit.target);
    const way = this.pulling.to.clone().sub(v);
    coil.position.copy(v);
    coil.quaternion.setFromUnitVectors(UP, way.clone().normalize());
    coil.scale.set(width, width, Math.max(way.length() / LONG, 1e-6));
    bead.position.copy(this.pulling.to);
    bead.scale.setScalar(1.2 * width);
    this.spring.visible = true;
    this.stale = true;
  }
}

const UP = new THREE.Vector3(0, 0, 1);
const LONG = 14; // times as long as it is wide
const COIL = new THREE.TubeGeometry(new (class extends THREE.Curve { // nine turns about z, straight at both ends
  getPoint(t, at = new THREE.Vector3()) {
    const wide = 0.8 * Math.min(1, 12 * t, 12 * (1 - t)), turn = 18 * Math.PI * t;
    return at.set(wide * Math.cos(turn), wide * Math.sin(turn), LONG * t);
  }
})(), 200, 0.16, 5);
const GOAL = new THREE.OctahedronGeometry(1.5);
const BEAD = new THREE.SphereGeometry(1, 20, 12), RING = new THREE.TorusGeometry(1, 0.12, 8, 40);
const tidy = (x) => Number(x.toFixed(3));
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
const around = ([x, y, z], size) => new THREE.Box3().setFromCenterAndSize(v.set(x, y, z), one.clone().multiplyScalar(1.6 * size));
const sameList = (a, b) => a.length === b.length && a.every((x, k) => x === b[k]);

// One material for all things of a colour: they come and go with every change of the scene. Marks are seen through what
// stands before them.
const inks = new Map();
function ink(color) {
  if (!inks.has(color)) inks.set(color, new THREE.MeshBasicMaterial({ color, fog: false, depthTest: false, transparent: true }));
  return inks.get(color);
}

const CORD = "#5b574f";
const threads = new Map();
// What cords are made of: spread about their middle when they are drawn; and a little nearer than what they lie on.
function thread(color, faint, width) {
  const name = `${color} ${faint}`;
  if (threads.has(name)) return threads.get(name);
  const material = new THREE.MeshBasicMaterial({ color, fog: false, transparent: faint, opacity: faint ? 0.75 : 1, depthWrite: !faint });
  material.onBeforeCompile = (shader) => {
    shader.uniforms.width = width;
    shader.vertexShader = `uniform float width;\n${shader.vertexShader
      .replace("#include <begin_vertex>", "vec3 transformed = position + normal * width;")
      .replace("#include <project_vertex>", "#include <project_vertex>\ngl_Position.z -= 0.001 * gl_Position.w;")}`;
  };
  threads.set(name, material);
  return material;
}

const SIDES = 5; // of a cord
function tube(points) {
  const geometry = new THREE.BufferGeometry(), index = [];
  for (let k = 0; k + 1 < points; k++) for (let s = 0; s < SIDES; s++) {
    const a = SIDES * k + s, b = SIDES * k + ((s + 1) % SIDES);
    index.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
  }
  geometry.setIndex(index);
  for (const name of ["position", "normal"]) geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * SIDES * points), 3));
  return geometry;
}

// Lays a tube along points.
function along(geometry, points) {
  const { position, normal } = geometry.attributes, way = new THREE.Vector3(), side = new THREE.Vector3(), other = new THREE.Vector3();
  points.forEach(([x, y, z], k) => {
    const [ax, ay, az] = points[Math.max(k - 1, 0)], [bx, by, bz] = points[Math.min(k + 1, points.length - 1)];
    way.set(bx - ax, by - ay, bz - az).normalize();
    side.set(0, 0, 1).cross(way);
    if (side.lengthSq() < 1e-6) side.set(1, 0, 0);
    side.normalize();
    other.crossVectors(way, side);
    for (let s = 0; s < SIDES; s++) {
      const c = Math.cos((2 * Math.PI * s) / SIDES), d = Math.sin((2 * Math.PI * s) / SIDES);
      position.setXYZ(SIDES * k + s, x, y, z);
      normal.setXYZ(SIDES * k + s, c * side.x + d * other.x, c * side.y + d * other.y, c * side.z + d * other.z);
    }
  });
  position.needsUpdate = normal.needsUpdate = true;
}

const nice = (x) => { const ten = 10 ** Math.floor(Math.log10(x)); return ten * (x / ten < 2 ? 1 : x / ten < 5 ? 2 : 5); };

// Squares on a floor, as in films, averaged over a pixel: they show how fast things go, and do not flicker far away.
function chequer(material, square) {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.square = square;
    shader.vertexShader = `varying vec2 floorAt;\n${shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\nfloorAt = (modelMatrix * instanceMatrix * vec4(position, 1.0)).xy;")}`;
    shader.fragmentShader = `varying vec2 floorAt;
uniform float square;
vec2 wave(vec2 x) { x = mod(x, 2.0); return min(x, 2.0 - x); }
${shader.fragmentShader.replace("#include <color_fragment>", `#include <color_fragment>
vec2 at = floorAt / square, wide = max(fwidth(at), vec2(1e-3));
vec2 mean = (wave(at + 0.5 * wide) - wave(at - 0.5 * wide)) / wide;
diffuseColor.rgb *= 1.0 + ${CHEQUER} * mean.x * mean.y;`)}`;
  };
}

// A line round what is selected: its back, drawn a little larger.
function rim(width) {
  const material = new THREE.MeshBasicMaterial({ color: "#ff6a3d", side: THREE.BackSide, fog: false });
  material.onBeforeCompile = (shader) => {
    shader.uniforms.width = width;
    shader.vertexShader = `uniform float width;\n${shader.vertexShader.replace("#include <begin_vertex>", "vec3 transformed = position + normal * width;")}`;
  };
  return material;
}

// A rope between its ends, sagging by its slack (a parabola of that length, to the eye).
function hanging([ax, ay, az, bx, by, bz, slack], count) {
  const length = Math.hypot(bx - ax, by - ay, bz - az);
  const depth = slack > 0 ? Math.sqrt((3 / 8) * slack * (length + 0.5 * slack)) : 0;
  return Array.from({ length: count }, (_, k) => {
    const u = k / (count - 1);
    return [ax + u * (bx - ax), ay + u * (by - ay), az + u * (bz - az) - 4 * depth * u * (1 - u)];
  });
}
