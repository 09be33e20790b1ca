"""Where mail lies: Maildir, mbox, IMAP, one message on stdin."""
