"""Trees whose nodes have vectors in space, read by a fold that does not tell a rotated body from the same unrotated.

The page *How equivariant is it?* has a table of what such a fold gains.

Examples:
    >>> from cdl_arch.symmetry import bodies
    >>> body = bodies.bodies(1, (3, 3), 0)[0]
    >>> turned = bodies.rotated([body], 1)[0]
    >>> bool(jnp.allclose(bodies.gyration(body), bodies.gyration(turned), rtol=1e-4))
    True
"""

# isort: off
from ._data import Body as Body, BodyF as BodyF, Mass as Mass, Rod as Rod, LAW as LAW
from ._data import bodies as bodies, gyration as gyration, moments as moments, rotated as rotated
from ._networks import CARRIER as CARRIER, Turning as Turning, Free as Free, free as free, check as check
from ._networks import parameters as parameters, predict as predict
