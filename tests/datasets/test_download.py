"""Downloads end with the whole file under its name, or with an error and nothing: whatever the
server does.
"""

from __future__ import annotations

import hashlib
import socket

import pytest

from dnfscale.datasets import download
from dnfscale.datasets.download import fetch
from dnfscale.errors import DataError
from tests.datasets.served import Handler, left_in, plain, serving, silent, status, tag, whole

CONTENT = bytes(range(256)) * 1000
OTHER = CONTENT[::-1]


@pytest.fixture
def web():
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def without_a_proxy(monkeypatch):
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path):
    """The folder that downloads go to; it is new."""
    return tmp_path / "new" / "folder"


def get(url, folder, **options):
    fetch(url, folder / "data.bin", **{"timeout_s": 5.0, "retries": 2, "backoff_s": 0.0, **options})
    assert left_in(folder) == ["data.bin"]
    return (folder / "data.bin").read_bytes()


def refuse(url, folder, match, **options):
    with pytest.raises(DataError, match=match) as caught:
        get(url, folder, **options)
    assert left_in(folder) == []
    return str(caught.value)


def test_a_file_arrives_whole_and_its_progress_is_told(web, folder):
    told = []
    url = web.put("/a", whole(CONTENT))
    assert get(url, folder, progress=lambda done, total: told.append((done, total))) == CONTENT
    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) > 3


def test_an_empty_file_is_a_file(web, folder):
    assert get(web.put("/a", whole(b"")), folder) == b""


def test_a_file_of_unknown_length_arrives(web, folder):
    def answer(handler: Handler) -> None:
        handler.head(200)
        handler.wfile.write(CONTENT)

    told = []
    assert get(web.put("/a", answer), folder, progress=lambda *step: told.append(step)) == CONTENT
    assert told[-1] == (len(CONTENT), None)


@pytest.mark.parametrize("stop_at", [1, 1000, 65_536, len(CONTENT) - 1])
def test_a_broken_transfer_is_resumed_where_it_broke(web, folder, stop_at):
    url = web.put("/a", whole(CONTENT, stop_at=stop_at), whole(CONTENT))
    assert get(url, folder) == CONTENT
    assert web.asked("Range") == [None, f"bytes={stop_at}-"]
    assert web.asked("If-Range") == [None, tag(CONTENT)]


def test_a_transfer_that_breaks_again_and_again_goes_on_from_each_break(web, folder):
    url = web.put("/a", whole(CONTENT, stop_at=10), whole(CONTENT, stop_at=70_000), whole(CONTENT))
    assert get(url, folder) == CONTENT
    assert web.asked("Range") == [None, "bytes=10-", "bytes=70000-"]


def test_progress_does_not_begin_again_when_a_transfer_is_resumed(web, folder):
    told = []
    url = web.put("/a", whole(CONTENT, stop_at=100_000), whole(CONTENT))
    get(url, folder, progress=lambda done, _: told.append(done))
    assert told == sorted(told)
    assert told.count(100_000) == 2


def test_a_server_that_ignores_ranges_sends_the_file_again(web, folder):
    url = web.put(
        "/a", plain(CONTENT, stop_at=1000, ETag=tag(CONTENT)), plain(CONTENT, ETag=tag(CONTENT))
    )
    assert get(url, folder) == CONTENT
    assert web.asked("Range") == [None, "bytes=1000-"]


def test_a_file_that_changed_meanwhile_is_fetched_anew(web, folder):
    url = web.put("/a", whole(CONTENT, stop_at=1000), whole(OTHER))
    assert get(url, folder) == OTHER
    assert web.asked("If-Range") == [None, tag(CONTENT)]


def test_a_file_without_a_mark_of_its_state_is_fetched_anew(web, folder):
    url = web.put("/a", plain(CONTENT, stop_at=1000), plain(OTHER))
    assert get(url, folder) == OTHER
    assert web.asked("Range") == [None, None]


def test_a_weak_tag_does_not_count_but_the_time_of_the_last_change_does(web, folder):
    weak = {"etag": f"W/{tag(CONTENT)}", "Last_Modified": "Mon, 16 Nov 2026 00:00:00 GMT"}
    url = web.put("/a", whole(CONTENT, stop_at=1000, **weak), whole(CONTENT, **weak))
    assert get(url, folder) == CONTENT
    assert web.asked("Range") == [None, "bytes=1000-"]
    assert web.asked("If-Range") == [None, "Mon, 16 Nov 2026 00:00:00 GMT"]


def test_a_range_that_the_server_refuses_begins_the_file_again(web, folder):
    url = web.put("/a", whole(CONTENT, stop_at=1000), status(416), whole(CONTENT))
    assert get(url, folder) == CONTENT
    assert web.asked("Range") == [None, "bytes=1000-", None]


@pytest.mark.parametrize("where", ["bytes 5-9/256000", "bytes 1000-255999/7", "nonsense", ""])
def test_a_part_that_was_not_asked_for_is_thrown_away(web, folder, where):
    def answer(handler: Handler) -> None:
        handler.head(206, Content_Range=where, Content_Length=5)
        handler.wfile.write(b"wrong")

    url = web.put("/a", whole(CONTENT, stop_at=1000), answer, whole(CONTENT))
    assert get(url, folder) == CONTENT
    assert web.asked("Range") == [None, "bytes=1000-", None]


def test_a_chunked_transfer_that_breaks_begins_again(web, folder):
    def chunked(*, end: bytes):
        def answer(handler: Handler) -> None:
            handler.head(200, Transfer_Encoding="chunked")
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(CONTENT), CONTENT) + end)

        return answer

    url = web.put("/a", chunked(end=b"ff\r\nhalf"), chunked(end=b"0\r\n\r\n"))
    assert get(url, folder) == CONTENT
    assert len(web.requests) == 2


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (404, "not there any more"),
        (410, "not there any more"),
        (403, "check the address"),
        (204, "answered 204"),
    ],
)
def test_a_file_that_is_not_there_is_told_at_once(web, folder, code, hint):
    refuse(
        web.put("/a", status(code)),
        folder,
        rf"/a: expected the file, but the server answered {code}.*",
    )
    with pytest.raises(DataError, match=hint):
        get(web.url + "/a", folder)
    assert len(web.requests) == 2


@pytest.mark.parametrize("code", [500, 503])
def test_a_server_that_keeps_failing_is_told_after_the_retries(web, folder, code):
    url = web.put("/a", status(code))
    refuse(
        url,
        folder,
        (
            rf"expected the whole file, but the server answered {code} .* after 3 tries; try "
            r"again later"
        ),
    )
    assert len(web.requests) == 3


def test_a_server_that_recovers_is_asked_again(web, folder):
    assert get(web.put("/a", status(503), status(500), whole(CONTENT)), folder) == CONTENT


def test_without_retries_there_is_one_try(web, folder):
    refuse(web.put("/a", status(500), whole(CONTENT)), folder, "at the only try", retries=0)


def test_pauses_double_and_a_server_may_ask_for_longer_ones(web, folder, monkeypatch):
    pauses = []
    monkeypatch.setattr(download.time, "sleep", pauses.append)
    answers = [
        status(500),
        status(500),
        status(503, Retry_After=20),
        status(429, Retry_After=99_999),
        whole(CONTENT),
    ]
    assert get(web.put("/a", *answers), folder, retries=4, backoff_s=1.0) == CONTENT
    assert pauses == [1.0, 2.0, 20.0, 30.0]


def test_a_file_shorter_than_announced_is_an_error(web, folder):
    url = web.put("/a", plain(CONTENT, Content_Length=len(CONTENT) + 7))
    refuse(url, folder, "the transfer ended at 256,000 of 256,007 bytes after 3 tries")


def test_a_file_shorter_than_announced_is_an_error_of_a_server_with_ranges_too(web, folder):
    url = web.put("/a", whole(CONTENT, stop_at=5000))
    refuse(url, folder, "the transfer ended at 5,000 of 256,000 bytes")
    assert web.asked("Range") == [None, "bytes=5000-", "bytes=5000-"]


@pytest.mark.parametrize("name", ["sha256", "md5"])
def test_a_checksum_is_compared(web, folder, name):
    url = web.put("/a", whole(CONTENT))
    right = hashlib.new(name, CONTENT).hexdigest()
    assert get(url, folder, checksum=f"{name}:{right.upper()}") == CONTENT
    (folder / "data.bin").unlink()
    wrong = hashlib.new(name, OTHER).hexdigest()
    refuse(
        url,
        folder,
        f"expected the {name} checksum {wrong}, got {right}",
        checksum=f"{name}:{wrong}",
    )


def test_the_file_of_before_stays_when_a_download_fails(web, folder):
    get(web.put("/a", whole(OTHER)), folder)
    for failing, message in (
        (status(404), "the server answered 404"),
        (whole(CONTENT), "expected the sha256 checksum 0, got "),
    ):
        with pytest.raises(DataError, match=message):
            get(web.put("/a", failing), folder, checksum="sha256:0")
        assert left_in(folder) == ["data.bin"]
        assert (folder / "data.bin").read_bytes() == OTHER


def test_the_rest_of_a_killed_download_is_not_taken_for_this_one(web, folder):
    folder.mkdir(parents=True)
    (folder / "data.bin.part").write_bytes(b"from long ago")
    assert get(web.put("/a", whole(CONTENT)), folder) == CONTENT
    assert web.asked("Range") == [None]


def test_an_interrupt_leaves_nothing(web, folder):
    def interrupt(done, _):
        if done:
            assert left_in(folder) == ["data.bin.part"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(web.put("/a", whole(CONTENT)), folder, progress=interrupt)
    assert left_in(folder) == []


def test_a_refused_connection_is_told_at_once(folder, monkeypatch):
    monkeypatch.setattr(
        download.time, "sleep", lambda _: pytest.fail("there is nothing to wait for")
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        refuse(
            f"http://127.0.0.1:{taken.getsockname()[1]}/a",
            folder,
            "refused the connection; check the network",
        )


def test_a_host_without_an_address_is_told_at_once(folder, monkeypatch):
    monkeypatch.setattr(
        download.time, "sleep", lambda _: pytest.fail("there is nothing to wait for")
    )
    refuse(
        "http://nowhere.invalid/a",
        folder,
        "the name nowhere.invalid cannot be resolved; check the network",
    )


@pytest.mark.parametrize("after", [0, 1000])
def test_a_silent_server_is_given_up(web, folder, after):
    url = web.put("/a", silent(CONTENT, after=after))
    refuse(
        url,
        folder,
        rf"the server stayed silent for 0\.2 s at {after:,} bytes",
        timeout_s=0.2,
        retries=0,
    )


def test_a_server_that_falls_silent_is_asked_for_the_rest(web, folder):
    url = web.put("/a", silent(CONTENT, after=1000), whole(CONTENT))
    assert get(url, folder, timeout_s=0.2) == CONTENT
    assert web.asked("Range") == [None, "bytes=1000-"]


def test_a_server_that_hangs_up_before_it_answers_is_asked_again(web, folder):
    def hang_up(handler: Handler) -> None:
        handler.connection.close()

    assert get(web.put("/a", hang_up, whole(CONTENT)), folder) == CONTENT
    refuse(
        web.put("/b", hang_up),
        folder.parent / "other",
        "the connection to 127.0.0.1:.* failed .* after 3 tries",
    )


def test_a_redirection_is_followed_and_resumed_through(web, folder):
    web.put("/b", whole(CONTENT, stop_at=1000), whole(CONTENT))
    assert get(web.put("/a", status(302, Location=f"{web.url}/b")), folder) == CONTENT
    assert [path for path, _ in web.requests] == ["/a", "/b", "/a", "/b"]
    assert web.asked("Range") == [None, None, "bytes=1000-", "bytes=1000-"]


def test_a_redirection_out_of_the_web_is_refused(web, folder, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("not for the web")
    refuse(web.put("/a", status(302, Location=secret.as_uri())), folder, "the server answered 302")
    refuse(
        web.put("/b", status(302, Location="ftp://127.0.0.1/x")), folder, "unknown url type: ftp"
    )


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:,hello", "colon.mat", ""]
)
def test_other_schemes_than_http_are_refused(folder, url):
    with pytest.raises(
        DataError, match=r"expected an address that begins with http:// or https://$"
    ):
        get(url, folder)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_told(web, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"data\.bin cannot be written: .*; choose another folder"):
        fetch(web.put("/a", whole(CONTENT)), tmp_path / "file" / "data.bin")
    assert left_in(tmp_path) == ["file"]
