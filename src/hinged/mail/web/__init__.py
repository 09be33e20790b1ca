"""The mail page: an inbox with three folders beside each message, filed by one key."""
