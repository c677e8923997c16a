"""A figure as a MuJoCo model: the independent engine that the simulator is checked and timed against."""

import mujoco
import numpy as np

from impel.toys.mechanism import mechanism_of


def model_of(figure, *, step, integrator="RK4", native=False):
    """Slides, hinges and springs; with `native` also MuJoCo's own position servos and contact with a floor."""
    m = mechanism_of(figure)
    names = list(figure.joints)
    bodies = {i: [] for i in range(len(m.links))}
    for i, parent in enumerate(m.parent):
        if parent >= 0:
            bodies[parent].append(i)
    contacts = {i: [] for i in range(len(m.links))}
    for k, link in enumerate(m.contact_link):
        contacts[link].append(k)

    def body(i):
        x, z = m.arm[i]
        cx, cz = m.center[i]
        link = figure.links[m.links[i]]
        text = f'<body name="b{i}" pos="{x!r} 0 {z!r}">'
        if i == 0:
            text += '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
            text += '<joint type="hinge" axis="0 -1 0"/>'
        else:
            joint = figure.joints[names[m.joint[i]]]
            passive = "" if native and joint.active else f'stiffness="{joint.stiffness}"'
            limits = ""
            if native and joint.limits:
                low, high = (float(a) for a in np.radians(joint.limits))
                limits = f'limited="true" range="{low!r} {high!r}"'
            text += f'<joint name="j{i}" type="hinge" axis="0 -1 0" {passive} damping="{joint.damping!r}" {limits}/>'
        moment = link.moment()
        text += f'<inertial pos="{cx!r} 0 {cz!r}" mass="{link.mass!r}" diaginertia="{moment!r} {moment!r} {moment!r}"/>'
        for k in contacts[i]:
            ex, ez = m.contact_arm[k]
            text += f'<site name="c{k}" pos="{ex!r} 0 {ez!r}"/>'
            if native:
                text += f'<geom type="sphere" size="0.001" pos="{ex!r} 0 {ez!r}" conaffinity="0" condim="3" mass="0"/>'
        return text + "".join(body(c) for c in bodies[i]) + "</body>"

    servos = floor = flags = ""
    if native:
        floor = f'<geom type="plane" size="0 0 1" contype="0" conaffinity="1" friction="{figure.ground.friction} 0 0"/>'
        flags = '<flag island="disable" midphase="disable" sensor="disable"/>'
        servos = "<actuator>" + "".join(
            f'<position joint="j{i}" kp="{figure.joints[names[m.joint[i]]].stiffness}"/>'
            for i in range(1, len(m.links))
            if figure.joints[names[m.joint[i]]].active
        ) + "</actuator>"
    xml = f"""<mujoco><compiler angle="radian" boundmass="0" balanceinertia="false"/>
      <option timestep="{step}" integrator="{integrator}" gravity="0 0 -9.81" jacobian="dense">{flags}</option>
      <worldbody>{floor}{body(0)}</worldbody>{servos}</mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


def relative(figure, positions):
    """Our coordinates (absolute turns) as MuJoCo's (angles of the joints)."""
    m = mechanism_of(figure)
    out = np.array(positions, float)
    for i in range(1, len(m.links)):
        out[2 + i] -= positions[2 + m.parent[i]]
    return out


def absolute(figure, positions):
    m = mechanism_of(figure)
    out = np.array(positions, float)
    for i in range(1, len(m.links)):
        out[2 + i] += out[2 + m.parent[i]]
    return out
