"""The commands besides `release` that read private data and pay for it: `quantiles`, `top-up` and `train`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..formatting.numbers import listed, percent
from . import notation
from .asked_release import ReleaseArgument
from .declaring import FileOptions, declared_domain, paid_for_columns
from .output import check_table, check_writable, reading, say, write_table
from .shared_options import DATA, DataOptions, LedgerOptions, PromiseOptions, refuse_typed, typed
from .spending import DatasetOption, SourceArgument, billed, check_sample, dataset_name, warn_of_total

if TYPE_CHECKING:
    from ..domain import Domain
    from ..models.classifier_choice import Choice
    from ..models.training import Chosen
    from ..privacy.accounting import Cost
    from ..privacy.budget import Budget
    from ..releases.payment import LedgerAccount
    from ..sources import Source

# Options on data that columns of numbers have no use for.
NO_USE = ("--vector", "--items", "--gathered", "--separator", "--category-distance")


def quantiles(
    source: SourceArgument,
    promise: PromiseOptions,
    data: DataOptions,
    file: FileOptions,
    books: LedgerOptions,
    quantile: Annotated[
        list[str] | None,
        Option(
            metavar="SHARE",
            help="Share of the records below what is asked for, between 0 and 1; repeat it for several. The median, "
            "0.5, without it.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=STEP",
            help="A column has the values LOW, LOW + STEP and so on alone, such as age=1 for whole years.",
            rich_help_panel=DATA,
        ),
    ] = None,
    dataset: DatasetOption = None,
    out: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write to a .csv, .tsv or .parquet file; without it, CSV goes to standard output."),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Buy medians or other quantiles of columns of numbers: read the data once, spend the budget, and choose.

    The table has a row for each column and quantile: column, quantile, value, rank_error, low and high: the ends of
    the cell in which records are not told apart. With 95% probability no more than rank_error records lie between them
    and the exact quantile. Of amounts, such as pay in wide bounds, say --scale pay=log: cells are ratios then.
    """
    import pandas as pd

    from ..privacy.ledger.account import left_of_total
    from ..releases.payment import LedgerAccount, unit_words
    from ..releases.private_quantiles import ColumnQuantiles

    with billed() as bill:
        check_table(out)
        if out is not None:
            check_writable(out, overwrite)
        useless = [option for option in typed(data) if option in NO_USE]
        if data.scale is not None and notation.parse_scale(data.scale)[0] is not None:
            useless.append("--scale")  # of all columns; that of amounts says where their cells are
        refuse_typed(useless, "quantiles are of columns of numbers")
        check_sample(data, source)
        opened = file.open(source)
        budget: Budget = promise.budget()
        asked = ColumnQuantiles(declared_domain(data), budget, quantile or ("0.5",), steps=_steps(step or ()))
        ledger = books.open()
        name = dataset or dataset_name(source, ledger.names())
        bill.payer = payer = LedgerAccount(ledger, name, budget, unit_words(asked.domain.unit))
        with reading("Reading records", opened.rows_total()) as show:
            found = asked.buy(opened, payer, progress=show)
        write_table(pd.DataFrame([vars(one) for one in found]), out)
    warn_of_total(payer, asked.cost.describe(), "these quantiles spend")
    rest = left_of_total(payer.ledger.status(name))
    say(f"Spent {bill.price} on all these quantiles together, of which {rest} is left.")


def top_up(
    release: ReleaseArgument,
    source: SourceArgument,
    epsilon: Annotated[str, Option(metavar="NUMBER", help="What is added to its ε; its δ stays.")],
    out: Annotated[Path, Option(metavar="FILE", help="The release file of both together.")],
    file: FileOptions,
    books: LedgerOptions,
    dataset: DatasetOption = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
    forecast: Annotated[
        bool, Option("--forecast", help="Only say how much noise would be left; nothing is read or spent.")
    ] = False,
) -> None:
    """Spend more on a release of the same records, and have one file of both.

    Without a δ, and in a data set whose total has none, the file is as good as if all had been spent at once: what it
    shows was kept beside the ledger when the first was made, and the records are not read again. Elsewhere a second
    release is made, and the file is the average of both; with a δ nearly nothing is lost by that. Stopped in between,
    the second one lies beside the ledger: see `merge --same-records`.
    """
    from ..privacy.budget import Budget
    from ..releases.going_on import kept_for
    from ..releases.payment import LedgerAccount, unit_words
    from ..releases.release import load
    from ..releases.topping_up import ToppingUp

    with billed() as bill:
        first, ledger = load(release), books.open()
        name = dataset or dataset_name(source, ledger.names())
        wanted = ToppingUp(first, Budget(epsilon).epsilon, kept_for(first, ledger, name))
        if forecast:
            say(wanted.sentence)
            return
        check_writable(out, overwrite)
        payer = bill.payer = LedgerAccount(ledger, name, wanted.second, unit_words(wanted.first.domain.unit))
        opened = cache(lambda: file.open(source))
        rows = None if wanted.less_noise is not None else opened().rows_total()
        with reading("Reading records", rows) as show:
            made = wanted.made(opened, payer, show)
        made.save(out, teaching=not made.private)
    say(f"Spent {bill.price} more. {wanted.sentence}")
    say(f"Wrote {out}, which promises ε = {made.privacy.epsilon:f}. {made.combined.sentence if made.combined else ''}")


def _steps(texts: list[str] | tuple[str, ...]) -> dict[str, float]:
    """Steps by column."""
    steps = notation.parse_places(texts)
    return {name: notation.parse_number(text, f"The step of {name!r}") for name, text in steps.items()}


def train(
    target: Annotated[str, Option(metavar="COLUMN", help="The column to predict: of categories, numbers or dates.")],
    out: Annotated[
        Path,
        Option(
            metavar="FILE",
            help="The model file to write, JSON; with --method choose, .npz or .json after what was chosen.",
        ),
    ],
    promise: PromiseOptions,
    data: DataOptions,
    file: FileOptions,
    books: LedgerOptions,
    source: Annotated[str | None, SourceArgument.__metadata__[0]] = None,
    released: Annotated[
        Path | None,
        Option(
            "--from",
            metavar="RELEASE",
            help="Instead of SOURCE, a release of tables: its pairs of columns say a model, and nothing more is spent.",
        ),
    ] = None,
    method: Annotated[
        str,
        Option(
            help="For categories: objective and frank-wolfe (pure epsilon too), descent, newton, svm, sgd (of replaced "
            "records), dp-sgd, amp and tuned-amp (each alone in its ledger); for numbers and dates: objective, "
            "products and mean (pure epsilon too), descent, boosted, poisson (of counts); or auto: the best of these "
            "beside which others can be released. For categories also choose: whatever predicts best on records held "
            "out, of kernel sums, nearest means and a linear model, as far as the budget pays for more than one."
        ),
    ] = "auto",
    feature_radius: Annotated[
        float | None,
        Option(metavar="LENGTH", help="Records whose coordinates, each between -1 and 1, are longer are shortened."),
    ] = None,
    dataset: DatasetOption = None,
    records: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="How many records there are, from public knowledge: auto chooses method and curves for them, and "
            "descent its steps; auto and choose buy a count with 2% of epsilon without it.",
        ),
    ] = None,
    curves: Annotated[
        int | None,
        Option(
            metavar="N",
            min=0,
            max=5,
            help="How often the bounds of a number are halved by the knots of its curve: 0 for straight lines, 3 for "
            "nine knots. Without it auto takes what pays for so many records, and others straight lines.",
        ),
    ] = None,
    waves: Annotated[
        int | None,
        Option(
            metavar="N",
            min=0,
            max=1_000,
            help="How many waves of all columns together stand beside them, for what columns say only together. "
            "Without it auto takes what pays for so many records where it chooses curves too.",
        ),
    ] = None,
    products: Annotated[
        int | None,
        Option(
            metavar="0|1",
            min=0,
            max=1,
            help="1 for the product of each two numbers beside them; without it as for waves.",
        ),
    ] = None,
    monotonic_cst: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=1",
            help="A column that only raises (1) or only lowers (-1) what is predicted, of classes the second one's "
            "odds: its curve follows, and there are no waves. Repeat it for each.",
        ),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Train a model under a promise: it is a file of plain numbers that anyone may ask for ever.

    Everything that can be refused is refused before anything is spent.
    """
    from ..models.linear_models import most_bytes
    from ..models.training import train_by, training_plan
    from ..models.training_task import MOST_HALVINGS, Task
    from ..privacy.ledger.account import left_of_total
    from ..releases.file import room_for
    from ..releases.payment import LedgerAccount, unit_words
    from ..releases.seal import promised_with

    if released is not None or source is None:
        spent = [*typed(promise), *typed(books), *typed(data), *(["SOURCE"] if source is not None else [])]
        _train_from(released, target, out, overwrite, spent, curves, monotonic_cst)
        return
    chosen = method == "choose"
    with billed() as bill:
        if chosen:
            if monotonic_cst:
                from ..errors import RequestError

                raise RequestError("A direction is of a model's curves: leave --method choose or --monotonic-cst out.")
            check_places(out, overwrite)
        else:
            check_writable(out, overwrite)
        check_sample(data, source)
        opened, budget, domain = file.open(source), promise.budget(), declared_domain(data)
        paid, within = paid_for_columns(data)
        promised_with(budget, paid)  # whose digits are refused before anything is spent
        ledger = books.open()
        name = dataset or dataset_name(source, ledger.names())
        bill.payer = payer = LedgerAccount(ledger, name, budget, unit_words(domain.unit))
        if chosen:
            out = choose(opened, domain, target, budget, payer, records, out, paid)
        else:
            plan = training_plan(
                domain,
                target,
                budget,
                method,
                radius=feature_radius,
                records=records,
                curves=curves,
                waves=waves,
                products=products,
                monotonic_cst=notation.parse_directions(monotonic_cst or ()),
                paid=paid,
                within=within,
            )
            with room_for("model", out, most_bytes(Task(domain, target), MOST_HALVINGS)) as written:
                model = train_by(plan, opened, payer, _announced)
                written.write(model.to_bytes())
    warn_of_total(payer, str(bill.promise), "this model spends")
    if not chosen:
        for sentence in model.card():
            say(sentence)
    say(f"Wrote {out}. Spent {bill.price}, of which {left_of_total(payer.ledger.status(name))} is left.")


def _train_from(
    released: Path | None,
    target: str,
    out: Path,
    overwrite: bool,
    spent: list[str],
    curves: int | None,
    monotonic_cst: list[str] | None,
) -> None:
    """What a release of tables says of pairs of columns, as a model: nothing is spent."""
    from ..errors import RequestError
    from ..models.from_tables import train_from
    from ..releases.release import load

    if released is None:
        raise RequestError("A model is trained of SOURCE, private records, or of a release of tables by --from.")
    refuse_typed([one for one in spent if one != "--ledger"], "a model from a release spends nothing and reads no data")
    check_writable(out, overwrite)
    directions = notation.parse_directions(monotonic_cst or ())
    model = train_from(load(released), target, curves=curves, monotonic_cst=directions)
    model.save(out)
    for sentence in model.card():
        say(sentence)
    say(f"Wrote {out}. Nothing more was spent.")


def _announced(chosen: Chosen) -> None:
    """The method that is taken, and the others, before anything is spent on it."""
    for place, offer in enumerate(chosen.offers):
        say(f"{'The method is' if not place else 'It could be'} {offer.method}: {offer.reason}.")


ENDINGS = (".npz", ".json")
# Bytes of room for tables of classes, whose size is known only when what it follows from was bought.
OF_TABLES = 16 << 20


def check_places(out: Path, overwrite: bool) -> None:
    """RequestError when one of the two files that may come out has no place."""
    for ending in ENDINGS:
        check_writable(out.with_suffix(ending), overwrite)


def choose(
    source: Source,
    domain: Domain,
    target: str,
    budget: Budget,
    payer: LedgerAccount,
    records: int | None,
    out: Path,
    paid: tuple[Cost, ...],
) -> Path:
    """Choose, write the file with the ending of its kind, and say what it is."""
    from ..models.classifier_choice import choose_classifier, chosen_among, covering
    from ..models.linear_models import LinearModel, most_bytes
    from ..models.training_task import Task
    from ..releases.file import room_for
    from ..releases.seal import promised_with

    # Under its own name once its kind is known, which takes no room.
    nameless = out.with_name(f".{out.stem}.chosen")
    with room_for("classifier", nameless, most_bytes(Task(domain, target)) + OF_TABLES) as written:
        chosen = choose_classifier(source, domain, target, budget, payer, records, _announce)
        made = covering(chosen, paid, promised_with(budget, paid))
        model = isinstance(made, LinearModel)
        if isinstance(made, LinearModel):
            written.write(made.to_bytes())
        else:
            made.write_to(written)
    place = nameless.replace(out.with_suffix(".json" if model else ".npz"))
    among = chosen_among(made)
    if among:
        say(f"It was chosen by records held out, as far as noise lets one tell, among {listed(among)}.")
    for sentence in made.card() if isinstance(made, LinearModel) else []:
        say(sentence)
    kind = "a model: ask it by `predict" if model else "a release with a table for each class: ask it by `classify"
    say(f"It is {kind} {place} QUERIES`.")
    return place


def _announce(choice: Choice) -> None:
    """What is worth making, before anything is spent on it."""
    from ..models.class_counts import SAME_FOR_ALL

    forecast = choice.prospect
    alone = "; ".join(f"{one.title} {percent(learnt, 2)}" for one, learnt in forecast.alone)
    say(f"Learnt of made-up records, beyond always the most common class, by itself under this promise: {alone}.")
    names = [one.title for one in forecast.entrants]
    if choice.counts_alone:
        say("Nothing is worth its price under this promise: the classes are counted, and the largest is the answer.")
    elif not forecast.compared:
        say(f"Held-out records could not tell what is best under this promise: all of it goes to {names[0]}.")
    elif len(names) == 1:
        say(
            f"More than one would leave too little for each, so the whole promise goes to {names[0]}, compared on "
            f"records held out with {SAME_FOR_ALL}."
        )
    else:
        say(f"Made and compared on records held out: {listed([*names, SAME_FOR_ALL])}.")
