"""How each peer is run at its best."""
