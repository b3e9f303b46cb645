from __future__ import annotations

import ssl
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.loopback import QuietHandler, serving
from typing_extensions import override

from citewell.core.errors import HostUnreachable
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio


def write_certificate(folder: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@contextmanager
def tls_site(certificate: Path, names_asked: list[str | None]) -> Iterator[int]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.reply(200, self.headers["Host"].encode())

    class Server(ThreadingHTTPServer):
        @override
        def handle_error(self, request: object, client_address: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda connection, name, context: names_asked.append(name)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield server.server_address[1]


async def to_loopback(name: str, port: int) -> Collection[str]:
    return ["127.0.0.1"]


async def test_tls_is_for_the_name_while_the_connection_goes_to_the_checked_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path, "heron.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    names_asked: list[str | None] = []

    with tls_site(certificate, names_asked) as port:
        async with Fetcher(
            allowed_private_hosts=("127.0.0.1",), resolve=to_loopback, respect_robots=False
        ) as fetcher:
            page = await fetcher.fetch(f"https://heron.test:{port}/")

    assert page.text == f"heron.test:{port}"
    assert names_asked == ["heron.test"]


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_certificate_that_is_not_valid_for_the_name_is_refused(
    trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path, "egret.test" if trusted else "heron.test")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    with tls_site(certificate, []) as port:
        async with Fetcher(allowed_private_hosts=("127.0.0.1",), resolve=to_loopback) as fetcher:
            with pytest.raises(HostUnreachable, match="certificate is not valid"):
                await fetcher.fetch(f"https://heron.test:{port}/")
