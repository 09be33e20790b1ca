"""Readers fed with damaged files: no crash, no hang, no row lost in silence."""
