// Soft bodies, once their take is known to its end: a surface of their own, mixed of a few shapes at each frame.

import * as THREE from "three";

export class Skin {
  // What `/soft/RUN/BODY` gives, and the colours of both tones.
  constructor(data, body, colors) {
    const [vertices, triangles, plain, shapes] = new Uint32Array(data, 0, 4);
    let at = 20;
    const floats = (count) => { at += 4 * count; return new Float32Array(data, at - 4 * count, count); };
    this.rest = [floats(3 * vertices), floats(3 * vertices)];
    const index = new Uint32Array(data, at, 3 * triangles);
    at += 12 * triangles;
    this.shapes = [[], []]; // shifts of vertices, changes of normals
    for (let k = 0; k < shapes; k++) for (const parts of this.shapes) parts.push(floats(3 * vertices));
    this.count = shapes;
    this.weights = new Float32Array(data, at);
    const geometry = new THREE.BufferGeometry();
    this.seen = this.rest.map((values, k) => {
      const attribute = new THREE.BufferAttribute(values.slice(), 3).setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(k === 0 ? "position" : "normal", attribute);
      return attribute;
    });
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    geometry.addGroup(0, 3 * plain, 0);
    geometry.addGroup(3 * plain, 3 * (triangles - plain), 1);
    geometry.computeBoundingSphere();
    const materials = colors.map((color) => new THREE.MeshStandardMaterial({ color, roughness: 0.75, metalness: 0 }));
    this.mesh = new THREE.Mesh(geometry, materials);
    Object.assign(this.mesh, { castShadow: true, receiveShadow: true, frustumCulled: false, matrixAutoUpdate: false });
    this.mesh.userData.bodies = [body];
  }

  dress(colors) { colors.forEach((color, k) => this.mesh.material[k].color.copy(color)); }

  // Lies as it did in that frame.
  show(frame) {
    if (frame === this.frame) return;
    this.frame = frame;
    const weights = this.weights.subarray(this.count * frame, this.count * (frame + 1));
    this.seen.forEach((attribute, part) => {
      const values = attribute.array;
      values.set(this.rest[part]);
      weights.forEach((weight, k) => {
        if (weight === 0) return;
        const shape = this.shapes[part][k];
        for (let i = 0; i < values.length; i++) values[i] += weight * shape[i];
      });
      attribute.needsUpdate = true;
    });
  }

  drop() {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    for (const material of this.mesh.material) material.dispose();
  }
}
