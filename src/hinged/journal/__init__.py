"""What was learnt, kept so that it survives: a journal of corrections, and snapshots of the model beside it."""

__all__: list[str] = []
