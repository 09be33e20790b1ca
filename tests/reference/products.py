"""Hashed products of a row's values, written down with Python's own numbers."""

import numpy as np

LOW = 2**32 - 1


def mixed(h):
    """The finaliser lowbias32 of 32 bits."""
    h = (h ^ h >> 16) * 0x7FEB352D & LOW
    h = (h ^ h >> 15) * 0x846CA68B & LOW
    return h ^ h >> 16


def code(seed, i, j=None):
    """32 bits for column i, or for the pair of columns i < j, counted from 0."""
    start = mixed(mixed(seed & LOW) ^ seed >> 32)
    key = mixed((i + 1) ^ start)
    return mixed(key) if j is None else mixed((key + 0x9E3779B9 * (j + 1)) & LOW)


def features(x, products):
    r"""The dense row z(x) of :math:`2^{bits}` columns: low bits of a code are the column, the highest the sign."""
    z, there = np.zeros(2**products.bits), np.flatnonzero(x)

    def add(value, bits):
        z[bits % 2**products.bits] += value if bits >= 2**31 else -value

    for i in there:
        add(x[i], code(products.random_state, int(i)))
    if len(there) <= products.most:
        for a, i in enumerate(there):
            for j in there[a + 1 :]:
                value = products.weight * np.sqrt(2) * x[i] * x[j] / np.linalg.norm(x)
                add(value, code(products.random_state, int(i), int(j)))
    return z


class ProductsScaler:
    """Turn a raw row into the hashed features that are learnt, then append the bias; `scaler` has none of its own."""

    def __init__(self, scaler, products, bias=0.0):
        self.scaler, self.products, self.bias = scaler, products, bias

    def row(self, raw):
        z = features(self.scaler.row(raw), self.products)
        return np.append(z, self.bias) if self.bias else z

    def enter(self, raw):
        self.scaler.enter(raw)
