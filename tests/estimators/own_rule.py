"""A rule of the user's own, in one place: each is compiled into the loop anew, once in every process."""

from numba import njit


@njit
def half_of_pa(scores, relevant, norms, margin, C, g):
    """Half the plain step towards the worst rival."""
    r = relevant[0]
    worst = -1
    for s in range(scores.shape[0]):
        if s != r and (worst < 0 or scores[s] > scores[worst]):
            worst = s
    loss = margin - (scores[r] - scores[worst])
    if loss > 0.0 and norms[0, worst] > 0.0:
        g[r] = 0.5 * loss / norms[0, worst]
        g[worst] = -g[r]
