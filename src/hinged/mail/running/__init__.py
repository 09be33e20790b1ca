"""The assistant as one running process: it watches accounts, and answers commands over a Unix socket."""
