"""A client of the product asks an application of the same process."""

from prwatch.http.client import create_http_client
from prwatch.http.in_process import create_in_process_transport


async def echo(scope, receive, send):
    body = scope["path"].encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def test_the_application_answers_in_place_of_the_network():
    transport = create_in_process_transport(echo)

    async with create_http_client(transport=transport) as client:
        answer = await client.get("https://api.github.com/user")

    assert (answer.status_code, answer.text) == (200, "/user")
