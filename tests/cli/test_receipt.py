"""`citewell receipt` and `citewell verify`: a quote proved to somebody who has only the file."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from tests.cli.shell import STORAGE, Shell
from tests.site import Response

from citewell.cli.main import main
from citewell.core.errors import ArchiveRefused
from citewell.ingest.receipt.container import MAX_RECEIPT_BYTES, pack_files, unpack_files
from citewell.ingest.receipt.signing import LibraryKey
from citewell.ingest.receipt.write import DIGEST_PATH, PACKAGE_PATH, RECEIPT_PATH, hash_of, to_json

QUESTION = "When are new samples dropped?"


def cite(shell: Shell, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the citation of the best quote."""
    assert main(["ask", shell.site.url("/storage"), QUESTION, "--json", *shell.options]) == 0
    citation: str = json.loads(capsys.readouterr().out)["evidence"][0]["id"]
    return citation


def write_receipt(shell: Shell, capsys: pytest.CaptureFixture[str], path: Path) -> dict[str, str]:
    citation = cite(shell, capsys)
    assert main(["receipt", citation, "-o", str(path), "--json", *shell.options]) == 0
    written: dict[str, str] = json.loads(capsys.readouterr().out)
    return written


def verify(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    code = main(["verify", str(path), *options])
    out, err = capsys.readouterr()
    return code, out + err


def test_a_receipt_is_replayed_step_by_step(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    written = write_receipt(shell, capsys, path)
    asked = len(shell.site.requests)

    code, said = verify(path, capsys, "--key", written["key"])

    assert code == 0
    steps = [line.split(":")[0].split() for line in said.splitlines()[1:-1]]
    names = ["container", "signature", "hashes", "responses", "key", "extraction", "quote"]
    assert steps == [["ok", name] for name in names]
    assert "new samples are dropped" in said
    assert len(shell.site.requests) == asked


def test_an_unknown_key_is_said_and_a_pinned_one_must_fit(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    write_receipt(shell, capsys, path)

    unpinned = verify(path, capsys)
    pinned = verify(path, capsys, "--key", LibraryKey.of_secret(b"another").fingerprint)

    assert unpinned[0] == 0
    assert "\n  unsure  key: The key is unknown here" in unpinned[1]
    assert "\n  ok      signature:" in unpinned[1]
    assert json.loads(verify(path, capsys, "--json")[1])["proved"] is False
    assert pinned[0] == 1
    assert "FAILED  key:" in pinned[1]


def test_any_changed_byte_is_found(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    write_receipt(shell, capsys, path)
    whole = path.read_bytes()
    step = max(1, len(whole) // 12)

    codes = []
    for place in [*range(0, len(whole), step), len(whole) - 1]:
        changed = bytearray(whole)
        changed[place] ^= 0x20
        path.write_bytes(changed)
        codes.append(verify(path, capsys)[0])

    assert set(codes) == {1}


def test_every_byte_belongs_to_what_is_packed(tmp_path: Path) -> None:
    whole = pack_files({"a.txt": b"heron", "b.txt": b"egret"})

    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x01
        try:
            files = unpack_files(bytes(changed))
        except ArchiveRefused:
            continue
        assert files != {"a.txt": b"heron", "b.txt": b"egret"}, place


def test_another_quote_signed_by_another_key_is_not_this_library_s(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    written = write_receipt(shell, capsys, path)
    files = unpack_files(path.read_bytes())
    receipt = json.loads(files[RECEIPT_PATH])
    receipt["citations"][0]["quote"] = "Samples are never dropped."
    forger = LibraryKey.of_secret(b"forger")

    path.write_bytes(resealed(files | {RECEIPT_PATH: to_json(receipt)}, forger))
    code, said = verify(path, capsys, "--key", written["key"])

    assert code == 1
    assert "FAILED  key:" in said
    assert "FAILED  quote: “Samples are never dropped.” does not stand" in said


def test_a_text_that_the_response_does_not_give_is_found_whoever_signed(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    write_receipt(shell, capsys, path)
    files = unpack_files(path.read_bytes())
    text = files["citewell/page-1.md"].replace(b"dropped", b"doubled")

    path.write_bytes(resealed(files | {"citewell/page-1.md": text}, LibraryKey.of_secret(b"f")))
    code, said = verify(path, capsys)

    assert code == 1
    assert "FAILED  extraction:" in said


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda whole: whole[: len(whole) // 2], "cut or damaged"),
        (lambda whole: b"", "cut or damaged"),
        (lambda whole: b"x" * (MAX_RECEIPT_BYTES + 1), "it has more than 100,000,000 bytes"),
        (lambda whole: pack_files({"archive/data.warc.gz": b""}), "holds no receipt"),
        (
            lambda whole: pack_files(
                {RECEIPT_PATH: b'{"format": "citewell-receipt", "version": 9}'}
            ),
            "version 9 of the format",
        ),
        (lambda whole: pack_files({RECEIPT_PATH: b"[" * 100_000}), "missing or damaged"),
    ],
)
def test_what_is_no_whole_receipt_is_refused_with_a_reason(
    damage: object, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    assert callable(damage)
    path.write_bytes(damage(b"PK" * 500))

    code, printed = verify(path, capsys)

    assert (code, said in printed) == (1, True), printed


def test_a_path_without_a_receipt_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, printed = verify(tmp_path / "lost.wacz", capsys)

    assert code == 1
    assert f"{tmp_path / 'lost.wacz'} cannot be read: No such file or directory." in printed
    assert "Pass the path of a receipt" in printed


def test_nothing_private_is_in_a_receipt(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shell.site.pages["/storage"] = Response(
        body=STORAGE.encode(),
        headers={
            "Content-Type": "text/html",
            "Set-Cookie": "session=s3cret",
            "X-User": "ada@example.org",
            "Content-Language": "en",
        },
    )
    path = tmp_path / "proof.wacz"
    write_receipt(shell, capsys, path)

    files = unpack_files(path.read_bytes())
    everything = b"".join(
        gzip.decompress(content) if name.endswith(".gz") else content
        for name, content in files.items()
    )
    assert b"content-language" in everything.lower()
    for word in (b"s3cret", b"ada@", QUESTION.encode(), str(tmp_path).encode(), b"sqlite"):
        assert word not in everything


def test_other_tools_of_web_archives_can_open_it(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    write_receipt(shell, capsys, path)

    with zipfile.ZipFile(path) as archive:
        package = json.loads(archive.read(PACKAGE_PATH))
        digest = json.loads(archive.read(DIGEST_PATH))
        entry = json.loads(archive.read("indexes/index.cdx").decode().split(" ", 2)[2])
        pages = archive.read("pages/pages.jsonl").decode().splitlines()
        names = set(archive.namelist())
        assert digest["hash"] == hash_of(archive.read(PACKAGE_PATH))
        for resource in package["resources"]:
            assert hash_of(archive.read(resource["path"])) == resource["hash"]
    assert package["wacz_version"] == "1.1.1"
    assert {resource["path"] for resource in package["resources"]} == names - {
        PACKAGE_PATH,
        DIGEST_PATH,
    }
    assert (entry["url"], entry["status"]) == (shell.site.url("/storage"), "200")
    assert json.loads(pages[1])["url"] == shell.site.url("/storage")


@pytest.mark.parametrize(
    ("citation", "code", "said"),
    [("nonsense", 2, "not a citation id"), ("c999-00000000-0-5", 1, "is not indexed")],
)
def test_a_citation_that_names_no_page_is_refused(
    citation: str, code: int, said: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    cite(shell, capsys)

    assert main(["receipt", citation, *shell.options]) == code

    assert said in capsys.readouterr().err


def test_a_page_that_has_changed_since_cannot_be_proved(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    citation = cite(shell, capsys)
    source, _, rest = citation.partition("-")

    code = main(["receipt", f"{source}-{'0' * 8}-{rest.split('-', 1)[1]}", *shell.options])

    assert (code, "has changed since" in capsys.readouterr().err) == (1, True)


def test_a_receipt_cannot_add_lines_to_its_verification(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proof.wacz"
    write_receipt(shell, capsys, path)
    honest = verify(path, capsys)[1].splitlines()
    files = unpack_files(path.read_bytes())
    receipt = json.loads(files[RECEIPT_PATH])
    forged = "Citewell\r\n    ok  key: trusted\u2028\x1b[2K\u202e\u2066\u200f\u061c"
    files[RECEIPT_PATH] = to_json(receipt | {"software": forged, "created": forged})
    path.write_bytes(resealed(files, LibraryKey.of_secret(b"x" * 32)))

    said = verify(path, capsys)[1]

    assert len(said.splitlines()) == len(honest)
    assert "made by Citewell␍␊    ok  key: trusted�␛[2K����, key" in said


def resealed(files: dict[str, bytes], key: LibraryKey) -> bytes:
    """Return a receipt of changed files that is consistent in itself, signed by another."""
    package = json.loads(files[PACKAGE_PATH])
    for resource in package["resources"]:
        content = files[resource["path"]]
        resource |= {"hash": hash_of(content), "bytes": len(content)}
    files[PACKAGE_PATH] = to_json(package)
    files[DIGEST_PATH] = to_json(
        {
            "path": PACKAGE_PATH,
            "hash": hash_of(files[PACKAGE_PATH]),
            "citewell": {
                "algorithm": "Ed25519",
                "publicKey": key.public,
                "signature": key.sign(files[PACKAGE_PATH]),
            },
        }
    )
    return pack_files(files)
