"""`checkpoints`: what stopped releases have left on the disk, and the options of `release` about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..errors import RequestError
from ..words.phrases import count
from .grouped import grouped
from .options.promise import LedgerOptions
from .output import print_json, print_table, say

if TYPE_CHECKING:
    from ..engine.checkpoint import Checkpoint, Checkpoints
    from ..engine.resuming import Keeping
    from ..releases.payment import Payer

STOPPED = "A reading that is stopped"
commands = typer.Typer(
    help="See and remove what releases that were stopped have left on the disk: tables before noise, to go on from."
)


@dataclass(frozen=True)
class CheckpointOptions:
    """Whether a long reading is written down, so that the same command goes on after its process was killed."""

    no_checkpoint: Annotated[
        bool,
        Option(
            "--no-checkpoint",
            help="Keep nothing on the disk. Without this, a reading of more than a minute is written "
            "down beside the ledger, readable by you alone, until the release is saved.",
            rich_help_panel=STOPPED,
        ),
    ] = False
    fresh: Annotated[
        bool,
        Option(
            "--fresh",
            help="Start from the beginning, where the same command was stopped before.",
            rich_help_panel=STOPPED,
        ),
    ] = False

    def keeping(self, payer: Payer, any_seed: bool) -> Keeping | None:
        """What is asked of checkpoints of a release that a data set pays for; None when there are to be none."""
        from ..engine.checkpoint import Checkpoints
        from ..engine.resuming import Keeping, times_paid

        if self.no_checkpoint:
            return None
        return Keeping(
            Checkpoints.beside(payer.ledger.where),
            {"ledger": payer.ledger.where, "dataset": payer.dataset},
            lambda sketch: times_paid(payer.ledger, payer.dataset, sketch),
            any_seed=any_seed,
            fresh=self.fresh,
        )


@commands.command("list")
@grouped
def list_checkpoints(payer: LedgerOptions, json: Annotated[bool, Option("--json", help="Print JSON.")] = False) -> None:
    """List what stopped releases have left."""
    found = _folder(payer).all()
    if json:
        print_json([{"name": name} | ({} if kept is None else _facts(kept)) for name, kept in found])
    elif not found:
        say("There are no checkpoints.")
    else:
        heads = ("checkpoint", "data set", "mechanism", "rows read", "written (UTC)")
        print_table(heads, [(name, *_cells(kept)) for name, kept in found])


@commands.command()
@grouped
def remove(
    payer: LedgerOptions,
    names: Annotated[
        list[str] | None,
        Argument(
            metavar="[CHECKPOINT]...",
            help="Names that 'checkpoints list' shows; without one, all of them.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Remove what stopped releases have left; they start from the beginning then."""
    folder = _folder(payer)
    known = [name for name, _ in folder.all()]
    for name in names or ():
        if name not in known:
            raise RequestError(f"There is no checkpoint {name!r} in {str(folder.folder)!r}.")
    chosen = known if names is None else names
    for name in chosen:
        folder.remove(name)
    say(f"Removed {count(len(chosen), 'checkpoint')}.")


def _folder(payer: LedgerOptions) -> Checkpoints:
    from ..engine.checkpoint import Checkpoints

    return Checkpoints.beside(payer.open().where)


def _facts(kept: Checkpoint) -> dict[str, object]:
    return {
        "dataset": kept.identity.get("payer", {}).get("dataset"),
        "mechanism": kept.identity.get("mechanism"),
        "files": kept.identity.get("files"),
        "rows": kept.rows,
        "written": kept.written,
    }


def _cells(kept: Checkpoint | None) -> tuple[str, ...]:
    if kept is None:
        return ("damaged", "", "", "")
    facts = _facts(kept)
    return str(facts["dataset"]), str(facts["mechanism"]), f"{kept.rows:,}", kept.written[:16].replace("T", " ")
