"""Keys of owners, and the messages that they sign.

An owner has one secret of 32 bytes, made once. From it follow, by HKDF-SHA256 under different labels, a key that signs
(Ed25519), one by which two owners agree on a secret (X25519), and for every round secrets of its own, which depend on
the digest of the round's plan: what is made for one round is of no use in another, and nothing has to be stored between
two steps. The same step gives the same keys again after a crash.

A message is a line that says what it is, the length of a header, the header as JSON (what it is, of which round, by
whom, when, and facts), contents, and the signature of all of that. What is for one reader alone is encrypted under a
key that only the two can derive (ChaCha20-Poly1305), for this round and this direction alone, so that a fixed nonce is
used once.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ...errors import RequestError
from ...runtime import archives, environment
from ...runtime.parameters import exact_fields
from ...runtime.transient import unfinished

SECRET_BYTES, SIGNATURE_BYTES, LENGTH_BYTES = 32, 64, 8
MAGIC = b"frostglass-round-message 1\n"
MAX_HEADER = 64 << 20
MAX_KEY = 1 << 12  # Bytes of the file of a key.
NONCE = bytes(12)
OWNERS_KEY, PUBLIC_KEY = "frostglass-owner-key", "frostglass-public-key"
PUBLIC = ".pub"  # The ending of the file of a public key, beside the secret one.


def derived(secret: bytes, salt: bytes, label: str) -> bytes:
    """A secret of 32 bytes that follows from another one, a round and a label."""
    return HKDF(hashes.SHA256(), SECRET_BYTES, salt, label.encode()).derive(secret)


@dataclass(frozen=True)
class PublicKey:
    """What others know of an owner: two keys, as 64 hexadecimal digits each."""

    sign: str
    agree: str

    @property
    def text(self) -> str:
        """Both, as plans and files have them."""
        return self.sign + self.agree

    @property
    def written(self) -> bytes:
        """What stands in its file."""
        return _written(PUBLIC_KEY, self.text)

    @classmethod
    def of_text(cls, text: object) -> PublicKey:
        """What `text` wrote; RequestError on anything else."""
        try:
            whole = bytes.fromhex(text) if isinstance(text, str) else b""
        except ValueError:
            whole = b""
        if len(whole) != 2 * SECRET_BYTES:
            raise RequestError("A public key of an owner is 128 hexadecimal digits, as 'combine key' writes it.")
        return cls(whole[:SECRET_BYTES].hex(), whole[SECRET_BYTES:].hex())

    @property
    def fingerprint(self) -> str:
        """The beginning of its digest, for two people to compare."""
        return in_fours(_sha256(self.text.encode()))

    @classmethod
    def load(cls, path: str | Path) -> PublicKey:
        """The key in a file that `OwnerKey.save` wrote beside the secret one."""
        return cls.of_text(_key_in(Path(path), PUBLIC_KEY))

    @classmethod
    def of_file(cls, content: bytes, name: str) -> PublicKey:
        """The key in the content of such a file; RequestError, which names the file, where it holds none."""
        return cls.of_text(_key_of(content, PUBLIC_KEY, name))


@dataclass(frozen=True, repr=False)
class OwnerKey:
    """The secret of one owner.

    Examples
    --------
    >>> key = OwnerKey.new()
    >>> key.save("hospital.key")  # doctest: +SKIP
    """

    secret: bytes

    @classmethod
    def new(cls) -> OwnerKey:
        """A new secret from the system's randomness."""
        return cls(secrets.token_bytes(SECRET_BYTES))

    @classmethod
    def load(cls, path: str | Path) -> OwnerKey:
        """The key in a file."""
        try:
            secret = bytes.fromhex(_key_in(Path(path), OWNERS_KEY))
        except ValueError:
            secret = b""
        if len(secret) != SECRET_BYTES:
            raise RequestError(f"The file {str(path)!r} holds no key of an owner, as 'combine key' writes it.")
        return cls(secret)

    def save(self, path: str | Path) -> Path:
        """Write it to a file that its owner alone may read, and the public key beside it, whose path is returned.

        RequestError where there is a file already: a key that is lost takes the rounds with it that it is part of.
        """
        path = Path(path)
        public = path.with_suffix(PUBLIC)
        if path.suffix == PUBLIC or path.exists() or public.exists():
            raise RequestError(f"There is a file {str(path)!r} or {str(public)!r} already, and keys are not replaced.")
        for place, content in ((path, _written(OWNERS_KEY, self.secret.hex())), (public, self.public.written)):
            try:
                with unfinished(place) as file:
                    if place == path:
                        place_mode(file.name)
                    file.write(content)
            except OSError as problem:
                raise RequestError(f"The key cannot be written to {str(place)!r}: {problem.strerror}.") from None
        return public

    @property
    def public(self) -> PublicKey:
        """What others may know."""
        return PublicKey(self._sign.public_key().public_bytes_raw().hex(), public_of(self._agree))

    @property
    def _sign(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(derived(self.secret, b"", "frostglass sign"))

    @property
    def _agree(self) -> bytes:
        return derived(self.secret, b"", "frostglass agree")

    def of_round(self, digest: str, label: str) -> bytes:
        """A secret for one use in one round."""
        return derived(self.secret, bytes.fromhex(digest), f"frostglass round {label}")

    def encrypt(self, content: bytes, reader: PublicKey, digest: str, label: str) -> bytes:
        """What only the reader can read, and only as content of this round, label and writer."""
        return ChaCha20Poly1305(self._between(reader, digest, label, self.public)).encrypt(NONCE, content, None)

    def decrypt(self, content: bytes, writer: PublicKey, digest: str, label: str) -> bytes | None:
        """What a writer has encrypted for this key; None where it has not."""
        try:
            return ChaCha20Poly1305(self._between(writer, digest, label, writer)).decrypt(NONCE, content, None)
        except InvalidTag:
            return None

    def _between(self, other: PublicKey, digest: str, label: str, writer: PublicKey) -> bytes:
        return agreed(self._agree, other.agree, digest, f"{label} by {writer.agree}")

    def message(self, kind: str, digest: str, owner: str, facts: dict[str, Any], content: bytes = b"") -> bytes:
        """A signed message of one round."""
        header = {"kind": kind, "round": digest, "owner": owner, "made": environment.utc().isoformat(), "facts": facts}
        text = archives.dumps(header).encode()
        body = b"".join((MAGIC, len(text).to_bytes(LENGTH_BYTES, "big"), text, content))
        return body + self._sign.sign(body)


@dataclass(frozen=True)
class Message:
    """What somebody wrote to a round, whose signature is that of the key that the plan names."""

    kind: str  # "hello", "share" or "unmask".
    owner: str
    made: str  # When, ISO 8601, UTC, as its writer says.
    facts: dict[str, Any]
    content: bytes
    digest: str  # SHA-256 of all of it.

    @property
    def described(self) -> str:
        """For a sentence."""
        return f"The {self.kind} of the owner {self.owner!r}"


def read_message(written: bytes, digest: str, keys: dict[str, PublicKey]) -> Message:
    """A message of a round; RequestError, which names the owner, where it is none, or not what its owner has signed.

    `digest`: Of the plan of the round. `keys`: Of the owners, by name.
    """
    body, signature = written[:-SIGNATURE_BYTES], written[-SIGNATURE_BYTES:]
    start = len(MAGIC) + LENGTH_BYTES
    length = int.from_bytes(body[len(MAGIC) : start], "big")
    if not body.startswith(MAGIC) or not 0 < length <= min(MAX_HEADER, len(body) - start):
        raise RequestError("A file is no message of a round, or was cut short on its way; ask for it again.")
    try:
        header = archives.loads(body[start : start + length].decode())
        facts = exact_fields(header, "message", ("kind", "round", "owner", "made", "facts"))
        if not all(isinstance(facts[name], str) for name in ("kind", "round", "owner", "made")):
            raise ValueError("no text")
        if not isinstance(facts["facts"], dict):
            raise ValueError("no facts")
    except (ValueError, RequestError):
        raise RequestError("A file is no message of a round, or was altered on its way; ask for it again.") from None
    kind, owner = facts["kind"], facts["owner"]
    if owner not in keys:
        raise RequestError(f"There is a {kind} of {owner!r}, who is no owner of this round; leave it away.")
    if facts["round"] != digest:
        raise RequestError(f"The {kind} of the owner {owner!r} was made for another round, and counts in that alone.")
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(keys[owner].sign)).verify(signature, body)
    except (InvalidSignature, ValueError):
        raise RequestError(
            f"The {kind} of the owner {owner!r} does not have the signature of that owner: it was altered, or somebody "
            "else has made it."
        ) from None
    return Message(kind, owner, facts["made"], facts["facts"], body[start + length :], _sha256(written))


def public_of(private: bytes) -> str:
    """The public key of a secret one by which two agree."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()


def agreed(private: bytes, public: str, digest: str, label: str) -> bytes:
    """The secret of a round that the owners of two keys have in common, whichever of them asks."""
    try:
        common = X25519PrivateKey.from_private_bytes(private).exchange(
            X25519PublicKey.from_public_bytes(bytes.fromhex(public))
        )
    except ValueError:
        raise RequestError("A public key in the round is none.") from None
    return derived(common, bytes.fromhex(digest), f"frostglass {label}")


def in_fours(digest: str) -> str:
    """The first 24 digits of a digest, as two people compare them by telephone."""
    return " ".join(digest[start : start + 4] for start in range(0, 24, 4))


def place_mode(name: str) -> None:
    """Let nobody but its owner read a file."""
    Path(name).chmod(0o600)


def _sha256(content: bytes) -> str:
    digest = hashes.Hash(hashes.SHA256())
    digest.update(content)
    return digest.finalize().hex()


def _written(kind: str, key: str) -> bytes:
    return f"{archives.dumps({'format': kind, 'key': key})}\n".encode()


def _key_in(path: Path, kind: str) -> str:
    try:
        content = path.read_bytes() if path.stat().st_size < MAX_KEY else b""
    except OSError:
        content = b""
    return _key_of(content, kind, str(path))


def _key_of(content: bytes, kind: str, name: str) -> str:
    try:
        facts = archives.loads(content.decode()) if len(content) < MAX_KEY else None
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or facts.get("format") != kind or not isinstance(facts.get("key"), str):
        what = "public key" if kind == PUBLIC_KEY else "key"
        raise RequestError(f"There is no {what} of an owner in {name!r}; 'combine key' makes one.")
    return str(facts["key"])
