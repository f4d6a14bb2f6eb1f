"""A sign-in service on loopback that speaks OpenID Connect, and does what one should not on bad days."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.stub_server import serving

CLIENT = "spire"
SECRET = "a secret of two"
KID = "key-1"


@lru_cache
def private_key(name: str = "") -> rsa.RSAPrivateKey:
    """A key; the service's own, or another."""
    return rsa.generate_private_key(65537, 2048)


def _unchanged(claims: dict[str, Any]) -> dict[str, Any]:
    return claims


@dataclass
class Service:
    """The service as a test sets it: who signs in, what their ID token says besides, and how it is signed."""

    url: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "1", "preferred_username": "anna"})
    change: Callable[[dict[str, Any]], dict[str, Any]] = _unchanged
    key: rsa.RSAPrivateKey = field(default_factory=private_key)
    signed_by: rsa.RSAPrivateKey | str | None = None
    algorithm: str = "RS256"
    headers: dict[str, Any] = field(default_factory=lambda: {"kid": KID})
    userinfo: dict[str, Any] | None = None
    id_token: str = ""
    denied: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)

    def configuration(self) -> dict[str, Any]:
        addresses = {f"{name}_endpoint": f"{self.url}/{name}" for name in ("authorization", "token", "userinfo")}
        if self.userinfo is None:
            del addresses["userinfo_endpoint"]
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **addresses}

    def keys(self) -> dict[str, Any]:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**key, "kid": KID, "alg": "RS256", "use": "sig"}]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the service leads back to, once its person has signed in."""
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        told = {"error": "access_denied"} if self.denied else {"code": code}
        return f"{asked['redirect_uri']}?{urlencode({**told, 'state': asked['state']})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        asked = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or form["client_secret"] != SECRET or asked.get("code_challenge") != challenge:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": asked["nonce"], **self.person}
        signed = jwt.encode(
            self.change(claims), self.signed_by or self.key, algorithm=self.algorithm, headers=self.headers
        )
        self.tokens.append(self.id_token or signed)
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": self.tokens[-1]}


@contextmanager
def service() -> Iterator[Service]:
    """A sign-in service, while it is used."""
    state = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/authorization":
                self.send_response(302)
                self.send_header("Location", state.authorize(dict(parse_qsl(address.query))))
                self.end_headers()
                return
            pages = {
                "/.well-known/openid-configuration": state.configuration,
                "/keys": state.keys,
                "/userinfo": lambda: state.userinfo,
            }
            self._say(200, pages[address.path]())

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self._say(*state.token({name: values[0] for name, values in form.items()}))

        def _say(self, status: int, said: Any) -> None:
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}"
        with serving(server):
            yield state
