"""Signing in to mail by OAuth2: a client of the user's own, access tokens in memory, refresh tokens in the keyring."""
