"""Photos: a folder with a sidecar, and iNaturalist's API as a server on this machine speaks it."""

import io
import json
from urllib.parse import parse_qs, urlsplit

import pytest
from loopback import Loopback, Reply
from PIL import Image

from paintcli.backends import inaturalist
from paintcli.backends.hub.http import Patience
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.photos import from_folder

QUICK = Patience(attempts=4, attempt=20.0, total=40.0, wait=0.01, longest_wait=0.02)


def picture(shade: int = 90, kind: str = "JPEG") -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((120, 90), shade).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


# -- a folder -------------------------------------------------------------------------------------------------------


def folder_of(tmp_path, rows, names=("a.jpg",), sidecar="photos.jsonl"):
    for name in names:
        (tmp_path / name).write_bytes(picture())
    (tmp_path / sidecar).write_text("".join(json.dumps(r) + "\n" for r in rows))
    return tmp_path


@pytest.mark.parametrize("sidecar", ["photos.jsonl", "metadata.jsonl"])
def test_a_folder_s_photos_come_with_licence_author_and_address(tmp_path, sidecar):
    rows = [
        {"file_name": "b.jpg", "licence": "cc0"},
        {"file_name": "a.jpg", "licence": "CC-BY", "attribution": "(c) Ada", "url": "https://example.org/1"},
    ]
    first, second = from_folder(folder_of(tmp_path, rows, ("a.jpg", "b.jpg"), sidecar))
    assert (first.name, first.path, first.licence) == ("a.jpg", tmp_path / "a.jpg", "cc-by")
    assert (first.attribution, first.url) == ("(c) Ada", "https://example.org/1")
    assert (second.name, second.licence, second.attribution) == ("b.jpg", "cc0", "")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"file_name": "other.jpg", "licence": "cc0"}, "a.jpg has no licence"),
        ({"file_name": "a.jpg", "licence": " "}, "a.jpg has no licence"),
        ({"file_name": "a.jpg", "licence": "cc-by"}, "is cc-by but names nobody"),
    ],
)
def test_a_photo_that_may_not_be_used_is_refused_unless_allowed(tmp_path, row, said):
    folder = folder_of(tmp_path, [row])
    with pytest.raises(UsageError, match=said):
        from_folder(folder)
    (photo,) = from_folder(folder, allow_unlicensed=True)
    assert photo.name == "a.jpg"


def test_without_a_sidecar_no_photo_has_a_licence(tmp_path):
    (tmp_path / "a.jpg").write_bytes(picture())
    with pytest.raises(UsageError, match=r"has no licence: give one in .*photos\.jsonl"):
        from_folder(tmp_path)


@pytest.mark.parametrize("data", [b"", b"no picture", picture()[:-900]])
def test_an_unreadable_picture_is_named(tmp_path, data):
    folder = folder_of(tmp_path, [{"file_name": n, "licence": "cc0"} for n in ("a.jpg", "b.jpg")], ("a.jpg", "b.jpg"))
    (tmp_path / "b.jpg").write_bytes(data)
    with pytest.raises(UsageError, match=r"b\.jpg cannot be read"):
        from_folder(folder)


def test_folders_that_hold_nothing(tmp_path):
    with pytest.raises(UsageError, match="holds no photos"):
        from_folder(tmp_path)
    with pytest.raises(UsageError, match="not a folder"):
        from_folder(tmp_path / "absent")
    (tmp_path / "a.jpg").write_bytes(picture())
    (tmp_path / "photos.jsonl").write_text("{nonsense}\n")
    with pytest.raises(PaintError, match=r"Line 1 of .*photos.jsonl is not JSON"):
        from_folder(tmp_path)


# -- iNaturalist ----------------------------------------------------------------------------------------------------


def photo(number, licence, host, attribution=None):
    """One photo of an observation, with the keys the API gives it."""
    return {
        "id": number,
        "license_code": licence,
        "original_dimensions": {"width": 2048, "height": 1536},
        "url": f"{host}/photos/{number}/square.jpeg?1700000000",
        "attribution": f"(c) person {number}, some rights reserved" if attribution is None else attribution,
        "flags": [],
    }


def observation(number, *photos):
    return {
        "id": number,
        "quality_grade": "research",
        "uri": f"https://www.inaturalist.org/observations/{number}",
        "license_code": "cc-by-nc",  # the observation's own, which says nothing about its photos
        "taxon": {"id": 64, "name": "Hibiscus", "rank": "genus"},
        "user": {"id": 7, "login": "somebody"},
        "photos": list(photos),
    }


class Server(Loopback):
    """The two things that are asked of: GET /v1/observations and GET /photos/N/medium.jpeg."""

    def __init__(self, observations_of, before=lambda request, number: None):
        def answer(request, number):
            if early := before(request, number):
                return early
            address = urlsplit(request.path)
            if address.path == "/v1/observations":
                query = {name: values[0] for name, values in parse_qs(address.query).items()}
                everything = observations_of(self.address)
                size, page = int(query["per_page"]), int(query["page"])
                results = everything[(page - 1) * size : page * size]
                return Reply({"total_results": len(everything), "page": page, "per_page": size, "results": results})
            return Reply(picture(), headers={"Content-Type": "image/jpeg"})

        super().__init__(answer)

    def fetch(self, count, cache, taxon="Hibiscus", **more):
        more = {"pace": 0.0, "patience": QUICK, **more}
        return inaturalist.fetch(taxon, count, cache, base_url=f"{self.address}/v1", **more)

    @property
    def lists(self):
        return [r for r in self.requests if r.path.startswith("/v1/")]

    @property
    def pictures(self):
        return [r.path for r in self.requests if r.path.startswith("/photos/")]


def test_only_free_photos_come_and_they_keep_what_is_known_about_them(tmp_path):
    def observations(host):
        return [
            observation(1, photo(11, "cc-by-nc", host), photo(12, "cc-by", host), photo(13, "cc0", host)),
            observation(2, photo(21, None, host)),
            observation(3, photo(31, "cc-by-nd", host), photo(32, "CC-BY-SA", host)),
            observation(4, photo(41, "cc0", host, attribution="")),
            observation(5, photo(51, "cc-by", host, attribution="")),
            observation(6),
        ]

    with Server(observations) as server:
        photos = server.fetch(10, tmp_path)
        query = parse_qs(urlsplit(server.lists[0].path).query)
        agents = {r.headers["user-agent"] for r in server.requests}
        pictures = server.pictures
    assert [(p.name, p.licence) for p in photos] == [
        ("inaturalist-12.jpeg", "cc-by"), ("inaturalist-32.jpeg", "cc-by-sa"), ("inaturalist-41.jpeg", "cc0"),
    ]  # fmt: skip
    assert photos[0].attribution == "(c) person 12, some rights reserved"
    assert photos[0].url == "https://www.inaturalist.org/photos/12"
    assert from_folder(tmp_path) == photos, "the folder is a folder of photos like any other"
    assert query["photo_license"] == ["cc0,cc-by,cc-by-sa"] and query["taxon_name"] == ["Hibiscus"]
    assert pictures == [f"/photos/{n}/medium.jpeg?1700000000" for n in (12, 32, 41)], "one an observation"
    assert len(agents) == 1 and agents.pop().startswith("paintcli/")


def test_it_goes_on_to_the_next_list_until_there_are_enough(tmp_path):
    with Server(lambda host: [observation(n, photo(n, "cc-by" if n % 3 else None, host)) for n in range(1, 141)]) as s:
        said = []
        photos = s.fetch(50, tmp_path, told=said.append)
        assert [parse_qs(urlsplit(r.path).query)["page"] for r in s.lists] == [["1"], ["2"]]
        assert len(photos) == len({p.name for p in photos}) == len(s.pictures) == 50
        assert said == list(range(1, 51))
        photos = s.fetch(200, tmp_path)
        assert len(photos) == len(s.pictures) == 94, "all there are, none twice"
        assert len(s.lists) == 3


def test_a_taxon_by_its_number_and_one_that_there_is_not(tmp_path):
    def before(request, number):
        if "taxon_id=999" in request.path:
            return Reply({"error": "Unknown taxon_id 999", "status": 422}, status=422)

    with Server(lambda host: [], before) as server:
        with pytest.raises(UsageError, match="no photo of 'Hibiscos' under cc0, cc-by, cc-by-sa"):
            server.fetch(3, tmp_path, taxon="Hibiscos")
        with pytest.raises(UsageError, match="does not know the taxon '999'"):
            server.fetch(3, tmp_path, taxon="999")
        with pytest.raises(UsageError, match="has no name"):
            server.fetch(3, tmp_path, taxon=" ")


def test_told_to_wait_it_waits(tmp_path):
    asked = []

    def before(request, number):
        asked.append(request.path.partition("?")[0])
        if number in (0, 2):
            return Reply({"error": "Too Many Requests"}, status=429, headers={"Retry-After": "1"})

    with Server(lambda host: [observation(1, photo(1, "cc0", host))], before) as server:
        assert len(server.fetch(1, tmp_path)) == 1
        at = [r.at for r in server.requests]
    assert asked == ["/v1/observations"] * 2 + ["/photos/1/medium.jpeg"] * 2
    assert at[1] - at[0] >= 0.99 and at[3] - at[2] >= 0.99


def test_requests_keep_their_pace(tmp_path):
    with Server(lambda host: [observation(n, photo(n, "cc0", host)) for n in range(4)]) as server:
        server.fetch(4, tmp_path, pace=0.2)
        at = [r.at for r in server.requests]
    # the server notes a request when it has come, so a slow way there may shorten one gap, never the whole
    assert len(at) == 5 and at[-1] - at[0] >= 0.2 * 4 - 0.1
    assert inaturalist.PACE >= 1.0


def test_cut_off_at_any_request_it_goes_on_without_asking_twice(tmp_path):
    """The server goes down at request N, for every N there is; what was answered before is never asked again."""

    def observations(host):
        return [observation(n, photo(n, "cc-by", host)) for n in range(60)]

    with Server(observations) as server:
        whole = server.fetch(52, tmp_path / "whole")
        paths = [r.path for r in server.requests]
    for down in (0, 1, 2, 30, 51, 52):
        answered: list[str] = []
        stopped: list[int] = []

        def before(request, number, down=down, answered=answered, stopped=stopped):
            if len(answered) == down and down not in stopped:
                return Reply(status=503)
            answered.append(request.path)

        with Server(observations, before) as server:
            cache = tmp_path / str(down)
            with pytest.raises(Unavailable, match=r"no answer in 2 attempts \(status 503\)"):
                server.fetch(52, cache, patience=Patience(attempts=2, wait=0.01))
            stopped.append(down)
            photos = server.fetch(52, cache)
        assert [p.name for p in photos] == [p.name for p in whole]
        assert answered == paths


def test_killed_between_a_photo_and_its_row_or_in_the_middle_of_a_row(tmp_path):
    with Server(lambda host: [observation(n, photo(n, "cc-by", host)) for n in range(1, 5)]) as server:
        before = server.fetch(3, tmp_path)
        sidecar = tmp_path / "photos.jsonl"
        lines = sidecar.read_text().splitlines(keepends=True)
        sidecar.write_text("".join(lines[:1]) + lines[1][:30])
        asked = len(server.requests)
        assert server.fetch(3, tmp_path) == before == from_folder(tmp_path)
        assert len(server.requests) == asked


def test_a_photo_that_is_gone_or_no_picture_is_left_out_for_good(tmp_path):
    def before(request, number):
        if request.path.startswith("/photos/1/"):
            return Reply(b"<Error>AccessDenied</Error>", status=403)
        if request.path.startswith("/photos/2/"):
            return Reply(b"<html>", headers={"Content-Type": "text/html"})

    with Server(lambda host: [observation(n, photo(n, "cc0", host)) for n in range(1, 5)], before) as server:
        for _ in range(2):
            assert [p.name for p in server.fetch(2, tmp_path)] == ["inaturalist-3.jpeg", "inaturalist-4.jpeg"]
        assert len(server.pictures) == 4
    assert len(from_folder(tmp_path)) == 2


@pytest.mark.parametrize("body", [b"{}", b"<html>", b"[]", b'{"results": [{"id": 1}], "total_results": 1}'])
def test_an_answer_of_another_shape_is_an_outage(tmp_path, body):
    with (
        Server(lambda host: [], lambda request, number: Reply(body)) as server,
        pytest.raises(Unavailable, match=r"no answer in 4 attempts \(a list of the wrong shape"),
    ):
        server.fetch(1, tmp_path)


def test_a_block_is_said(tmp_path):
    with (
        Server(lambda host: [], lambda request, number: Reply({}, status=403)) as server,
        pytest.raises(PaintError, match="refuses to answer this machine"),
    ):
        server.fetch(1, tmp_path)


def test_two_taxa_share_a_folder(tmp_path):
    def observations(host):
        return [observation(n, photo(n, "cc0", host)) for n in range(1, 4)]

    with Server(observations) as server:
        server.fetch(2, tmp_path, taxon="Hibiscus")
        assert len(server.fetch(3, tmp_path, taxon="Hibiscus rosa-sinensis/alba")) == 3
        assert len(server.pictures) == 3 and len(server.lists) == 2
    assert len(from_folder(tmp_path)) == 3
