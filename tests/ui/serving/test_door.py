"""Who is in, and that nobody stays who may not."""

import pytest

from core.errors import RequestError
from core.ui.serving.door import NOBODY, STRANGER, Full, Person, SessionManager, from_claims, from_headers
from core.ui.serving.settings import NEEDS, Proxy, Role, SignIn, may_open

FILE = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[proxy]
addresses = ["127.0.0.1"]
email_header = "X-Forwarded-Email"
[roles]
owner = ["ann@example.org"]
analyst = ["group:staff"]
[limits]
sessions = 4
sessions_each = 2
"""
ANN = Person("ann@example.org", frozenset(), "a" * 64, 1_000.0)
BOB = Person("bob@example.org", frozenset({"staff"}), "b" * 64, 1_000.0)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "serving.toml"
    path.write_text(FILE.format(folder=tmp_path))
    return path


@pytest.fixture
def door(path):
    return SessionManager(path, lambda: 500.0)


def test_a_token_says_who_came_by_it(door):
    token = door.enter(ANN)
    assert door.visitor(token).roles == {Role.OWNER} and door.visitor(token).name == ANN.name
    for other in (None, "", "0" * 32, token[:-1]):
        assert door.visitor(other) is STRANGER
    door.leave(token)
    assert door.visitor(token) is STRANGER and not door.unchanged(token)


def test_nobody_and_a_sign_in_that_has_ended_are_strangers(path):
    late = SessionManager(path, lambda: 1_000.0)
    assert late.judge(ANN) is STRANGER and late.judge(None) is STRANGER and late.judge(NOBODY) is STRANGER


def test_who_signs_out_is_out_everywhere_and_for_good(door, path):
    tokens = [door.enter(ANN), door.enter(ANN)]
    door.sign_out(ANN)
    for token in tokens:
        assert not door.unchanged(token) and door.visitor(token) is STRANGER
    assert SessionManager(path, lambda: 500.0).judge(ANN) is STRANGER  # after a restart too, and in another process
    assert door.judge(Person(ANN.name, frozenset(), "c" * 64, 1_000.0)).roles == {Role.OWNER}


def test_a_role_is_lost_and_won_at_once(door, path):
    ann, bob = door.enter(ANN), door.enter(BOB)
    path.write_text(path.read_text().replace('owner = ["ann@example.org"]', 'owner = ["bob@example.org", "x@y.z"]'))
    assert not door.unchanged(ann) and door.visitor(ann).roles == set()
    assert not door.unchanged(bob) and door.visitor(bob).roles == {Role.OWNER, Role.ANALYST}


def test_while_the_file_cannot_be_used_nobody_has_a_role(door, path):
    token, whole = door.enter(ANN), path.read_text()
    for broken in (whole.replace("owner =", "owners ="), "", "["):
        path.write_text(broken)
        assert not door.unchanged(token) and door.visitor(token).roles == set() and door.rules is None
    path.write_text(whole)
    assert door.unchanged(token)
    path.unlink()
    assert door.visitor(token).roles == set()


def test_limits(door):
    for _ in range(2):
        door.enter(ANN)
    with pytest.raises(Full, match="You have 2 pages"):
        door.enter(ANN)
    door.enter(BOB)
    token = door.enter(BOB)
    with pytest.raises(Full, match="All 4 places"):
        door.enter(Person("tom@example.org", frozenset(), "d" * 64, 1_000.0))
    door.leave(token)
    door.enter(BOB)


def test_a_session_is_one_sign_ins(door):
    door.bind("session", ANN)
    assert door.owns("session", ANN) and not door.owns("session", BOB) and not door.owns("other", ANN)
    assert not door.owns("other", NOBODY)


def test_it_does_not_open_by_a_file_that_cannot_be_used(path):
    path.write_text("[roles]")
    with pytest.raises(RequestError):
        SessionManager(path)


def test_a_page_that_is_not_listed_is_nobodys():
    assert not may_open("pages/new.py", set(Role)) and not any(may_open(page, ()) for page in NEEDS)


RULES = SignIn("https://login.example.org", "frostglass", "s", "c" * 32, hours=8)
NOW = 1_000_000.0
CLAIMS = {
    "is_logged_in": True,
    "iss": "https://login.example.org",
    "sub": "42",
    "iat": NOW - 60,
    "nonce": "n",
    "email": "Ann@Example.org ",
    "email_verified": True,
    "groups": ["staff", 7, ""],
}
PROXY = Proxy((), "x-forwarded-email", "x-forwarded-groups")


def claims(**changed):
    return from_claims(CLAIMS | changed, RULES, NOW)


def test_a_verified_address_is_the_name():
    person = claims()
    assert (person.name, person.groups) == ("ann@example.org", {"staff"})
    assert person.until == NOW - 60 + 8 * 3600
    assert claims(groups="staff").groups == {"staff"}


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_nobody_verified_is_no_name(verified):
    assert claims(email_verified=verified).name == "subject:42"


@pytest.mark.parametrize(
    "email",
    ["", "ann", "ann@exa mple.org", "аnn@example.org", "ann@example.org\n", None, 7, "a@b@c", "group:staff@x.org"],
)
def test_what_is_no_plain_address_is_no_name(email):
    assert claims(email=email).name in ("subject:42", "ann@example.org")
    assert email == "ann@example.org\n" or claims(email=email).name == "subject:42"


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "changed",
    [
        {"is_logged_in": False},
        {"is_logged_in": "yes"},
        {"iss": None},
        {"sub": ""},
        {"sub": "4 2"},
        {"sub": "4: 2"},
        {"iat": None},
        {"iat": "now"},
        {"iat": True},
        {"iat": float("nan")},
        {"iat": NOW + 3600},
        {"iat": NOW - 8 * 3600},
    ],
)
def test_a_sign_in_that_ended_or_says_too_little_is_nobodys(changed):
    assert claims(**changed) is None


def test_two_sign_ins_of_one_person_have_marks_of_their_own():
    assert claims().mark == claims(email="x@example.org").mark
    assert len({claims().mark, claims(iat=NOW - 59).mark, claims(nonce="m").mark, claims(sub="43").mark}) == 4


def headers(*pairs):
    return from_headers(pairs, PROXY, NOW)


def test_a_proxy_names_one_person():
    person = headers(("X-Forwarded-Email", "Ann@example.org"), ("x-forwarded-groups", "staff, boards"))
    assert (person.name, person.groups) == ("ann@example.org", {"staff", "boards"})


@pytest.mark.parametrize(
    "pairs",
    [
        (),
        (("X-Forwarded-Email", ""),),
        (("X-Forwarded-Email", "ann@example.org"), ("x-forwarded-email", "eve@example.org")),
        (("X-Forwarded-Email", "ann@example.org, eve@example.org"),),
        (("X-Forwarded-Email", "ann@example.org"), ("X-Forwarded-Groups", "a"), ("X-Forwarded-Groups", "b")),
        (("X-Forwarded-User", "ann@example.org"),),
    ],
)
def test_a_header_that_is_there_twice_or_not_names_nobody(pairs):
    assert headers(*pairs) is None
