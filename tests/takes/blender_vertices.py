"""Run in an environment with `bpy`: python blender_vertices.py take.glb FPS FRAMES out.npz

Imports a .glb as an artist does, and keeps where Blender has the vertices of every mesh with shape keys: NAME.rest (V,
3) as they lie in their object, NAME (F, V, 3) in the world at every frame.
"""

import sys

import bpy
import numpy as np

source, fps, frames, out = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps
bpy.ops.import_scene.gltf(filepath=source)
soft = [thing for thing in scene.objects if thing.type == "MESH" and thing.data.shape_keys is not None]
kept = {thing.name: [] for thing in soft}


def places(items):
    values = np.empty((len(items), 3), np.float32)
    items.foreach_get("co", values.ravel())
    return values.astype(float)


for frame in range(frames):
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in soft:
        seen = thing.evaluated_get(graph)
        mesh, place = seen.to_mesh(), np.array(seen.matrix_world)
        kept[thing.name].append(places(mesh.vertices) @ place[:3, :3].T + place[:3, 3])
        seen.to_mesh_clear()
arrays = {f"{thing.name}.rest": places(thing.data.shape_keys.key_blocks[0].data) for thing in soft}
arrays |= {name: np.array(values) for name, values in kept.items()}
np.savez(out, **arrays)
