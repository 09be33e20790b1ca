"""Small integers by which the compiled loops tell the built-in rules apart.

A jitted function passed as an argument would be compiled again in every process; a number is not.
"""

from __future__ import annotations

PERCEPTRON = 0
PA = 1
PA1 = 2
PA2 = 3
SIMPERC = 4
SIMPROJ = 5
CONPROJ = 6
OPTIMAL = 7
MIRA = 8
OWN = 9
INTERIOR = 10  # OPTIMAL by interior points
