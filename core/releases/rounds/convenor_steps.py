"""What the convenor of a round does: ask owners to take masks off, and put shares together into a release.

The convenor needs no secret but, where shares have parts of the noise and no masks, the key that they are encrypted
for. Everything is checked before it is added: who made it, for which round, once, in time. What an honest owner cannot
have made is refused by the bounds of the plan: counters of at most L and the noise, which passes N with a probability
of 2^-40 in a round. Under masks nobody can look at one share, so the bound is that of the opened sum; it also tells a
mask that was not removed, which leaves uniform numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...errors import RequestError
from ...formatting.numbers import listed
from ...runtime import archives
from ...runtime.parameters import exact_fields
from ..release import Release
from ..seal import promise, sealed
from .masking import Graph, add_stream, commitment, is_of, pair_secret, put_together, sign, unsigned
from .owner_steps import HELLO, REQUEST, SHARE, UNMASK, Hellos
from .round_messages import Message, OwnerKey, read_message
from .round_plan import RoundPlan

SHOWN = 5  # Names in a sentence.


class NotYet(RequestError):
    """Something that a round still waits for is not there."""


@dataclass(frozen=True)
class Arrived:
    """What came in a round, each message checked and none doubled."""

    plan: RoundPlan
    shares: Mapping[str, Message]
    answers: Mapping[str, Message]
    hellos: Hellos | None

    @classmethod
    def of(cls, plan: RoundPlan, written: Iterable[bytes]) -> Arrived:
        """The messages of a round in any order; RequestError, which names the owner, on the first that cannot count."""
        contents = list(written)
        found: dict[str, dict[str, Message]] = {HELLO: {}, SHARE: {}, UNMASK: {}}
        for content in contents:
            message = read_message(content, plan.digest, plan.owners)
            if message.kind not in found:
                raise RequestError(f"{message.described} is nothing that a round has.")
            if message.owner in found[message.kind]:
                raise RequestError(f"There are two of these: {_lower(message.described)}; one owner counts once.")
            found[message.kind][message.owner] = message
        if len(found[SHARE]) < plan.least:
            missing = [name for name in plan.owners if name not in found[SHARE]]
            raise NotYet(
                f"There are {len(found[SHARE]):,} shares and the plan needs {plan.least:,}; there is none of "
                f"{_some(missing)}."
            )
        hellos = Hellos.read(plan, contents) if plan.way == "masked" else None
        shares = {name: found[SHARE][name] for name in plan.owners if name in found[SHARE]}
        for message in shares.values():
            check_share(plan, message, hellos)
        return cls(plan, shares, found[UNMASK], hellos)

    @property
    def request(self) -> str:
        """What is asked of everyone whose share came, to take masks off the sum."""
        if self.hellos is None:
            raise RequestError("Only the sum of masked shares needs to be unmasked.")
        facts = {"format": REQUEST, "round": self.plan.digest, "heard": self.hellos.digest, "came": sorted(self.shares)}
        return f"{archives.dumps(facts)}\n"


def check_share(plan: RoundPlan, message: Message, hellos: Hellos | None) -> None:
    """Refuse, by the name of its owner, a share that was made too late, with other hellos, or of another size."""
    exact_fields(message.facts, "share", ("heard",))
    if plan.is_late(message.made):
        raise RequestError(f"{message.described} was made after the round had closed at {plan.closes}.")
    if hellos is not None and (message.facts["heard"] != hellos.digest or message.owner not in hellos.by_owner):
        raise RequestError(f"{message.described} was made with other hellos than these, so masks do not cancel.")
    if len(message.content) != plan.share_bytes:
        raise RequestError(f"{message.described} does not hold the {plan.length:,} numbers of this round.")


def check_answer(arrived: Arrived, message: Message) -> None:
    """Refuse an answer to another request than that of the shares that came."""
    facts = exact_fields(message.facts, "answer", ("came", "heard", "parts"))
    if facts["came"] != sorted(arrived.shares) or arrived.hellos is None or facts["heard"] != arrived.hellos.digest:
        raise RequestError(f"{message.described} answers another request than that of these shares.")


def ask_to_unmask(plan: RoundPlan, messages: Iterable[bytes]) -> str:
    """The request that goes to every owner of a masked round once shares are in; see `owner_steps.unmask`.

    Parameters
    ----------
    messages : Iterable[bytes]
        All hellos and shares.
    """
    return Arrived.of(plan, messages).request


def put_round_together(plan: RoundPlan, messages: Iterable[bytes], key: OwnerKey | None = None) -> Release:
    """The release that a round makes.

    Parameters
    ----------
    messages : Iterable[bytes]
        Shares; of a masked round hellos and answers to the request as well.
    key : OwnerKey | None
        That of the convenor, for whom shares without masks are encrypted.

    Raises
    ------
    RequestError
        When something is missing, late, doubled, of somebody else or of another round, or was altered; the sentence
        names the owner.
    """
    arrived = Arrived.of(plan, messages)
    combined = plan.combined(len(arrived.shares))
    if plan.way == "full":
        made = [_release(plan, _open_share(plan, share, None)) for share in arrived.shares.values()]
        total = made[0]
        for one in made[1:]:
            total = total.merged(one)
        return replace(total, combined=combined)
    numbers = _masked_sum(arrived) if plan.way == "masked" else np.zeros(plan.length, np.int64)
    if plan.way == "shared":
        for share in arrived.shares.values():
            numbers += _open_share(plan, share, key)
    table, count = plan.shaped(numbers)
    record = promise(plan.sketch, plan.of_sum(len(arrived.shares)), plan.budget)
    return replace(sealed(plan.sketch, table, count, record, None), combined=combined)


def _release(plan: RoundPlan, numbers: np.ndarray) -> Release:
    """The release that a share with all noise is by itself."""
    table, count = plan.shaped(numbers)
    return sealed(plan.sketch, table, count, promise(plan.sketch, plan.planned, plan.budget), None)


def _open_share(plan: RoundPlan, share: Message, key: OwnerKey | None) -> np.ndarray:
    """The numbers of one share, int64, within what its owner can have added."""
    content: bytes | None = share.content
    if plan.way == "shared":
        if key is None or key.public != plan.convenor:
            raise RequestError("The shares are encrypted for the convenor, so its key is needed to add them up.")
        content = key.decrypt(share.content, plan.owners[share.owner], plan.digest, SHARE)
    if content is None:
        raise RequestError(f"{share.described} does not hold the {plan.length:,} numbers of this round.")
    numbers = np.frombuffer(content, "<i8").astype(np.int64)
    _check_range(numbers, plan.limit + plan.noise_within(1), share.described)
    return numbers


def _masked_sum(arrived: Arrived) -> np.ndarray:
    """The sum of all shares that came, without masks."""
    plan, hellos = arrived.plan, arrived.hellos
    if hellos is None:
        raise RuntimeError("The sum of masked shares needs the hellos.")
    graph, kind = Graph.of(plan), unsigned(plan.bits)
    total = np.zeros(plan.length, kind)
    for share in arrived.shares.values():
        total += np.frombuffer(share.content, kind)
    parts = _parts(arrived, graph)
    for name, hello in hellos.by_owner.items():
        came = name in arrived.shares
        # Those whose share never came, and who have no neighbour whose share came, have left no mask.
        touched = [other for other in graph.neighbours(name) if other in arrived.shares]
        if not came and not touched:
            continue
        secret = put_together(parts.get(name, {}), graph.threshold)
        if secret is None and len(parts.get(name, {})) < graph.threshold:
            missing = [one for one in graph.neighbours(name) if one in arrived.shares and one not in arrived.answers]
            raise NotYet(
                f"The sum cannot be unmasked yet: {graph.threshold:,} answers are needed to take away what "
                f"{name!r} has masked, and there are {len(parts.get(name, {})):,}; there is none of {_some(missing)}."
            )
        known = hello.facts["own_mask" if came else "mask_key"]
        right = secret is not None and (commitment(plan, secret) == known if came else is_of(secret, known))
        if secret is None or not right:
            raise RequestError(f"What the answers say of the masks of {name!r} is not what {name!r} had shared.")
        if came:
            add_stream(total, secret, -1)
        else:
            for other in touched:
                common = pair_secret(plan, secret, hellos.mask_keys[other])
                add_stream(total, common, sign(graph, name, other))
    numbers = total.view(f"<i{kind.itemsize}").astype(np.int64)
    shares = len(arrived.shares)
    _check_range(numbers, shares * plan.limit + plan.noise_within(shares), "The opened sum")
    return numbers


def _parts(arrived: Arrived, graph: Graph) -> dict[str, dict[int, str]]:
    """What the answers say of each owner's secret, by the place of who says it."""
    told = dict[str, dict[int, str]]()
    for name, message in arrived.answers.items():
        check_answer(arrived, message)
        parts = message.facts["parts"]
        if not isinstance(parts, dict) or not set(parts) <= set(graph.neighbours(name)):
            raise RequestError(f"{message.described} makes no sense.")
        for other, part in parts.items():
            try:
                int(part, 16)
            except (TypeError, ValueError):
                raise RequestError(f"{message.described} makes no sense.") from None
            told.setdefault(other, {})[graph.places[name] + 1] = part
    return told


def _check_range(numbers: np.ndarray, most: int, what: str) -> None:
    """Refuse counters that no honest owners can have made."""
    if numbers.size and max(int(numbers.max()), -int(numbers.min())) > most:
        raise RequestError(
            f"{what} has counters beyond what the plan allows, so an owner has added other numbers than were agreed, "
            "or a mask was not removed."
        )


def _some(names: list[str]) -> str:
    shown = listed([repr(name) for name in names[:SHOWN]])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN:,} more"


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
