"""Before time 0: bodies whose joints start apart are brought together."""

from impel.kernel import kernel
from impel.physics.closing import close_gaps
from impel.physics.joints import LIVE
from impel.physics.rattle import hold_velocities

ITERATIONS = 200  # 3 to 10 are usual; many only where the joints cannot be closed


@kernel
def assemble(bodies, joints):
    """Close the gaps of all joints; return the largest that remains, in m or rad.

    Afterwards the velocities agree with the joints and the first step may begin.
    """
    largest = 0.0
    for j in range(len(joints.active)):
        joints.active[j] = 0.0
    for k in range(len(joints.each)):
        joint = joints.each[k]
        firm = joint.firm
        for r in range(joint.row, joint.row_end):
            live = r != joint.limit and firm > 0
            joints.rows[r, LIVE] = 1.0 if live else 0.0
            firm -= live
    for island in range(len(joints.island) - 1):
        largest = max(largest, close_gaps(bodies, joints, island, ITERATIONS))
    hold_velocities(bodies, joints)
    return largest
