import pytest

from prwatch.config.addresses import (
    build_graphql_url,
    mask_url,
    read_https_url,
    read_loopback_listen,
    read_postgres_url,
    split_listen,
)


@pytest.mark.parametrize(
    ("api_url", "graphql_url"),
    [
        pytest.param(
            "https://api.github.com", "https://api.github.com/graphql", id="github.com"
        ),
        pytest.param(
            "https://ghe.example/api/v3",
            "https://ghe.example/api/graphql",
            id="Enterprise Server",
        ),
        pytest.param(
            "https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql", id="ghe.com"
        ),
        pytest.param(
            "http://127.0.0.1:8080", "http://127.0.0.1:8080/graphql", id="loopback"
        ),
    ],
)
def test_the_graphql_address_follows_from_the_rest_address(api_url, graphql_url):
    assert build_graphql_url(api_url) == graphql_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        pytest.param("https://a.example/", "https://a.example", id="slash at the end"),
        pytest.param("https://a.example:8443/x", "https://a.example:8443/x", id="port"),
        pytest.param("http://localhost:1", "http://localhost:1", id="localhost"),
        pytest.param("http://127.8.9.1", "http://127.8.9.1", id="all of 127"),
        pytest.param("http://[::1]:80/x", "http://[::1]:80/x", id="IPv6 loopback"),
        pytest.param("https://a.example/?id=1", "https://a.example/?id=1", id="query"),
    ],
)
def test_an_encrypted_or_local_url_is_read(text, url):
    assert read_https_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("http://a.example", id="plain to another machine"),
        pytest.param("http://localhost.a.example", id="name that begins like this one"),
        pytest.param("http://127.0.0.1.a.example", id="name that looks like a number"),
        pytest.param("http://10.0.0.1", id="private network"),
        pytest.param("ftp://a.example", id="another scheme"),
        pytest.param("a.example", id="no scheme"),
        pytest.param("https://", id="no host"),
        pytest.param("https://a.example:port", id="no port"),
        pytest.param("https://a.example/#x", id="fragment"),
        pytest.param("https://a.example/a b", id="space"),
        pytest.param("https://user@a.example", id="user"),
        pytest.param("https://user:pw@a.example", id="password"),
        pytest.param("https://:pw@a.example", id="password alone"),
        pytest.param("https://a.example/?token=pw", id="secret parameter"),
        pytest.param(
            "https://a.example/?access_token=pw", id="longer secret parameter"
        ),
        pytest.param(3, id="number"),
    ],
)
def test_any_other_url_is_refused_without_showing_it(text):
    with pytest.raises(ValueError) as refusal:
        read_https_url(text)

    assert "pw" not in str(refusal.value)
    assert "a.example" not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://prwatch@db.example/prwatch",
        "postgres://db.example:5433/prwatch?sslmode=verify-full",
        "postgresql:///prwatch?host=/run/postgresql",
    ],
)
def test_a_database_is_addressed_without_a_password(text):
    assert read_postgres_url(text) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("postgresql://prwatch:pw@db.example/prwatch", id="password"),
        pytest.param("postgresql://db.example/x?password=pw", id="parameter"),
        pytest.param("mysql://db.example/x", id="another database"),
    ],
)
def test_any_other_database_url_is_refused(text):
    with pytest.raises(ValueError):
        read_postgres_url(text)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("https://a.example", "https://a.example", id="host alone"),
        pytest.param(
            "https://a.example:8443/hook/x", "https://a.example:8443/***", id="path"
        ),
        pytest.param("https://a.example?x=1", "https://a.example/***", id="query"),
        pytest.param("https://u:p@a.example/x", "https://a.example/***", id="user"),
    ],
)
def test_only_the_host_of_a_url_is_shown(url, shown):
    assert mask_url(url) == shown


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9464", "127.0.0.1", 9464),
        ("localhost:0", "localhost", 0),
        ("[::1]:65535", "::1", 65535),
        ("127.8.9.10:1", "127.8.9.10", 1),
    ],
)
def test_this_machine_may_be_listened_at(text, host, port):
    assert read_loopback_listen(text) == text
    assert split_listen(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0:9464", "192.0.2.1:9464", "[::]:9464", "example.com:9464", "*:9464"],
)
def test_an_address_that_others_reach_is_refused_with_the_reason(text):
    with pytest.raises(ValueError, match="without authentication"):
        read_loopback_listen(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("127.0.0.1", id="no port"),
        pytest.param("9464", id="no host"),
        pytest.param(":9464", id="empty host"),
        pytest.param("127.0.0.1:", id="empty port"),
        pytest.param("127.0.0.1:port", id="no number"),
        pytest.param("127.0.0.1:65536", id="number too large"),
        pytest.param("127.0.0.1:999999", id="number too long"),
        pytest.param("127.0.0.1:-1", id="negative"),
        pytest.param("127.0.0.1:٣", id="digits of another script"),
        pytest.param("::1:9464", id="no brackets"),
        pytest.param("", id="nothing"),
        pytest.param(9464, id="number"),
    ],
)
def test_any_other_listening_address_is_refused(text):
    with pytest.raises(ValueError, match=r"^$"):
        read_loopback_listen(text)
