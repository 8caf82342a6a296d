"""Who a visitor is: the provider's or the proxy's word, and never the visitor's."""

import pytest

from core.serving.people import from_claims, from_headers
from core.serving.settings import Proxy, SignIn

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
