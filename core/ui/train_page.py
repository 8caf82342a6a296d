"""The page Train: what is predicted, by which method and at which price, and a classifier that was chosen so."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import streamlit as st

from ..domain import Categorical, Column, Cyclic, Domain, Scalar
from ..errors import RequestError
from ..figures.label import privacy_label
from ..figures.model_figures import EXPLAINED, RIGHT, training_figure, training_in_words
from ..formatting.escapes import in_markdown
from ..formatting.numbers import amount, listed, percent, significant, size
from ..models.class_counts import SAME_FOR_ALL
from ..models.classifier_choice import Choice, choose_classifier, chosen_among, covering
from ..models.entrants import File
from ..models.linear_models import Model
from ..models.monotone import directions_of
from ..models.training import USUAL_RECORDS, Chosen, Offer, Trainer, forecast_curve, offers, yardsticks
from ..models.training_task import Task
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.account import Account, price
from ..privacy.ledger.ledger import Ledger
from ..releases.payment import LedgerAccount, spending, unit_words
from ..releases.release import Release
from ..releases.seal import promised_with
from ..sources.public_tables import sample
from .frame.marks import Visibility, facts, main_action, note, odds_sentence, offer, rail, show
from .frame.navigation import CLASSIFY
from .frame.session import OwnData, Session
from .own_data.paying import EPSILONS, SLACK, START, choose_payer, choose_slack, left_of
from .released.kept_files import MODEL, keep_opened

RELEASED = "train-released"  # In the session: the name of the release that was chosen, among the visitor's open files.


def keep_release(visitor: Session, made: Release, ticket: str) -> str:
    """Open a release in this session, and keep its file where files are kept; its name."""
    stamp = "".join(sign for sign in made.created[:19] if sign.isdigit() or sign == "T")
    name, data = f"release-{stamp}-{ticket[:4]}.npz", made.to_bytes()
    visitor.remember(name, data, made)
    keep_opened(name, data)
    return name


def chosen_view(visitor: Session) -> bool:
    """Show the release that was chosen last; whether there is one that is open still."""
    opened = visitor.opened.get(st.session_state.get(RELEASED, ""))
    if opened is None:
        return False
    label = privacy_label(opened.release, opened.data)
    with rail(Visibility.PUBLIC, "chosen", "This file may be handed out"):
        facts(
            [
                (label.table, ""),
                (label.promise, label.slack),
                (f"Protects {label.protected}", f"Hidden: {label.hidden}."),
            ]
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if st.button("Classify with it", type="primary", key="train-classify"):
                st.switch_page(CLASSIFY.path)
            offer("Save the file", opened.data, opened.name, "train-save")
            if st.button("Another model", key="train-again"):
                del st.session_state[RELEASED]
                st.rerun()
            note(size(len(opened.data)))
    among = chosen_among(opened.release)
    why = (
        f"It was kept as it was right of most held-out records, as far as noise lets one tell, among {listed(among)}."
        if among
        else "It was made alone, of all records: several would have left too little of the budget for each."
    )
    note(why)
    return True


TRIED = tuple(Decimal(epsilon) for epsilon in ("0.01", "0.1", "1", "10"))
MANY = 1_500  # Coefficients up to which a curve is drawn while somebody waits.
RECORDS = tuple(count * 10**power for power in range(2, 8) for count in (1, 2, 5))


def choose_records(own: OwnData) -> int:
    """A public guess of how many records there are, from what was found out or is known of a sample."""
    usual = own.records or (USUAL_RECORDS if own.sample is None else sample(own.sample).records_guess)
    count: int = st.select_slider(
        "How many records there are at least",
        sorted({*RECORDS, usual}),
        usual,
        format_func=lambda records: f"{records:,}",
        key="train-records",
        help="Say what anyone may know, and do not count your records for it. The forecast depends on it, and where "
        "several classifiers compete how they are made.",
    )
    return count


def outlook(domain: Domain, label: str, budget: Budget, records: int) -> None:
    """The curve of what is right against ε, and what it means."""
    task = Task(domain, label)
    if (task.features.dimensions + 1) * task.rows > MANY:
        note("There are too many coordinates for a forecast to be drawn while you wait.")
        return
    epsilons = sorted({*TRIED, budget.epsilon})
    budgets = tuple(Budget(epsilon, budget.delta, budget.neighbours) for epsilon in epsilons)
    curve = forecast_curve(domain, label, budgets, records=records)
    common, best = yardsticks(domain, label)
    right = [0.0 if offer.rehearsal is None else max(0.0, offer.rehearsal.right) for _, offer in curve]
    best, measure = max(best, *right), RIGHT if task.categories else EXPLAINED
    here = right[epsilons.index(budget.epsilon)]
    steps = [float(epsilon) for epsilon in epsilons]
    kept = max(0.0, here - common) / max(best - common, 1e-9)
    st.markdown(
        f"A forecast on made-up records: about **{percent(min(kept, 1.0))}** of what could be learnt beyond "
        f"{measure.least} is kept."
    )
    show(
        training_figure(steps, right, float(budget.epsilon), common, best, measure),
        "train-outlook",
        training_in_words(steps, right, common, best, measure),
    )
    note(
        "How predictable your own column is, only your records know, and nobody looked at them. The curve says at "
        "which ε noise begins to matter for so many columns and records."
    )


USED = "train-used"  # In the session: the orders that were carried out.
CHOOSE = "choose"
SEVERAL = (
    "Kernel sums, nearest means and a linear model, as far as the budget pays for more than one. An eighth of the "
    "records is held out and decides which is kept, all for the same price."
)
DECIDED = (
    "With more than three columns, 2 to 5% of ε first buys how far your records lie apart, where the total has room "
    "for it, and that may change the choice."
)
WORTH_SAYING = 0.05  # Of made-up records, what the switch for less noise must bring to be spoken of.


@dataclass(frozen=True)
class Wish:
    """A model that an owner asks for, complete: what is confirmed is what is trained."""

    trainer: Trainer | Choice
    budget: Budget
    account: Account
    ticket: str
    directions: tuple[int, ...] = ()  # Of the curves of a model, as they were declared.
    promised: Budget | None = None  # What the file promises where it shows what was found out, too.

    @property
    def cost(self) -> Cost:
        return self.trainer.cost if isinstance(self.trainer, Choice) else self.trainer.cost(self.budget)


def choose(visitor: Session, own: OwnData, ledger: Ledger) -> None:
    """The controls and the button with the price on it."""
    targets = [column.name for column in own.domain.columns if _predictable(column)]
    if not targets or len(own.domain.columns) < 2:
        those = "there is only one here" if targets else "there are none such here"
        note(f"A model predicts one column of categories, numbers or dates from others, and {those}.")
        main_action("Train", ["a column to predict, and another one"], "train")
        return
    st.header("1 · What should be predicted?", anchor=False)
    usual = [column.name for column in own.domain.columns if _predictable(column) and isinstance(column, Categorical)]
    target = st.selectbox("Column", targets, targets.index((usual or targets)[-1]), key="train-target", width=320)
    declared = _directions(own.domain, str(target))
    st.header("2 · How much privacy?", anchor=False)
    epsilon, slack, records = _epsilon(), choose_slack(), choose_records(own)
    number = 0 if visitor.records is None else visitor.records.number
    neighbours, account, missing = choose_payer(visitor, ledger, own, number, unit_words(own.domain.unit), slack)
    if missing or account is None:
        main_action("Train", missing, "train")
        return
    budget = left_of(own, Budget(epsilon, SLACK if slack else 0, neighbours))
    try:
        with st.spinner("Trying methods on made-up records"):
            outlook(own.domain, str(target), budget, records)
            bends = {"waves": 0, "products": 0} if declared else {}
            found = offers(own.domain, str(target), budget, composable=True, records=records, **bends)
            more = _with_slack(own.domain, str(target), budget, records, found[0])
        if more:
            note(more)
        several = bool(found[0].trainer.categories) and not declared
        trainer = _method(found, Choice(own.domain, str(target), budget, records) if several else None)
        directions = directions_of(Task(own.domain, str(target)), declared)
        wish = Wish(trainer, budget, account, secrets.token_hex(16), directions)
        settled = None if isinstance(trainer, Choice) else wish.cost  # a choice may buy first what changes it
        wish = replace(wish, promised=promised_with(budget, own.costs, own.within, settled))
        refused = account.after(wish.cost).refusal
    except RequestError as error:
        st.error(in_markdown(error))
        main_action("Train", ["settings that can be used"], "train")
        return
    if refused:
        st.error(in_markdown(refused))
    if main_action(f"Train for {price(budget)}", ["budget that is left"] if refused else [], "train"):
        confirm(visitor, own, ledger, wish)


def _directions(domain: Domain, target: str) -> dict[str, int]:
    """The columns of which their owner knows that they only raise or only lower what is predicted."""
    wanted = next(column for column in domain.columns if column.name == target)
    classes = wanted.categories if isinstance(wanted, Categorical) else ()
    able = [one.name for one in domain.columns if one is not wanted and not isinstance(one, Categorical)]
    if len(classes) > 2 or not able:
        return {}
    above = f"the odds of “{classes[1]}”" if classes else f"“{target}”"
    with st.expander("Columns whose direction is known"):
        note("Say it where everybody knows it, whatever these records say: its curve follows, at no price.")
        up = st.multiselect(in_markdown(f"Only raises {above}"), able, key="train-raises")
        rest = [name for name in able if name not in up]
        down = st.multiselect(in_markdown(f"Only lowers {above}"), rest, key="train-lowers")
    return {name: 1 for name in up} | {name: -1 for name in down if name in rest}


def _epsilon() -> Decimal:
    """The slider of the Release page, with a place of its own to remember where it stands."""
    chosen: Decimal = st.select_slider(
        "Privacy loss ε", EPSILONS, START, format_func=amount, key="train-epsilon", help="Smaller is more private."
    )
    return chosen


def _predictable(column: Column) -> bool:
    return isinstance(column, Scalar) or (isinstance(column, Categorical) and not isinstance(column, Cyclic))


def _method(found: Sequence[Offer], choice: Choice | None) -> Trainer | Choice:
    """Let the owner choose a method; the linear model with the best forecast is first."""
    st.header("3 · How?", anchor=False)
    names = {offer.method: offer for offer in found}
    method = st.radio(
        "Method",
        [*names, *([] if choice is None else [CHOOSE])],
        format_func=lambda name: (
            _called(names.get(name)) + (" (best forecast of these)" if name == found[0].method else "")
        ),
        captions=[*map(_why, found), *([] if choice is None else [SEVERAL])],
        key=f"train-method-{'-'.join(names)}",
        label_visibility="collapsed",
    )
    if choice is None or method != CHOOSE:
        return names[method].trainer
    with st.spinner("Trying classifiers on made-up records"):
        note(_worth(choice))
    return choice


def _called(offer: Offer | None) -> str:
    """What a method is called; of none, what chooses among several."""
    return "Whatever predicts best" if offer is None else _upper(offer.trainer.described)


def _upper(words: str) -> str:
    return words[0].upper() + words[1:]


def _worth(choice: Choice) -> str:
    forecast = choice.prospect
    made = [one.title for one in forecast.entrants]
    alone = listed([f"{one.title} {percent(learnt, 2)}" for one, learnt in forecast.alone])
    if choice.counts_alone:
        said = "Nothing is worth its price here: the classes would be counted, and everyone taken for the largest."
    elif not forecast.compared:
        said = f"All of the budget would go to {made[0]}: held-out records could not tell what is best."
    elif len(made) == 1:
        said = (
            f"All of the budget would go to {made[0]}, as several would leave too little for each, and held-out "
            f"records would compare it with {SAME_FOR_ALL}."
        )
    else:
        said = f"Made, and compared on held-out records, would be {listed([*made, SAME_FOR_ALL])}."
    bought = f" {DECIDED}" if choice.buys_spread else ""
    return (
        f"{said}{bought} Of what made-up records can teach beyond the most common answer, each alone learnt: {alone}."
    )


def _with_slack(domain: Domain, label: str, budget: Budget, records: int, best: Offer) -> str:
    """What the switch for a one-in-a-million risk would bring; "" where that is little or it is on."""
    if not budget.pure or best.rehearsal is None:
        return ""
    looser = Budget(budget.epsilon, SLACK, budget.neighbours)
    other = offers(domain, label, looser, composable=True, records=records)[0].rehearsal
    if other is None or other.right < best.rehearsal.right + WORTH_SAYING:
        return ""
    done = "right" if best.trainer.categories else "explained"
    now, then = (percent(max(0.0, one.right), 2) for one in (best.rehearsal, other))
    return f"With the switch “Less noise” on, {then} of made-up records would be {done} instead of {now}."


def _why(offer: Offer) -> str:
    people = f"{offer.noise:,.0f}" if offer.noise >= 10 else significant(offer.noise, 2)
    right = ""
    if offer.rehearsal is not None:
        share = percent(max(0.0, offer.rehearsal.right), 3)
        right = f"{share} right of made-up records. "
        if not offer.trainer.categories:
            right = f"It explained {share} of how made-up records differ. "
    right += f"{_upper(offer.bent)}. " if offer.bent else ""
    if offer.method == "products":
        right += "It says how far its coefficients may be off. "
    return f"{right}Its noise weighs as much as about {people} records that say the same; many times more outweigh it."


@st.dialog("Train it?", on_dismiss="rerun")
def confirm(visitor: Session, own: OwnData, ledger: Ledger, wish: Wish) -> None:
    """Ask once more, in words; a wish comes true once, however often the button is pressed."""
    promised = wish.promised or wish.budget
    odds = odds_sentence(float(promised.epsilon), float(promised.delta), "person")
    st.markdown(f"You make one file, which may be handed out, at the price of **{price(wish.budget)}**. {odds}")
    st.text(f"It is paid from the budget of “{wish.account.name}”.")
    if own.costs:
        st.markdown(f"It also shows what was found out and paid for before, so what it promises is {price(promised)}.")
    st.markdown("What is spent cannot be had back, even if nobody ever gets the file.")
    if st.button("Train it", type="primary", key="train-confirm"):
        used = st.session_state.setdefault(USED, set())
        if wish.ticket not in used:
            used.add(wish.ticket)
            try:
                with st.spinner("Training"):
                    made = trained(own, ledger, wish)
            except RequestError as error:
                st.error(in_markdown(error))
                return
            if isinstance(made, Release):
                st.session_state[RELEASED] = keep_release(visitor, made, wish.ticket)
            else:
                st.session_state[MODEL] = made
        st.rerun()


def trained(own: OwnData, ledger: Ledger, wish: Wish) -> Model | File:
    """The model, or a release with a table a class; the price is in the ledger before any noise exists."""
    account, unit = wish.account, unit_words(own.domain.unit)
    payer = LedgerAccount(ledger, account.name, wish.budget, unit, None if account.known else account.total)
    if isinstance(wish.trainer, Choice):
        facts = wish.trainer
        made = choose_classifier(own.source, facts.domain, facts.label, wish.budget, payer, facts.records)
        return covering(made, own.costs, wish.promised or wish.budget)
    wanted = Chosen(wish.trainer, wish.budget, directions=wish.directions)
    model = wanted.fit(own.source, spending(payer, wish.cost, wish.trainer))
    return covering(model, own.costs, wish.promised or wish.budget)
