"""What counts as this machine: one answer for the service, the page and mail servers."""

import pytest

from hinged.http.local import LOCAL_HOSTS, is_local


@pytest.mark.parametrize("host", [*LOCAL_HOSTS, "::1", "127.0.0.2", "127.255.255.254"])
def test_loopback_is_this_machine(host):
    assert is_local(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "192.168.1.5", "example.org", "127.example.org", "localhost.x"])
def test_other_hosts_are_not_this_machine(host):
    assert not is_local(host)
