"""A name server on a loopback port, with the answers that a test gives it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from tests import needs


class NameServer:
    """Answers questions over UDP, and over TCP where `tcp` is given.

    Attributes
    ----------
    records : what it knows: by name, such as _imaps._tcp.example.org, lines as in a zone file
    spoil : None, or a function of the question and the right answer, which returns what is sent; b"" sends nothing
    asked : the names that were asked for
    """

    def __init__(self, tcp: bool = False) -> None:
        self._dns = {part: needs.module(f"dns.{part}", "the extra mail") for part in ("message", "rcode", "rrset")}
        self.records: dict[str, list[str]] = {}
        self.spoil: Callable[[bytes, bytes], bytes] | None = None
        self.asked: list[str] = []
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self.port = self._udp.getsockname()[1]
        self._threads = [threading.Thread(target=self._serve)]
        self._tcp = None
        if tcp:
            self._tcp = socket.create_server(("127.0.0.1", self.port))
            self._threads.append(threading.Thread(target=self._serve_tcp))
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._udp.sendto(b"", self._udp.getsockname())
        if self._tcp is not None:
            self._tcp.shutdown(socket.SHUT_RDWR)
            self._tcp.close()
        for thread in self._threads:
            thread.join()
        self._udp.close()

    def _serve(self) -> None:
        while True:
            question, client = self._udp.recvfrom(4096)
            if not question:
                return
            right = self._answer(question)
            sent = right if self.spoil is None else self.spoil(question, right)
            if sent:
                self._udp.sendto(sent, client)

    def _serve_tcp(self) -> None:
        while True:
            try:
                client, _ = self._tcp.accept()
            except OSError:
                return
            with client:
                answer = self._answer(client.recv(4096)[2:])
                client.sendall(len(answer).to_bytes(2, "big") + answer)

    def _answer(self, question: bytes) -> bytes:
        message, rcode, rrset = self._dns.values()
        asked = message.from_wire(question)
        name = asked.question[0].name.to_text(omit_final_dot=True)
        self.asked.append(name)
        answer = message.make_response(asked)
        if name not in self.records:
            answer.set_rcode(rcode.NXDOMAIN)
        said = set[str]()
        while name in self.records and name not in said:  # aliases are followed, each once
            said.add(name)
            for line in self.records[name]:
                kind, _, value = line.partition(" ")
                answer.answer.append(rrset.from_text(f"{name}.", 60, "IN", kind, value))
            name = value.rstrip(".")
        return answer.to_wire()
