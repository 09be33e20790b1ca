"""Plain twins: the papers transcribed in slow NumPy, to compare the compiled library with."""
