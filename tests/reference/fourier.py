"""Random Fourier features, written down: frequencies from raw bits, features from frequencies."""

import numpy as np


def frequencies(columns, n, gamma, seed):
    r"""Frequencies :math:`\omega` (columns, n/2) of variance :math:`2\gamma`, each column by itself.

    A column's raw numbers of 64 bits are those of Philox with the seed as its key, from a counter of the column's
    number times a fourth of how many a column takes: as many as frequencies, rounded up to a multiple of four. Their
    upper 53 bits make a number u in (0, 1); the first half are radii, the second angles, of Box and Muller's pairs

    .. math:: \sqrt{-2 \log u}\,\cos(2\pi v), \quad \sqrt{-2 \log u}\,\sin(2\pi v).
    """
    m = n // 2
    taken = -(-m // 4) * 4
    out = []
    for column in range(columns):
        raw = np.random.Philox(key=seed, counter=column * (taken // 4)).random_raw(taken)
        u, v = np.split((np.floor(raw / 2**11) + 0.5) / 2**53, 2)
        pairs = np.sqrt(-2 * np.log(u)) * np.exp(2j * np.pi * v)
        out.append(np.concatenate([pairs.real, pairs.imag])[:m])
    return np.sqrt(2 * gamma) * np.array(out).reshape(columns, m)


class FourierScaler:
    r"""Turn a raw row into the random features that are learnt, then append the bias.

    .. math:: z(x) = \frac{1}{\sqrt m}(\cos\langle\omega_1, x\rangle, \dots, \sin\langle\omega_m, x\rangle)

    with x the row as `scaler` scales it, without a bias of its own.
    """

    def __init__(self, scaler, omega, bias=0.0):
        self.scaler, self.omega, self.bias = scaler, omega, bias

    def row(self, raw):
        phases = self.scaler.row(raw) @ self.omega
        z = np.concatenate([np.cos(phases), np.sin(phases)]) / np.sqrt(len(phases))
        return np.append(z, self.bias) if self.bias else z

    def enter(self, raw):
        self.scaler.enter(raw)
