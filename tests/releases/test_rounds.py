"""Rounds of several owners: what must not count is refused by name, and nothing is paid for or shown twice."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom

from core.domain import Domain
from core.errors import BudgetError, RequestError
from core.geometry import kernels
from core.privacy.budget import Budget
from core.privacy.composition import Failure
from core.privacy.ledger.ledger import Ledger
from core.releases.release import load
from core.releases.rounds import convenor_steps, masking, owner_steps, round_plan
from core.releases.rounds.convenor_steps import ask_to_unmask, put_round_together
from core.releases.rounds.masking import Graph, RoundSecrets, add_stream, neighbourhood, put_together
from core.releases.rounds.owner_steps import make_hello, make_share, unmask
from core.releases.rounds.round_messages import OwnerKey, read_message
from core.releases.rounds.round_plan import RoundPlan, ways
from core.runtime import archives
from core.sketches.histogram import Histogram
from core.sketches.race import Race
from core.sketches.tables.chosen import ChosenTables
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, laplace_cdf
from tests.releases.owners_for_tests import CONVENOR, DOMAIN, Owners

WAYS = ("full", "shared", "masked")


def noise_of(release, owners):
    """What is left of the counters without the records, which are the same for all owners."""
    table = owners.plan.sketch.zeros()
    points = DOMAIN.encode_queries(owners.records("any"), owners.plan.sketch.metric)
    owners.plan.sketch.add(table, points)
    return (np.asarray(release.counters) - table * release.combined.shares).reshape(-1)


@pytest.mark.few(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_round_that_says_other_noise_than_it_has(tmp_path, way, delta):
    owners = Owners(tmp_path, way, budget=Budget(1, delta), rows=draws(20, 300))
    release = owners.sum(owners.shares())
    spread = float(np.mean(noise_of(release, owners) ** 2)) / release.privacy.counter_variance
    assert 0.4 < spread < 2.2  # 256 counters: a share of 1e-8 of rounds is beyond either
    release.save(tmp_path / "round.npz")
    assert load(tmp_path / "round.npz") == release
    assert release.combined.shares == 4
    times = 4 if way == "full" else 1
    assert release.privacy.counter_variance == pytest.approx(times * owners.plan.planned.noises[0].variance)


@pytest.mark.thorough
def test_ten_owners_whose_sum_is_not_that_of_one_trusted_owner(tmp_path):
    owners = Owners(tmp_path, "masked", 10, rows=draws(100, 2_000))
    noise = noise_of(owners.sum(owners.shares()), owners)
    assert fit_p_value(noise, lambda z: laplace_cdf(z, float(draws(100, 2_000))), cells=draws(20, 200)) > FALSE_ALARM


def test_fewer_honest_owners_who_need_more_noise_each(tmp_path):
    owners = Owners(tmp_path, "shared", 5, said={"honest": 4, "least": 5})
    (noise,) = owners.sum(owners.shares()).privacy.noise
    assert noise.draws == Fraction(5, 4)
    assert owners.plan.variance_factor == 1.25


@pytest.mark.parametrize("way", WAYS)
def test_a_share_of_somebody_else(tmp_path, way):
    owners, others = Owners(tmp_path, way), OwnerKey(bytes([99]) * 32)
    with pytest.raises(RequestError, match="of none of its owners"):
        make_share(owners.plan, owners.records("x"), others, ledger=owners.ledger("x"), dataset="people")
    shares = owners.shares()
    message = read_message(shares["owner 0"], owners.plan.digest, owners.plan.owners)
    forged = others.message("share", owners.plan.digest, "owner 0", message.facts, message.content)
    unknown = others.message("share", owners.plan.digest, "nobody", message.facts, message.content)
    with pytest.raises(RequestError, match="'owner 0' does not have the signature"):
        put_round_together(owners.plan, [*owners.hellos.values(), *(shares | {"owner 0": forged}).values()], CONVENOR)
    with pytest.raises(RequestError, match="'nobody', who is no owner"):
        put_round_together(owners.plan, [*owners.hellos.values(), *shares.values(), unknown], CONVENOR)


@pytest.mark.parametrize("way", WAYS)
def test_missing_doubled_late_and_altered_shares_are_refused_by_name(tmp_path, monkeypatch, way):
    owners = Owners(tmp_path, way, said={"closes": "2999-01-01T00:00:00+00:00"})
    shares = owners.shares()
    hellos = list(owners.hellos.values())

    def together(messages):
        return put_round_together(owners.plan, [*hellos, *messages], CONVENOR)

    with pytest.raises(RequestError, match="there is none of 'owner 2'"):
        together([share for name, share in shares.items() if name != "owner 2"])
    with pytest.raises(RequestError, match="two of these: the share of the owner 'owner 1'"):
        together([*shares.values(), shares["owner 1"]])
    altered = bytearray(shares["owner 3"])
    altered[-70] ^= 1
    with pytest.raises(RequestError, match="'owner 3' does not have the signature"):
        together([*list(shares.values())[:3], bytes(altered)])
    with pytest.raises(RequestError, match="cut short"):
        together([*list(shares.values())[:3], shares["owner 3"][:100]])
    message = read_message(shares["owner 3"], owners.plan.digest, owners.plan.owners)
    monkeypatch.setattr(owner_steps.environment, "utc", lambda: round_plan._moment("2999-02-01T00:00:00+00:00"))
    late = owners.keys["owner 3"].message("share", owners.plan.digest, "owner 3", message.facts, message.content)
    with pytest.raises(RequestError, match="'owner 3' was made after the round had closed"):
        together([*list(shares.values())[:3], late])
    with pytest.raises(RequestError, match="later are not taken"):
        owners.share("owner 0", ledger=str(tmp_path / "another"))


@pytest.mark.few(1)
@pytest.mark.parametrize("way", WAYS)
def test_a_share_that_counts_in_another_round(tmp_path, way):
    one, two = (Owners(tmp_path / str(place), way) for place in range(2))
    for owners in (one, two):
        owners.folder.mkdir()
    assert one.plan.digest != two.plan.digest
    shares, stranger = one.shares(), two.share("owner 0")
    with pytest.raises(RequestError, match="'owner 0' was made for another round"):
        put_round_together(one.plan, [*one.hellos.values(), stranger, *list(shares.values())[1:]], CONVENOR)
    content = read_message(stranger, two.plan.digest, two.plan.owners).content
    signed_again = one.keys["owner 0"].message("share", one.plan.digest, "owner 0", {"heard": ""}, content)
    if way == "full":  # which is safe by itself, wherever it is counted
        return
    with pytest.raises(RequestError, match=r"other hellos|does not hold"):
        put_round_together(one.plan, [*one.hellos.values(), signed_again, *list(shares.values())[1:]], CONVENOR)


def test_masks_that_are_the_same_in_two_rounds(tmp_path):
    secrets = [
        RoundSecrets(owners.plan, owners.keys["owner 0"], "owner 0") for owners in (Owners(tmp_path), Owners(tmp_path))
    ]
    assert len({one.mask_key for one in secrets} | {one.own_mask for one in secrets}) == 4


def test_a_masked_share_is_uniform_and_a_shared_one_encrypted(tmp_path):
    for name, way in (("owner 0", "shared"), ("owner 1", "masked")):
        owners = Owners(tmp_path, way, rows=100)
        content = read_message(owners.share(name), owners.plan.digest, owners.plan.owners).content
        ones = np.unpackbits(np.frombuffer(content, np.uint8)).sum()
        bits = 8 * len(content)
        assert abs(ones - bits / 2) < 6 * math.sqrt(bits) / 2
        numbers = np.sort(np.frombuffer(content[: len(content) // 4 * 4], "<u4"))
        size = len(numbers)
        assert np.max(np.abs(numbers / 2**32 - np.linspace(0, 1, size))) < 3.5 / math.sqrt(size) + 1 / size


@pytest.mark.thorough
def test_two_owners_gone_whose_masks_stay_in_the_sum(tmp_path):
    owners = Owners(tmp_path, count=7, said={"least": 5, "honest": 5})
    release = owners.sum(owners.shares("owner 2", "owner 5"), "owner 2", "owner 5")
    assert release.combined.shares == 5
    assert np.max(np.abs(noise_of(release, owners))) < 200


@pytest.mark.thorough
def test_a_mask_of_somebody_gone_that_is_not_removed(tmp_path, monkeypatch):
    owners = Owners(tmp_path, count=7, said={"least": 6, "honest": 6})
    shares = owners.shares("owner 2")
    monkeypatch.setattr(convenor_steps, "pair_secret", lambda plan, secret, public: bytes(32))
    with pytest.raises(RequestError, match="a mask was not removed"):
        owners.sum(shares, "owner 2")


@pytest.mark.thorough
def test_an_owner_who_answers_two_requests(tmp_path):
    owners = Owners(tmp_path, count=7, said={"least": 5, "honest": 5})
    shares, hellos = owners.shares(), list(owners.hellos.values())
    asked = [
        ask_to_unmask(owners.plan, [*hellos, *(share for name, share in shares.items() if name != left)])
        for left in ("owner 1", "owner 2")
    ]
    key, ledger = owners.keys["owner 0"], owners.ledger("owner 0")
    first = unmask(owners.plan, key, asked[0], hellos, ledger=ledger)
    assert unmask(owners.plan, key, asked[0], hellos, ledger=ledger) == first
    with pytest.raises(RequestError, match="has answered another request"):
        unmask(owners.plan, key, asked[1], hellos, ledger=ledger)
    few = archives.loads(asked[0])
    few["came"] = few["came"][:3]
    with pytest.raises(RequestError, match="at least 5"):
        unmask(owners.plan, owners.keys["owner 3"], archives.dumps(few), hellos, ledger=owners.ledger("owner 3"))


def test_fewer_parts_than_the_threshold_that_give_a_secret():
    secret, seed = bytes(range(32)), bytes(32)
    polynomial = masking._polynomial(secret, 4, seed)
    parts = {at: f"{masking._value(polynomial, at):x}" for at in range(1, 8)}
    assert put_together(parts, 4) == secret
    assert put_together(dict(list(parts.items())[3:]), 4) == secret
    assert put_together(dict(list(parts.items())[:3]), 4) is None
    assert put_together(parts | {2: "ff"}, 4) != secret


def test_a_range_that_no_honest_owner_reaches(tmp_path):
    owners = Owners(tmp_path, "full")
    shares = owners.shares()
    numbers = np.full(owners.plan.length, 10**6, "<i8").tobytes()
    shares["owner 1"] = owners.keys["owner 1"].message("share", owners.plan.digest, "owner 1", {"heard": ""}, numbers)
    with pytest.raises(RequestError, match="The share of the owner 'owner 1' has counters beyond"):
        put_round_together(owners.plan, shares.values())


def test_a_modulus_that_the_sum_may_not_fit(tmp_path):
    plan = Owners(tmp_path).plan
    assert plan.bits == 32
    assert Owners(tmp_path, said={"records": 1 << 30}).plan.bits == 64
    small = plan.to_dict() | {"bits": 16}
    with pytest.raises(RequestError, match="32 bits are what this sum fits into"):
        RoundPlan.of_text(archives.dumps(small))


def test_more_records_than_the_plan_says_wrap_no_counter(tmp_path):
    """Counters beyond the limit are moved to it, which no refusal tells anybody of."""
    owners = Owners(tmp_path, said={"records": 10})
    owners.records = lambda name: {"x": np.full(5_000, 0.5)}
    release = owners.sum(owners.shares())
    assert np.asarray(release.counters).max() < 40 + 200


def test_a_budget_that_is_spent_twice_for_one_share(tmp_path):
    owners = Owners(tmp_path)
    Ledger(owners.ledger("owner 0")).register("owner 0", 1)
    first = owners.share("owner 0")
    assert owners.share("owner 0") == first  # once more is the same share
    assert len(Ledger(owners.ledger("owner 0")).entries("owner 0")) == 1
    again = Owners(tmp_path)
    with pytest.raises(BudgetError):
        again.share("owner 0")


STEPS = ("_write_begun", "paid_for", "_noisy", "_written", "_keep", "the end")


@pytest.mark.few(2)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_that_costs_a_budget_or_shows_a_second_draw(tmp_path, monkeypatch, step, before):
    """As after kill -9: nothing is tidied up, and the same call is made again."""
    owners = Owners(tmp_path, "masked")

    class Killed(BaseException):
        pass

    def killed(*args, **more):
        if not before:
            really(*args, **more)
        raise Killed

    with monkeypatch.context() as patched:
        if step == "the end":
            really = type(tmp_path).unlink
            patched.setattr(type(tmp_path), "unlink", killed)
        else:
            really = getattr(owner_steps, step)
            patched.setattr(owner_steps, step, killed)
        with pytest.raises(Killed):
            owners.share("owner 0")
    kept = [path for path in tmp_path.rglob("*.share")]
    left = kept[0].read_bytes() if kept else None
    share = owners.share("owner 0")
    assert left in (None, share)
    assert len(Ledger(owners.ledger("owner 0")).entries("owner 0")) == 1
    assert owners.share("owner 0") == share
    owners.sum(owners.shares())
    table = owners.plan.sketch.zeros()
    owners.plan.sketch.add(table, DOMAIN.encode_queries(owners.records("any"), owners.plan.sketch.metric))
    needle = table[0].astype("<i8").tobytes()
    assert not any(needle in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_an_answer_between_a_crash_and_the_next_try_took_a_paid_share_away(tmp_path, monkeypatch):
    owners = Owners(tmp_path, said={"least": 3, "honest": 3})

    def killed(*args, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner_steps, "_noisy", killed)
        with pytest.raises(KeyboardInterrupt):
            owners.share("owner 0")
    messages = [*owners.hellos.values(), *owners.shares("owner 0").values()]
    assert len(owners.answers(messages)) == 4
    assert owners.share("owner 0") == owners.share("owner 0")
    assert len(Ledger(owners.ledger("owner 0")).entries("owner 0")) == 1


def test_a_share_that_was_taken_away_is_not_drawn_again(tmp_path):
    owners = Owners(tmp_path)
    owners.share("owner 0")
    (kept,) = tmp_path.rglob("*.share")
    kept.unlink()
    with pytest.raises(RequestError, match="has been taken away"):
        owners.share("owner 0")


def test_a_share_that_was_handed_out_after_a_crash_and_taken_away_is_drawn_again(tmp_path, monkeypatch):
    owners, keep = Owners(tmp_path), owner_steps._keep

    def killed(*args):
        keep(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(owner_steps, "_keep", killed)
        owners.share("owner 0")
    ledger = Ledger(owners.ledger("owner 0"))
    assert owner_steps.kept_share(owners.plan, owners.keys["owner 0"], ledger)
    (kept,) = tmp_path.rglob("*.share")
    kept.unlink()
    with pytest.raises(RequestError, match="has been taken away"):
        owners.share("owner 0")


def test_mechanisms_whose_noise_is_no_sum_of_parts(tmp_path):
    publics = {name: key.public for name, key in Owners(tmp_path).keys.items()}
    three = Domain.of(x=(0, 8), y=(0, 8), z=(0, 8))
    with pytest.raises(RequestError, match="chooses what it measures"):
        RoundPlan.of(ChosenTables(three), Budget(1), publics)


def test_too_few_honest_owners_for_masks(tmp_path):
    with pytest.raises(RequestError, match="together must be at least 6"):
        Owners(tmp_path, said={"least": 2, "honest": 2})


def test_gaussian_parts_that_follow_other_releases(tmp_path):
    """A total with room for two takes the second, whose parts may fail with less than the margin of all bounds."""
    owners, again = (Owners(tmp_path, "shared", budget=Budget("0.5", "1e-7")) for _ in range(2))
    Ledger(owners.ledger("owner 0")).register("owner 0", 5, "1e-5")
    owners.share("owner 0")
    again.share("owner 0")
    assert len(Ledger(owners.ledger("owner 0")).entries("owner 0")) == 2


def test_forecasts_of_the_three_ways():
    sketch = Race(DOMAIN, kernels.Euclidean(bandwidth=2), rows=20, width=8, seed=1)
    full, shared, masked = ways(sketch, Budget(1), 9, 4, records=1_000)
    assert (full.times, shared.times, masked.times) == (3.0, 1.5, 1.5)
    assert full.error > shared.error == masked.error


def test_the_sparse_graph_is_connected_and_each_owner_has_as_many_neighbours(tmp_path):
    degree, threshold = neighbourhood(1_000, 800, 900)
    assert 30 < degree < 120
    assert threshold < degree
    names = tuple(f"owner {place}" for place in range(1_000))
    graph = Graph(names, degree, threshold)
    for name in names[:30]:
        mine = graph.neighbours(name)
        assert len(set(mine)) == degree
        assert all(name in graph.neighbours(other) for other in mine)
    assert neighbourhood(99, 99, 99) == (98, 98)


@pytest.mark.thorough
def test_a_sparse_round_whose_masks_cancel(tmp_path, monkeypatch):
    monkeypatch.setattr(masking, "SPARSE", 10)
    neighbourhood.cache_clear()
    owners = Owners(tmp_path, count=12, said={"honest": 12, "least": 12})
    assert Graph.of(owners.plan).degree == 8
    assert np.max(np.abs(noise_of(owners.sum(owners.shares()), owners))) < 200
    neighbourhood.cache_clear()


def test_key_streams_are_added_and_taken_away():
    numbers = np.arange(200_000, dtype="<u4")
    add_stream(numbers, bytes(32), 1)
    assert not np.array_equal(numbers, np.arange(200_000))
    add_stream(numbers, bytes(32), -1)
    assert np.array_equal(numbers, np.arange(200_000))


def test_a_histogram_in_parts_whose_scale_is_large(tmp_path):
    sketch = Histogram(DOMAIN, kernels.Gaussian(bandwidth=2), cells=(16,))
    owners = Owners(tmp_path, "masked", sketch=sketch, said={"records": None})
    assert owners.plan.bits == 64
    release = owners.sum(owners.shares())
    assert release.records == pytest.approx(1_600, abs=200)


def test_keys_are_read_back_and_never_replaced(tmp_path):
    key = OwnerKey.new()
    public = key.save(tmp_path / "a.key")
    assert OwnerKey.load(tmp_path / "a.key") == key
    assert type(key.public).load(public) == key.public
    assert (tmp_path / "a.key").stat().st_mode & 0o077 == 0
    with pytest.raises(RequestError, match="not replaced"):
        key.save(tmp_path / "a.key")
    with pytest.raises(RequestError, match="no key of an owner"):
        OwnerKey.load(public)


def test_a_hello_is_the_same_after_a_crash(tmp_path):
    owners = Owners(tmp_path)
    one, two = (
        read_message(make_hello(owners.plan, owners.keys["owner 0"]), owners.plan.digest, owners.plan.owners)
        for _ in range(2)
    )
    assert one.facts == two.facts


@pytest.mark.parametrize("way", ["full", "masked"])
def test_a_round_whose_plan_says_no_number_of_records_takes_64_bits_and_adds_up(tmp_path, way):
    owners = Owners(tmp_path, way, 3, said={"records": None})
    assert owners.plan.bits == 64 and "at most" not in " ".join(owners.plan.describe())
    assert abs(owners.sum(owners.shares()).records - 3 * 400) < 400


TWICE = {"came": ["owner 0", "owner 0", "owner 1", "owner 2"]}
CHANGES = [({"came": 3}, "at least 4"), ({"heard": "f" * 64}, "other hellos"), (TWICE, "names shares twice")]


@pytest.mark.parametrize(("change", "word"), CHANGES)
def test_a_request_of_too_few_shares_or_of_other_hellos_is_answered(tmp_path, change, word):
    """A convenor that opens a sum of fewer than the plan says sees it under less noise than was promised."""
    owners = Owners(tmp_path, said={"honest": 2, "least": 4})
    asked = archives.loads(ask_to_unmask(owners.plan, [*owners.hellos.values(), *owners.shares().values()]))
    facts = asked | ({"came": asked["came"][: change["came"]]} if change.get("came") == 3 else change)
    with pytest.raises(RequestError, match=word):
        unmask(
            owners.plan,
            owners.keys["owner 0"],
            archives.dumps(facts),
            owners.hellos.values(),
            ledger=owners.ledger("owner 0"),
        )


def test_masks_of_four_owners_of_whom_three_suffice_though_two_may_tell(tmp_path):
    with pytest.raises(RequestError, match="must be at least 6"):
        Owners(tmp_path, said={"honest": 2, "least": 3})


def test_owners_draw_parts_of_as_many_as_are_honest_and_keep_no_exact_sum(tmp_path, monkeypatch):
    """Of as many as must come the honest ones alone had half of the noise that was paid for."""
    owners, parts = Owners(tmp_path, said={"honest": 2, "least": 4}), []
    add = owner_steps.add_part
    monkeypatch.setattr(owner_steps, "add_part", lambda *of: parts.append(of[2]) or add(*of))
    exact = owner_steps.exact_of(owners.plan, owners.records("owner 1"), lambda rows: None)
    table = exact.table
    assert table.any()
    hellos = owners.hellos.values()
    make_share(owners.plan, exact, owners.keys["owner 1"], ledger=owners.ledger("owner 1"), dataset="d", hellos=hellos)
    assert set(parts) == {2} and not table.any()


def test_what_gaussian_parts_may_be_unlike_is_paid_for(tmp_path):
    """Their sum is near the noise that was planned, and fails to be it with a probability that is in the price."""
    plan = Owners(tmp_path, budget=Budget(1, "1e-6"), rows=64).plan
    failures = [event for event in plan.cost.events if isinstance(event, Failure)]
    assert plan.planned.noises[0].distribution == "discrete_gaussian" and len(failures) == 1
    assert plan.cost.delta > 0 == len([event for event in plan.planned.cost.events if isinstance(event, Failure)])


def test_what_a_neighbour_holds_of_one_secret_says_nothing_of_the_other(tmp_path):
    """Two polynomials alike but for their secrets would show, to each neighbour, the difference of the two."""
    owners = Owners(tmp_path)
    mine = RoundSecrets(owners.plan, owners.keys["owner 0"], "owner 0")
    apart = (int.from_bytes(mine.mask_key, "big") - int.from_bytes(mine.own_mask, "big")) % masking.PRIME
    for other, encrypted in mine.parts(Graph.of(owners.plan)).items():
        neighbour = RoundSecrets(owners.plan, owners.keys[other], other)
        held = [int(neighbour.part_of("owner 0", encrypted.hex(), came), 16) for came in (False, True)]
        assert (held[0] - held[1]) % masking.PRIME != apart


PARTIES = [(100, 90, 95), (150, 130, 145), (200, 200, 200), (300, 288, 288), (1_000, 800, 900), (1_000, 900, 1_000)]


@pytest.mark.parametrize(("owners", "honest", "least"), PARTIES)
def test_a_sparse_graph_keeps_what_it_says_of_chances(owners, honest, least):
    """Where shares may miss, a convenor who told two stories had both secrets of an owner, from 100 owners on."""
    degree, threshold = neighbourhood(owners, honest, least)
    dishonest, late = (hypergeom(owners - 1, many, degree) for many in (least - honest, owners - least))
    assert degree < owners - 1 and degree // 2 < threshold < degree
    assert owners * dishonest.sf(threshold - 1) <= 2.0**-40
    if least < owners:
        assert owners * dishonest.sf(2 * threshold - degree - 1) <= 2.0**-40
        assert owners * dishonest.sf(2 * (threshold - 1) - degree - 1) > 2.0**-40 or threshold == degree // 2 + 1
        assert owners * late.sf(degree - threshold) <= 2.0**-20
    missing, row = owners - honest, degree // 2
    assert owners * math.comb(missing, row) / math.comb(owners, row) <= 2.0**-40


@pytest.mark.thorough
def test_a_convenor_who_tells_two_stories_has_both_secrets_of_nobody(tmp_path, monkeypatch):
    """Half of the neighbours hear that a share came and half that it did not, and each tells one of its two parts."""
    monkeypatch.setattr(masking, "SPARSE", 10)
    neighbourhood.cache_clear()
    owners = Owners(tmp_path, count=24, said={"honest": 22, "least": 22})
    graph, hellos = Graph.of(owners.plan), list(owners.hellos.values())
    victim, *others = graph.order
    neighbours, told = graph.neighbours(victim), {True: 0, False: 0}
    for place, name in enumerate(neighbours):
        came = place % 2 == 0
        names = sorted([*others[: 24 - 2], *([victim] if came else [])])
        facts = {"format": owner_steps.REQUEST, "round": owners.plan.digest, "came": names}
        facts["heard"] = owner_steps.Hellos.read(owners.plan, hellos).digest
        answer = unmask(owners.plan, owners.keys[name], archives.dumps(facts), hellos, ledger=owners.ledger(name))
        parts = read_message(answer, owners.plan.digest, owners.plan.owners).facts["parts"]
        told[came] += victim in parts
    neighbourhood.cache_clear()
    assert sum(told.values()) == len(neighbours) and min(told.values()) < graph.threshold


@pytest.mark.parametrize("beyond", [10**9, -(10**9)])
def test_a_share_with_counters_beyond_what_owners_can_have_is_refused_on_either_side(tmp_path, beyond):
    owners = Owners(tmp_path, "full")
    shares = owners.shares()
    message = read_message(shares["owner 0"], owners.plan.digest, owners.plan.owners)
    numbers = np.frombuffer(message.content, "<i8").copy()
    numbers[0] = beyond
    odd = owners.keys["owner 0"].message("share", owners.plan.digest, "owner 0", message.facts, numbers.tobytes())
    with pytest.raises(RequestError, match="beyond what the plan allows"):
        put_round_together(owners.plan, [odd, *list(shares.values())[1:]], CONVENOR)


@pytest.mark.parametrize("change", [{"mask_key": "00"}, {"own_mask": "00"}, {"own_mask": "x"}, {"parts": []}])
def test_a_hello_whose_secrets_have_another_length_makes_no_sense(tmp_path, change):
    owners = Owners(tmp_path)
    message = read_message(owners.hellos["owner 0"], owners.plan.digest, owners.plan.owners)
    odd = owners.keys["owner 0"].message("hello", owners.plan.digest, "owner 0", message.facts | change)
    with pytest.raises(RequestError, match=r"'owner 0'.* makes no sense"):
        owner_steps.Hellos.read(owners.plan, [odd, *list(owners.hellos.values())[1:]])


def test_a_message_of_no_time_at_all_came_too_late_for_a_round_that_closes(tmp_path):
    owners = Owners(tmp_path, said={"closes": "2026-03-01T12:00:00+01:00"})
    late = {"2026-03-01T11:00:00+00:00": False, "2026-03-01T11:00:01+00:00": True, "soon": True, "": True}
    assert {moment: owners.plan.is_late(moment) for moment in late} == late
    assert not Owners(tmp_path).plan.is_late("soon")
