"""`train`: a model that predicts a column, trained once under a promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import RequestError
from .declaring import declared_domain
from .grouped import grouped
from .options.data import DataOptions
from .options.panels import PAYER
from .options.promise import LedgerOptions, PromiseOptions
from .output import check_writable, say
from .payment import billed, dataset_name

if TYPE_CHECKING:
    from ..domain import Domain
    from ..models.training import Trainer
    from ..privacy.budget import Budget


@grouped
def train(
    source: Annotated[
        str, Argument(metavar="SOURCE", help="Private records, as those of `release`.", show_default=False)
    ],
    target: Annotated[
        str,
        Option(metavar="COLUMN", help="The column to predict: of categories, numbers or dates.", show_default=False),
    ],
    out: Annotated[
        Path,
        Option(
            metavar="FILE",
            help="The model file to write, JSON; with --method choose, .npz or .json after what was chosen.",
            show_default=False,
        ),
    ],
    promise: PromiseOptions,
    data: DataOptions,
    books: LedgerOptions,
    method: Annotated[
        str,
        Option(
            help="For categories: objective and frank-wolfe (pure epsilon too), descent, newton, svm, sgd (of replaced "
            "records), dp-sgd, amp and tuned-amp (each alone in its ledger); for numbers and dates: products (pure "
            "epsilon too), descent, boosted, poisson (of counts); or auto: the best of these beside which others can "
            "be released. For categories also choose: whatever predicts best on records held out, of kernel sums, "
            "nearest means and a linear model, as far as the budget pays for more than one."
        ),
    ] = "auto",
    feature_radius: Annotated[
        float | None,
        Option(metavar="LENGTH", help="Records whose coordinates, each between -1 and 1, are longer are shortened."),
    ] = None,
    dataset: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The data set in the ledger; without it, the name of SOURCE. A data set that the ledger does not know "
            "is registered with exactly what this spends.",
            rich_help_panel=PAYER,
        ),
    ] = None,
    records: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="How many records there are, from public knowledge: auto chooses the method for them (10,000 without "
            "it), and descent its steps; choose buys a count with 2% of epsilon without it.",
        ),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Train a model under a promise: it is a file of plain numbers that anyone may ask for ever.

    Everything that can be refused is refused before anything is spent.
    """
    from ..models.opening import most_bytes
    from ..models.records import Task
    from ..releases.file import room_for
    from ..releases.payment import Payer, spending, unit_words
    from ..sources import open_source
    from .train_choice import check_places, choose

    chosen = method == "choose"
    with billed() as bill:
        if chosen:
            check_places(out, overwrite)
        else:
            check_writable(out, overwrite)
        if data.bounds_from_sample is not None and data.bounds_from_sample.resolve() == Path(source).resolve():
            raise RequestError(
                "--bounds-from-sample names the private file itself, whose bounds would give people away; name a "
                "public one."
            )
        opened, budget, domain = open_source(source), promise.budget(), declared_domain(data)
        name = dataset or dataset_name(source)
        bill.payer = payer = Payer(books.open(), name, budget, unit_words(domain.unit))
        if chosen:
            out = choose(opened, domain, target, budget, payer, records, out)
        else:
            trainer = _trainer(method, domain, target, budget, feature_radius, records)
            cost = trainer.cost(budget)
            with room_for("model", out, most_bytes(Task(domain, target))) as file:
                model = trainer.fit(opened, budget, spend=spending(payer, cost, trainer))
                file.write(model.to_bytes())
    if payer.registered:
        say(
            f"The ledger did not know the data set {name!r} and registered it with a total of {bill.promise}, "
            "exactly what this model spends."
        )
    if not chosen:
        for sentence in model.card():
            say(sentence)
    say(f"Wrote {out}. Spent {bill.price}, of which ε = {payer.ledger.status(name).left:f} is left.")


def _trainer(
    method: str, domain: Domain, target: str, budget: Budget, radius: float | None, records: int | None
) -> Trainer:
    """The linear model of a name, or the best by forecast, which is said."""
    from ..models.rehearsal import USUAL_RECORDS
    from ..models.training import AUTO, chosen_trainer, offers, trainer_of

    if method != AUTO:
        if records is None:
            return trainer_of(method, domain, target, radius)
        return chosen_trainer(domain, target, budget, method, radius, composable=True, records=records)
    count = USUAL_RECORDS if records is None else records
    found = offers(domain, target, budget, radius, composable=True, records=count)
    if records is None and len(found) > 1:
        say(f"No --records says how many there are, so the method is chosen for {count:,}.")
    for place, offer in enumerate(found):
        say(f"{'The method is' if not place else 'It could be'} {offer.method}: {offer.reason}.")
    return found[0].trainer
