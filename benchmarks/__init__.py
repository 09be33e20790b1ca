"""Time and memory benchmarks of `hinged` and other libraries; run with ``python -m benchmarks`` from the checkout."""

import os

# One core for everyone. The libraries read these when they are first imported, so this must stay the first thing done.
for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"
