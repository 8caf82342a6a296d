"""`combine`: several owners make one release together, and nobody shows anybody anything.

Each step writes one file, which travels by whatever way people have. What is secret stays in the folder of whoever made
it; all else may be read by anyone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import RequestError
from . import notation
from .declaring import FileOptions, declared_sketch, paid_for_columns
from .output import check_there, check_writable, content_of, reading, say, write_file
from .shared_options import CommandGroup, DataOptions, GuessOptions, LedgerOptions, PromiseOptions
from .sketch_options import SketchOptions
from .spending import check_source_there

if TYPE_CHECKING:
    from ..releases.engine.building import ExactTable
    from ..releases.rounds.round_messages import OwnerKey
    from ..releases.rounds.round_plan import RoundPlan

MOST_BYTES = 1 << 33  # Of one message: more than 10^9 counters of 64 bits.

commands = CommandGroup(help="Make one release of several owners' records, which none of them shows to anybody.")
PlanArgument = Annotated[Path, Argument(metavar="PLAN", help="The plan of the round.", callback=check_there)]
KeyOption = Annotated[Path, Option("--key", metavar="FILE", help="Your key, as 'combine key' wrote it.")]
OutOption = Annotated[Path, Option(metavar="FILE", help="The file to write.")]
MessagesArgument = Annotated[
    list[Path], Argument(metavar="FILES", help="Messages of the round, in any order; what is not needed is left alone.")
]


@commands.command()
def key(
    out: Annotated[Path, Option(metavar="FILE", help="Your key, such as north.key; north.pub is for others.")],
) -> None:
    """Make the key by which others know what is yours; its public half is exchanged once, for all rounds."""
    from ..releases.rounds.round_messages import OwnerKey

    new = OwnerKey.new()
    say(
        f"{out} is yours alone, and {new.save(out)} is for the others: hand it over in person, or compare by telephone "
        f"that they got {new.public.fingerprint}."
    )


@commands.command()
def plan(
    out: OutOption,
    owners: Annotated[str, Option(metavar="A,B,C", help="Who takes part, by names whose public keys are A.pub, ….")],
    promise: PromiseOptions,
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    keys: Annotated[Path, Option(metavar="FOLDER", help="Where public keys are.")] = Path(),
    noise: Annotated[
        str,
        Option(
            metavar="full|shared|masked",
            help="Everyone adds all of it, and nobody is trusted; or a part, for a convenor who is; or a part under "
            "masks, where nobody sees anything but the sum.",
        ),
    ] = "masked",
    honest: Annotated[int | None, Option(metavar="T", help="How many honest owners suffice; without it, all.")] = None,
    least: Annotated[int | None, Option(metavar="M", help="How many shares must come; without it, all.")] = None,
    closes: Annotated[str, Option(metavar="TIME", help="Later shares are not taken: 2026-03-01T12:00:00+01:00.")] = "",
    convenor: Annotated[
        Path | None, Option(metavar="FILE", help="The public key that shares are encrypted for, with --noise shared.")
    ] = None,
) -> None:
    """Write down what everybody agrees on: columns, mechanism, promise, who takes part. No record is read.

    `--records` says how many each owner has at most.
    """
    from ..releases.found import refuse_paid_for
    from ..releases.rounds.round_messages import PublicKey
    from ..releases.rounds.round_plan import RoundPlan

    _check_new(out)
    refuse_paid_for(paid_for_columns(data)[0], "a round")
    public = {name: PublicKey.load(keys / f"{name}.pub") for name in notation.parse_names(owners)}
    budget = promise.budget()
    sketch = declared_sketch(data, shape, budget, guess)
    made = RoundPlan.of(
        sketch,
        budget,
        public,
        noise,
        honest=honest,
        least=least,
        records=None if guess.records is None else int(guess.records),
        closes=closes,
        convenor=None if convenor is None else PublicKey.load(convenor),
    )
    made.save(out)
    _tell(made)


@commands.command()
def show(plan: PlanArgument) -> None:
    """Say in plain words what a plan asks of an owner, and its fingerprint, to be compared by telephone."""
    for sentence in _plan(plan).describe():
        print(sentence)


@commands.command()
def hello(plan: PlanArgument, key: KeyOption, out: OutOption, payer: LedgerOptions) -> None:
    """Begin a masked round: a public mask key, and what the others need if your share should never come.

    It is made once, and the same file if asked again: shares made with different ones do not add up.
    """
    from ..releases.rounds.owner_steps import kept_hello

    check_writable(out)
    _write(out, kept_hello(_plan(plan), _key(key), payer.open()))


@commands.command()
def share(
    plan: PlanArgument,
    source: Annotated[str, Argument(metavar="SOURCE", help="Your records.", callback=check_source_there)],
    key: KeyOption,
    out: OutOption,
    payer: LedgerOptions,
    file: FileOptions,
    name: Annotated[str | None, Option("--as", metavar="NAME", help="Your name in the plan, to be sure.")] = None,
    dataset: Annotated[
        str | None, Option(metavar="NAME", help="Who pays in your ledger; without it, your name.")
    ] = None,
    heard: Annotated[
        list[Path] | None, Option("--hello", metavar="FILE", help="Everybody's hellos, your own too; repeat it.")
    ] = None,
) -> None:
    """Pay from your own ledger, and make your share of the round; once, and the same file if asked again."""
    from ..releases.rounds.owner_steps import make_share, my_name, payer_of_round

    check_writable(out, True)
    agreed, mine = _plan(plan), _key(key)
    whose = my_name(agreed, mine, name)
    opened = file.open(source)
    account = payer_of_round(agreed, payer.open(), dataset or whose)
    with reading("Reading records", opened.rows_total(), 0) as progress:
        made = make_share(
            agreed,
            opened,
            mine,
            dataset=account.dataset,
            hellos=_contents(heard or ()),
            progress=progress,
            account=account,
        )
    _write(out, made)
    say(f"The ledger's data set {account.dataset!r} has paid {agreed.cost.describe()} for the share of {whose!r}.")


@commands.command()
def unmask(
    plan: PlanArgument,
    request: Annotated[Path, Argument(metavar="REQUEST", help="What 'combine sum' asked.", callback=check_there)],
    hellos: MessagesArgument,
    key: KeyOption,
    out: OutOption,
    ledger: Annotated[
        str | None, Option(envvar="FROSTGLASS_LEDGER", help="Your ledger, beside which it is kept.")
    ] = None,
) -> None:
    """Help to take the masks off the sum, once all shares are in; one answer a round, and never another."""
    from ..releases.rounds.owner_steps import unmask as answer

    check_writable(out, True)
    asked = request.read_text(encoding="utf-8")
    _write(out, answer(_plan(plan), _key(key), asked, _contents(hellos), ledger=ledger))


@commands.command("sum")
def add_up(
    plan: PlanArgument,
    messages: MessagesArgument,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="The release file; without it a request to unmask is written.")
    ] = None,
    key: Annotated[
        Path | None, Option("--key", metavar="FILE", help="The convenor's key, where shares are encrypted for it.")
    ] = None,
    request: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write the request to unmask instead, which goes to everyone whose share came."),
    ] = None,
) -> None:
    """Put the shares together: into a release, or, of a masked round, first into a request to take masks off."""
    from ..releases.rounds.convenor_steps import ask_to_unmask, put_round_together

    place = out or request
    if place is None or (out is not None and request is not None):
        raise RequestError("Say --out for the release, or --request for the request to unmask a masked round.")
    _check_new(place)
    agreed = _plan(plan)
    contents = list(_contents(messages))
    if out is None:
        _write(place, ask_to_unmask(agreed, contents).encode())
        return
    made = put_round_together(agreed, contents, None if key is None else _key(key))
    made.save(out)
    if made.combined is not None:
        say(f"Wrote {out}. {made.combined.sentence}")


@commands.command()
def serve(
    plan: PlanArgument,
    folder: Annotated[Path, Option(metavar="FOLDER", help="Where messages, invitations and the release are kept.")],
    url: Annotated[str, Option(help="Where owners call; without it, this computer alone.")] = "",
    address: Annotated[str, Option(help="Where it listens.")] = "127.0.0.1",
    port: Annotated[int, Option(min=1, max=65_535, help="Where it listens.")] = 8443,
    certificate: Annotated[
        Path | None, Option(metavar="PEM", help="For TLS; without it one is made, and stands in the invitations.")
    ] = None,
    certificate_key: Annotated[Path | None, Option(metavar="PEM", help="The certificate's secret key.")] = None,
    key: Annotated[Path | None, Option("--key", metavar="FILE", help="Of the convenor, with --noise shared.")] = None,
    wait: Annotated[
        float, Option(min=0, metavar="SECONDS", help="How long others are waited for once enough messages are there.")
    ] = 3_600.0,
    invite: Annotated[bool, Option("--invite", help="Only write the invitations.")] = False,
) -> None:
    """Coordinate a round over HTTPS: what owners send is kept in FOLDER, as files of a round. Ctrl-C ends it.

    Started again it goes on. Each owner gets the plan, and from FOLDER the one invitation with its name.
    """
    from ..releases.rounds import live
    from ..releases.rounds.coordinator import RELEASE, Coordinator
    from ..runtime.environment import check_extra
    from ..runtime.transient import held

    for package in ("starlette", "uvicorn"):
        check_extra(package, *live.LIVE)
    if (certificate is None) != (certificate_key is None):
        raise RequestError("A certificate needs its key: say both --certificate and --certificate-key, or neither.")
    agreed, mine = _plan(plan), None if key is None else _key(key)
    place = url or f"https://{address}:{port}"
    if not live.Invitation(place, "").host:
        raise RequestError(f"Owners call an address like https://combine.example.org:8443, which {place!r} is not.")
    secret, written = live.invite(agreed, folder, place, certificate is None)
    say(f"Invitations: {written[0]} to {written[-1]}, each for its owner alone, as it has a token.")
    if invite:
        return
    with held(folder / "serving") as alone:
        if not alone:
            raise RequestError(f"Another process serves the folder {str(folder)!r} already.")
        say(f"Owners call {place}; the release will be {folder / RELEASE} (Ctrl-C ends it).")
        coordinator = Coordinator(agreed, folder, wait, mine)
        tls = (certificate or folder / "tls.pem", certificate_key or folder / "tls.key")
        live.serve(coordinator, secret, address, port, *tls)
        say(coordinator.problem or f"The round stands at: {coordinator.stage()}.")


@commands.command()
def join(
    plan: PlanArgument,
    invitation: Annotated[Path, Argument(metavar="INVITATION", help="Yours, from the coordinator.")],
    source: Annotated[str, Argument(metavar="SOURCE", help="Your records.", callback=check_source_there)],
    key: KeyOption,
    out: Annotated[Path, Option(metavar="FILE", help="The release file, once it is there.")],
    payer: LedgerOptions,
    file: FileOptions,
    dataset: Annotated[
        str | None, Option(metavar="NAME", help="Who pays in your ledger; without it, your name.")
    ] = None,
    patience: Annotated[
        float, Option(min=0, metavar="SECONDS", help="How long a coordinator who cannot be reached is tried.")
    ] = 86_400.0,
) -> None:
    """Take part in a round over HTTPS: hello, share and answer, paid once; started again it goes on."""
    from ..releases.rounds import live
    from ..releases.rounds.owner_steps import exact_of, my_name, payer_of_round

    check_writable(out)
    agreed, mine, invited = _plan(plan), _key(key), live.Invitation.load(invitation)
    account = payer_of_round(agreed, payer.open(), dataset or my_name(agreed, mine))

    def read() -> ExactTable:
        opened = file.open(source)
        with reading("Reading records", opened.rows_total(), 0) as progress:
            return exact_of(agreed, opened, progress)

    with invited.client() as client:
        release = live.join(live.Participant(agreed, mine, account, client, read), patience, say)
    release.save(out)
    say(f"Wrote {out}. {release.combined.sentence if release.combined else ''}")


def _plan(path: Path) -> RoundPlan:
    from ..releases.rounds.round_plan import RoundPlan

    return RoundPlan.load(path)


def _key(path: Path) -> OwnerKey:
    from ..releases.rounds.round_messages import OwnerKey

    return OwnerKey.load(path)


def _check_new(path: Path) -> None:
    """Refuse to write over a file: what is in it may be agreed on already."""
    if path.is_file():
        raise RequestError(f"There is a file {str(path)!r} already, which others may have; choose another name.")
    check_writable(path)


def _tell(plan: RoundPlan) -> None:
    for sentence in plan.describe():
        say(sentence)


def _contents(paths: Sequence[Path]) -> Iterator[bytes]:
    """What is in files, each of which anybody may have written."""
    for path in paths:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise RequestError(f"The file {str(path)!r} is too large for a message of a round.")
        yield content_of(path)


def _write(path: Path, content: bytes) -> None:
    write_file(path, lambda file: file.write(content), len(content))
    say(f"Wrote {path}, {len(content):,} bytes.")
