"""A server whose certificate comes from an authority that only `ca_file` names."""

import datetime as dt
import ipaddress
import ssl
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute
from anyio.streams.tls import TLSListener
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from prwatch.errors import ProtocolViolation
from prwatch.github.app_auth import Installation, InstallationCredential
from prwatch.github.credentials import TokenCredential
from prwatch.http.client import create_http_client
from prwatch.telemetry.secret import Secret
from tests.app_keys import make_key
from tests.product import MovedClock

BODY = b'{"token": "ghs_of_a_private_place", "expires_at": "2026-11-30T13:00:00Z"}'
ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
LONG = dt.timedelta(days=36_500)
AGO = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)


def sign(subject, name, issuer, issuer_name, *extensions):
    """Return the certificate of one key, signed with another, as PEM."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer_name)]))
        .public_key(subject.public_key())
        .serial_number(len(name))
        .not_valid_before(AGO)
        .not_valid_after(AGO + LONG)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=True)
    signed = builder.sign(issuer, hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Return the file of an authority, and a TLS context of a server it vouches for."""
    folder = tmp_path_factory.mktemp("authority")
    texts = [make_key(name)[0].encode() for name in ("authority", "server")]
    ours, server = (
        serialization.load_pem_private_key(text, password=None) for text in texts
    )
    ca_file, chain = folder / "ca.pem", folder / "server.pem"
    is_authority = x509.BasicConstraints(ca=True, path_length=None)
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        **dict.fromkeys(
            ("content_commitment", "key_encipherment", "data_encipherment"), False
        ),
        **dict.fromkeys(("key_agreement", "encipher_only", "decipher_only"), False),
    )
    ca_file.write_bytes(sign(ours, "authority", ours, "authority", is_authority, usage))
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    named = x509.SubjectAlternativeName([address])
    chain.write_bytes(texts[1] + sign(server, "server", ours, "authority", named))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain)
    return str(ca_file), context


@asynccontextmanager
async def serve(context):
    """Grant a token to everybody who trusts us; yield the address."""

    async def answer(stream):
        async with stream:
            await stream.receive()
            await stream.send(ANSWER % (len(BODY), BODY))

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    async with anyio.create_task_group() as tasks:
        tls = TLSListener(listener, context, standard_compatible=False)
        tasks.start_soon(tls.serve, answer)
        yield f"https://127.0.0.1:{port}"
        tasks.cancel_scope.cancel()
    await listener.aclose()


async def fetch(url, ca_file):
    async with create_http_client(ca_file=ca_file) as http:
        credential = InstallationCredential(
            Installation("4242", 777, url),
            key=TokenCredential(Secret(make_key()[0]), source="env:KEY"),
            http=http,
            clock=MovedClock(),
        )
        return await credential.token()


async def test_a_token_comes_from_a_server_that_the_file_vouches_for(authority):
    ca_file, context = authority

    async with serve(context) as url:
        token = await fetch(url, ca_file)

    assert token == Secret("ghs_of_a_private_place")


async def test_without_the_file_nothing_is_sent_and_the_key_is_named(authority):
    _, context = authority

    async with serve(context) as url:
        with pytest.raises(ProtocolViolation) as caught:
            await fetch(url, "")

    error = caught.value
    assert (str(error), error.scope) == (
        "the server's certificate is not trusted",
        "host",
    )
    assert error.hint == "set ca_file to the authority that signed it"
