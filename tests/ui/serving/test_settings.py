"""The configuration: whatever is wrong with it is one sentence, and no secret is ever repeated."""

import pytest

from core.errors import RequestError
from core.ui.serving.settings import Role, read_settings

COOKIE = "c0okie-" * 6
GOOD = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[sign_in]
provider = "https://login.example.org/.well-known/openid-configuration"
client = "frostglass"
client_secret = "s3cret"
cookie_secret = "c0okie-c0okie-c0okie-c0okie-c0okie-c0okie-"
[roles]
owner = ["Ann@Example.org"]
analyst = ["group:staff"]
steward = ["sue@example.org"]
[approval]
epsilon = 1
people = 2
[data]
"ann@example.org" = ["{folder}", "s3://bucket/ann/"]
[limits]
sessions = 7
"""
PROXY = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[proxy]
addresses = ["10.0.3.0/24", "::1"]
email_header = "X-Forwarded-Email"
[roles]
owner = ["ann@example.org"]
"""


@pytest.fixture
def read(tmp_path):
    """Read a configuration after some of it was replaced."""

    def reading(text=GOOD, old=None, new=""):
        text = text.format(folder=tmp_path)
        assert old is None or old in text
        path = tmp_path / "serving.toml"
        path.write_text(text if old is None else text.replace(old, new))
        path.chmod(0o600)
        return read_settings(path)

    return reading


def test_a_whole_file(read, tmp_path):
    settings = read()
    assert settings.host == "frostglass.example.org" and settings.secure and settings.address == "127.0.0.1"
    assert settings.roles_of("ann@example.org", frozenset()) == {Role.OWNER}
    assert settings.roles_of("bob@example.org", frozenset({"staff"})) == {Role.ANALYST}
    assert settings.roles_of("group:staff", frozenset()) == {Role.ANALYST}  # which no address can be
    assert settings.roles_of("eve@example.org", frozenset({"sue@example.org"})) == set()
    assert settings.approval.people == 2 and settings.limits.sessions == 7
    assert settings.places_of("ann@example.org", frozenset()) == (str(tmp_path), "s3://bucket/ann/")
    assert settings.places_of("bob@example.org", frozenset({"staff"})) == ()
    assert "s3cret" not in repr(settings) and COOKIE not in repr(settings)


def test_a_proxy_is_trusted_by_its_address_alone(read):
    proxy = read(PROXY).proxy
    assert proxy.trusts("10.0.3.9") and proxy.trusts("::1") and proxy.trusts("::ffff:10.0.3.9")
    for other in ("10.0.4.9", "127.0.0.1", "::2", None, "", "testclient", "10.0.3.9, 10.0.4.9"):
        assert not proxy.trusts(other)


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[server]", "[server", "is not TOML"),
        ('public = "https://frostglass.example.org"', "", "lacks the setting public"),
        ("https://frostglass.example.org", "http://frostglass.example.org", "https://"),
        ("https://frostglass.example.org", "https://frostglass.example.org/app", "without a path"),
        ('folder = "', 'folder = "relative', "whole path of a folder"),
        ("[limits]", "[limit]", "'limit'"),
        ("sessions = 7", "session = 7", "'session'"),
        ("sessions = 7", "sessions = true", "whole number"),
        ("people = 2", "people = 9", "whole number from 1 to 5"),
        ('steward = ["sue@example.org"]', "", "names none"),
        ('owner = ["Ann@Example.org"]', 'owner = "ann@example.org"', "list of e-mail"),
        ('owner = ["Ann@Example.org"]', 'owner = ["everybody"]', "list of e-mail"),
        ('owner = ["Ann@Example.org"]', 'owners = ["ann@example.org"]', "'owners'"),
        ("c0okie-c0okie-c0okie-c0okie-c0okie-c0okie-", "short", "32 characters"),
        ('client_secret = "s3cret"', "", "one of client_secret and client_secret_file"),
        ('client_secret = "s3cret"', 'client_secret_file = "/nowhere/at/all"', "cannot be read"),
        ("https://login.example.org/.well", "http://login.example.org/.well", "https://"),
        ("s3://bucket/ann/", "s3://bucket/ann", "end with a stroke"),
        ("s3://bucket/ann/", "/", "list of whole paths"),
        ("[sign_in]", "[signin]", "'signin'"),
        ("https://frostglass.example.org", "https://frostglass.example.org:99999", "that there can be"),
        ("https://login.example.org/.well", "https://[login.example.org/.well", "that there can be"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_without_a_secret(read, old, new, said):
    with pytest.raises(RequestError) as refusal:
        read(GOOD, old, new)
    words = str(refusal.value)
    assert said in words and words.endswith(".") and "\n" not in words
    assert "s3cret" not in words and "c0okie" not in words


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sessions = 7", "sessions = " + "9" * 5_000, "a number is too long"),
        ("sessions = 7", "sessions = " + "[" * 20_000, "lists are too deep"),
        ("folder = ", 'ledger = "x"\nfolder = "/' + "a" * 5_000 + '"\n#', "a folder that exists"),
        ('["{folder}",', '["/' + "a" * 5_000 + '",', "folders that exist"),
    ],
    ids=["a number of 5,000 digits", "20,000 lists", "a long folder", "a long place"],
)
def test_numbers_lists_and_names_beyond_what_python_and_the_system_take_get_a_sentence(read, old, new, said):
    with pytest.raises(RequestError, match=said):
        read(GOOD.replace(old, new))


@pytest.mark.parametrize("addresses", ['["0.0.0.0/0"]', "[]", '["somewhere"]', '["::/0"]', '"127.0.0.1"'])
def test_a_proxy_has_an_address_of_its_own(read, addresses):
    with pytest.raises(RequestError, match="narrower than everyone"):
        read(PROXY, '["10.0.3.0/24", "::1"]', addresses)


def test_secrets_that_everyone_can_read_are_refused(read, tmp_path):
    read()
    (tmp_path / "serving.toml").chmod(0o644)
    with pytest.raises(RequestError, match="chmod"):
        read_settings(tmp_path / "serving.toml")


def test_secrets_may_lie_in_files_of_their_own(read, tmp_path):
    (tmp_path / "secret").write_text("s3cret\n")
    settings = read(GOOD, 'client_secret = "s3cret"', f'client_secret_file = "{tmp_path / "secret"}"')
    assert settings.sign_in.client_secret == "s3cret"
