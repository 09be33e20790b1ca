"""Sharing: which labels own which weights, always as groups of labels (HS sec. 4)."""

import numpy as np
from tests.reference.label_features import feature_map


def groups(scheme, labels, features=None):
    r"""The collection :math:`\mathcal{T}` of a scheme, as pairs of a label set and its feature map.

    `multi` is a singleton per label with the row itself, `single` one set of all labels with the label
    features, `hybrid` the two together; these are the special cases named in HS sec. 4.

    Parameters
    ----------
    scheme : {"multi", "single", "hybrid"} or list of sets
        A list holds the sets themselves.
    labels : list
        Every label of the stream, known or not yet.
    features : a feature map's spelling, or a list of one per set
        None is the row itself.
    """
    prototypes = [({r}, feature_map(None)) for r in labels]
    if scheme == "multi":
        return prototypes
    if scheme == "single":
        return [(set(labels), feature_map(features))]
    if scheme == "hybrid":
        return [*prototypes, (set(labels), feature_map(features))]
    maps = features if features is not None else [None] * len(scheme)
    return [(set(members), feature_map(phi)) for members, phi in zip(scheme, maps, strict=True)]


def label_vector(collection, x, r, statistics):
    r"""The label's vector :math:`V_r = (\tau(r)\, \phi^\tau(x, r))_{\tau \in \mathcal{T}}`, concatenated.

    A label in no set has the zero vector, so its score is 0.
    """
    blocks = [phi(x, r, statistics) if r in members else np.zeros_like(x) for members, phi in collection]
    return np.concatenate(blocks) if blocks else np.zeros(0)
