"""The commands of the mail assistant, `hinged mail ...`, one file per command or pair."""

__all__: list[str] = []
