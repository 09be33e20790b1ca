"""A mailbox with its page for each test, and one browser for all of them."""

from tests.mail.web.site import chromium, mailbox, opened, site  # noqa: F401
