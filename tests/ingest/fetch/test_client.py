"""Case 51 and the kinds near it: what is never asked, and what never fills the memory or holds up a run."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from evidence.ingest.fetch.client import Answer, Client, NotAllowed, NotFetched, TooLarge, Unreachable
from tests.ingest.site import HTML, LOOPBACK, NAME, Reply, Site, client

LIMIT = 100_000


def got(site: Site, target: str = "/", *, by: Client | None = None, host: str = NAME, limit: int = LIMIT) -> bytes:
    """The body of what a path answers."""
    with (by or client()).get(site.url(target, host)) as answer:
        return answer.body(limit)


def answered(site: Site, target: str = "/", *, by: Client | None = None) -> Answer:
    with (by or client()).get(site.url(target)) as answer:
        return answer


def test_a_page_comes_with_its_status_and_headers(site: Site) -> None:
    site.page("/", says="Welcome.")
    assert b"Welcome." in got(site)
    answer = answered(site)
    assert (answer.status, answer.headers["content-type"]) == (200, HTML)
    sent = site.asked[0].headers
    assert sent["Host"] == f"{NAME}:{site.port}"
    assert sent["User-Agent"] == "SPIRE/test"
    assert not {"Cookie", "Authorization", "Referer"} & set(sent)


def test_no_cookie_is_kept_and_no_proxy_is_taken_from_the_environment(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy resolves the name once more, and asks whom it likes."""
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:1/")
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:1/")
    site.put("/", b"<p>x", Set_Cookie="session=1")
    by = client()
    got(site, by=by)
    got(site, by=by)
    assert "Cookie" not in site.asked[1].headers


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "0.0.0.0", "fd00:ec2::254"]
)
def test_a_name_that_leads_to_no_public_address_is_not_asked(site: Site, address: str) -> None:
    """A name of the attacker's own, that their DNS sends into our network."""
    site.page("/")
    with pytest.raises(NotAllowed, match="SPIRE_FETCH_ALLOW"):
        got(site, by=client(allowed=(), resolve=lambda host, port: [address]))
    assert site.asked == []


def test_one_address_of_many_that_is_not_public_is_enough(site: Site) -> None:
    with pytest.raises(NotAllowed):
        got(site, by=client(allowed=(), resolve=lambda host, port: ["93.184.215.14", LOOPBACK]))


def test_the_checked_address_is_the_one_connected_to(site: Site) -> None:
    """DNS rebinding: public when it is checked, ours when it is connected to."""
    site.page("/")
    answers: Iterator[list[str]] = iter([[LOOPBACK]])
    resolved: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        resolved.append(host)
        return next(answers, ["10.0.0.1"])

    by = client(resolve=resolve)
    got(site, by=by)
    got(site, by=by)
    assert resolved == [NAME], "once for a connection, which is kept"


def test_a_host_is_allowed_by_its_name(site: Site) -> None:
    site.page("/")
    assert got(site, by=client(allowed=(NAME,)))
    assert got(site, by=client(allowed=(".example",)))
    with pytest.raises(NotAllowed):
        got(site, by=client(allowed=(".example",)), host="site.other")


def test_the_port_of_another_service_is_not_asked() -> None:
    """A mail server, that takes the lines of a request for commands."""
    with (
        pytest.raises(NotAllowed, match="port 25"),
        client(allowed=(), resolve=lambda host, port: ["8.8.8.8"]).get("http://mail.example:25/"),
    ):
        pass


def test_a_name_without_an_address_is_unreachable(site: Site) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(Unreachable, match="has no address: Name or service not known"):
        got(site, by=client(resolve=resolve))


def test_a_host_where_nobody_listens_is_unreachable(site: Site) -> None:
    with pytest.raises(Unreachable, match="could not be connected to"), client().get(f"http://{NAME}:1/"):
        pass


def test_a_redirect_is_not_followed(site: Site) -> None:
    """Who follows it without a look asks for whatever a stranger writes there."""
    site.redirect("/", "http://169.254.169.254/latest/meta-data/")
    assert answered(site).leads_to == "http://169.254.169.254/latest/meta-data/"


def test_a_page_that_is_too_long_is_left(site: Site) -> None:
    """By what it declares, and, where it declares nothing, by what came."""
    site.put("/", bytes(LIMIT + 1))
    site.replies["/endless"] = Reply(b"x" * 1000 for _ in iter(int, 1))
    for target in ("/", "/endless"):
        with pytest.raises(TooLarge):
            got(site, target)
    site.put("/", bytes(LIMIT))
    assert len(got(site)) == LIMIT
    with client().get(site.url("/endless")) as answer:
        assert len(answer.body(5000, rest_is_left=True)) == 5000


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_is_unpacked_no_further_than_the_limit(site: Site, layers: int) -> None:
    """30 MB in 30 kB, or the same packed twice: a page that fills the memory."""
    body = zlib.compress(bytes(30_000_000), wbits=31)
    body = gzip.compress(body) if layers == 2 else body
    encoding = ", ".join(["gzip"] * layers)
    site.replies["/"] = Reply(body, headers={"Content-Encoding": encoding})
    with pytest.raises(TooLarge if layers == 1 else Unreachable):
        got(site)
    with client().get(site.url()) as answer:
        with pytest.raises(NotFetched):
            answer.body(LIMIT)
        assert answer.received <= len(body)


def test_a_page_packed_by_gzip_is_unpacked(site: Site) -> None:
    site.packed("/", b"<p>Packed.")
    assert got(site) == b"<p>Packed."
    assert site.asked[0].headers["Accept-Encoding"] == "gzip"
    site.replies["/two"] = Reply(gzip.compress(b"one ") + gzip.compress(b"two"), headers={"Content-Encoding": "gzip"})
    assert got(site, "/two") == b"one two"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(gzip.compress(b"half of it")[:-9], "gzip"), (b"not gzip", "gzip"), (b"x", "br"), (b"x", "deflate")],
)
def test_a_page_that_came_damaged_is_not_taken(site: Site, body: bytes, encoding: str) -> None:
    """Half a page that replaces the whole one."""
    site.replies["/"] = Reply(body, headers={"Content-Encoding": encoding})
    with pytest.raises(Unreachable):
        got(site)


def test_a_page_that_breaks_off_is_not_taken(site: Site) -> None:
    site.replies["/"] = Reply([b"<p>half"], headers={"Content-Length": "5000"})
    with pytest.raises(Unreachable, match="broke off"):
        got(site)


def test_a_server_that_says_nothing_is_waited_for_so_long_only(site: Site) -> None:
    quiet = threading.Event()

    def silence() -> Reply:
        quiet.wait(10)
        return Reply()

    site.replies["/"] = silence
    try:
        with pytest.raises(Unreachable, match="did not answer in time"):
            got(site, by=client(read=0.05))
    finally:
        quiet.set()


def test_a_server_that_drips_is_not_waited_for_without_end(site: Site) -> None:
    """A byte now and then keeps each single wait short, and the run is held up for days."""
    stop = threading.Event()

    def drops() -> Iterator[bytes]:
        while not stop.wait(0.02):
            yield b"x"

    site.replies["/"] = Reply(drops())
    try:
        with pytest.raises(Unreachable, match="did not answer in time"):
            got(site, by=client(read=5, whole=0.3))
    finally:
        stop.set()


def test_what_is_no_http_is_unreachable(site: Site) -> None:
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]

        def greet() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(Unreachable), client().get(f"http://{NAME}:{port}/"):
            pass
        thread.join()


def test_https_is_checked_against_the_name_of_the_url(site: Site) -> None:
    """A checked address whose certificate is not looked at is whose it likes; a plain server is none at all."""
    seen: dict[str, Any] = {}

    class Watching(ssl.SSLContext):
        def wrap_socket(self, sock: Any, *args: Any, server_hostname: Any = None, **kwargs: Any) -> Any:
            seen["name"] = server_hostname
            return super().wrap_socket(sock, *args, server_hostname=server_hostname, **kwargs)

    context = Watching(ssl.PROTOCOL_TLS_CLIENT)
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    by = client(tls=context)
    with pytest.raises(Unreachable), by.get(f"https://{NAME}:{site.port}/"):
        pass
    assert seen["name"] == NAME
