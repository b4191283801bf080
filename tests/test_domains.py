"""A domain of one's own: a file, no code. What is wrong with it is one sentence."""

import pytest

from paintcli import domains
from paintcli.errors import UsageError

BOAT = """
title = "Boats"
subject = "a small boat"
hpsv3_prompt = "a loose watercolour of a boat"
[gate]
methods = ["fill", "circle"]
enforce_allowlist = true
paint_floor = 0.02
"""


def test_the_least_a_domain_needs(tmp_path):
    (tmp_path / "boat.toml").write_text(BOAT)
    boat = domains.load(str(tmp_path / "boat.toml"))
    assert (boat.name, boat.subjects, boat.methods) == ("boat", ("a small boat",), {"fill", "circle"})
    assert boat.messages("a red boat") == [{"role": "user", "content": "Paint a red boat."}]


@pytest.mark.parametrize("name", domains.available())
def test_the_packaged_ones_are_whole(name):
    domain = domains.load(name)
    assert domain.system and domain.criteria and 0 < domain.pigment_target <= 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (BOAT.replace("subject", "object").encode(), "lacks the key 'subject'"),
        (BOAT.replace("[gate]", "[gat").encode(), "is not valid TOML"),
        (b"gate = 3\ntitle = 'a'\nsubject = 'b'\nhpsv3_prompt = 'c'\n", "has a value of the wrong kind"),
        (BOAT.replace("0.02", "'little'").encode(), "has a value of the wrong kind"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_a_faulty_file_is_one_sentence(tmp_path, content, sentence):
    (tmp_path / "boat.toml").write_bytes(content)
    with pytest.raises(UsageError, match=sentence) as said:
        domains.load(str(tmp_path / "boat.toml"))
    assert "\n" not in str(said.value)


def test_an_unknown_name_lists_the_packaged_ones():
    with pytest.raises(UsageError, match="packaged are hibiscus, koi"):
        domains.load("roses")
