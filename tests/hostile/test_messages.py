"""Messages that no client should send get a JSON-RPC error, and the server goes on."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.processes import SERVE, environment
from tests.messages import INITIALIZE

from citewell.server.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Fault,
    parse_message,
)

if TYPE_CHECKING:
    from pathlib import Path

_CALL = b'"method":"tools/call","params":{"name":"status","arguments":'
FAULTS: dict[str, tuple[bytes, int]] = {
    # First, while the prepared answers still serve the client.
    "a response with parameters that are no object": (
        b'{"jsonrpc":"2.0","id":"s","result":{},"params":[1]}',
        INVALID_PARAMS,
    ),
    "half of a character in the id": (
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"tools/list"}',
        INVALID_REQUEST,
    ),
    "half of a character in the id of a call": (
        b'{"jsonrpc":"2.0","id":"a\\udfff",' + _CALL + b"{}}}",
        INVALID_REQUEST,
    ),
    "a method with a long name": (
        b'{"jsonrpc":"2.0","id":"l","method":"' + b"w" * 200_000 + b'"}',
        INVALID_REQUEST,
    ),
    "half of a character in the method": (
        b'{"jsonrpc":"2.0","id":"m","method":"\\ud800"}',
        INVALID_REQUEST,
    ),
    "half of a character in the name of a tool": (
        b'{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"\\uD800"}}',
        INVALID_PARAMS,
    ),
    "half of a character in the URI of a resource": (
        b'{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"x:\\ud800"}}',
        INVALID_PARAMS,
    ),
    "half of a character in an argument of a prompt": (
        b'{"jsonrpc":"2.0","id":"p","method":"prompts/get",'
        b'"params":{"name":"research","arguments":{"question":"\\udfff"}}}',
        INVALID_PARAMS,
    ),
    "half of a character in a name inside the metadata": (
        b'{"jsonrpc":"2.0","id":"n","method":"tools/list","params":{"_meta":{"a\\ud800":1}}}',
        INVALID_PARAMS,
    ),
    "an id that is an object": (
        b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}',
        INVALID_REQUEST,
    ),
    "an error without a message": (
        b'{"jsonrpc":"2.0","id":"e","error":{"code":"a","message":null}}',
        INVALID_REQUEST,
    ),
    "an error to nothing": (
        b'{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}',
        INVALID_REQUEST,
    ),
    "a result that is no object": (b'{"jsonrpc":"2.0","id":"o","result":[]}', INVALID_REQUEST),
    "thousands of values": (
        b'{"jsonrpc":"2.0","id":"v","method":"ping","params":{"a":[' + b"{}," * 10_000 + b"{}]}}",
        INVALID_REQUEST,
    ),
    "bytes that are no text": (b"\xff\xfe\xfd", PARSE_ERROR),
    "nesting without end": (
        b'{"jsonrpc":"2.0","id":2,"method":"x","params":' + b"[" * 9_000,
        PARSE_ERROR,
    ),
    "a number of thousands of digits": (
        b'{"jsonrpc":"2.0","id":' + b"9" * 9_000 + b',"method":"tools/list"}',
        PARSE_ERROR,
    ),
}


def test_a_whole_character_in_two_escapes_is_no_fault() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud83d\\udc26"}}'

    assert isinstance(parse_message(line), dict)


@pytest.mark.parametrize("what", FAULTS)
def test_a_message_that_cannot_be_served_is_a_fault_that_can_be_sent(what: str) -> None:
    line, code = FAULTS[what]

    fault = parse_message(line)

    assert isinstance(fault, Fault)
    assert fault.code == code
    assert json.loads(fault.encode())["error"]["code"] == code


def test_the_server_answers_each_of_them_over_stdio_and_goes_on(tmp_path: Path) -> None:
    opening: list[dict[str, Any]] = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    arguments = b'{"half":"\\ud800","large":92233720368547758080}'
    lines = [
        *(json.dumps(message).encode() for message in opening),
        *(line for line, _ in FAULTS.values()),
        b'{"jsonrpc":"2.0","id":"arguments",' + _CALL + arguments + b"}}",
        b'{"jsonrpc":"2.0","id":9223372036854775808,' + _CALL + b"{}}}",
        b'{"jsonrpc":"2.0","id":"resource","method":"resources/read","params":{"uri":"x:%s"}}'
        % (b"wader" * 40_000),
        b'{"jsonrpc":"2.0","id":"last","method":"tools/list"}',
    ]

    with subprocess.Popen(
        SERVE,
        env=environment(tmp_path, CITEWELL_EMBEDDER="none"),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(line + b"\n" for line in lines))
        server.stdin.flush()
        answers: list[dict[str, Any]] = []
        while len(answers) < len(lines) - 1:
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        server.wait(timeout=120)

    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    resource = by_id.pop("resource")
    codes = [a["error"]["code"] for a in answers if "error" in a and a is not resource]
    assert len(json.dumps(resource)) < 1_000
    assert sorted(codes) == sorted(code for _, code in FAULTS.values())
    assert by_id["arguments"]["result"]["isError"] is True
    assert by_id[9223372036854775808]["result"]["isError"] is False
    assert by_id["last"]["result"]["tools"]
    assert server.returncode == 0
