"""What the papers prove of mistakes: each bound as a function of a stream and a comparator, one found in hindsight."""

from hinged.bounds.comparators import Comparator, losses, objective
from hinged.bounds.drawing import plot_trace, trace_svg
from hinged.bounds.formulas import Bound
from hinged.bounds.metric import adaptive_bound
from hinged.bounds.running import Trace, mistake_bound, trace
from hinged.bounds.solver import Hindsight, hindsight
from hinged.bounds.streams import Stream, as_stream
from hinged.bounds.theorems import (
    hs_theorem_1,
    lr_equation_2,
    pa_theorem_2,
    pa_theorem_3,
    pa_theorem_4,
    pa_theorem_5,
    pa_theorem_10,
    simproj_bound,
    sp_corollary_1,
    sp_theorem_1,
)

__all__ = [
    "Bound",
    "Comparator",
    "Hindsight",
    "Stream",
    "Trace",
    "adaptive_bound",
    "as_stream",
    "hindsight",
    "hs_theorem_1",
    "losses",
    "lr_equation_2",
    "mistake_bound",
    "objective",
    "pa_theorem_2",
    "pa_theorem_3",
    "pa_theorem_4",
    "pa_theorem_5",
    "pa_theorem_10",
    "plot_trace",
    "simproj_bound",
    "sp_corollary_1",
    "sp_theorem_1",
    "trace",
    "trace_svg",
]
