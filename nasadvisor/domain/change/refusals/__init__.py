"""Every refusal as a sentence: what, why, what instead. One file a subject; all are imported from here.

One function a refusal, named in capitals like a class because it stands for one: `TooSmall(...)` is a `Refused` with
the code "too-small". Texts are marked for translation and hold no values of their own. Its docstring is what
`nasadvisor explain too-small` says beyond the sentence, so it is written for administrators.
"""

from nasadvisor.domain.change.refusals.disks import *  # noqa: F403
from nasadvisor.domain.change.refusals.plans import *  # noqa: F403
from nasadvisor.domain.change.refusals.platforms import *  # noqa: F403
from nasadvisor.domain.change.refusals.pools import *  # noqa: F403
from nasadvisor.domain.change.refusals.slices import *  # noqa: F403
from nasadvisor.domain.change.refusals.vdevs import *  # noqa: F403
