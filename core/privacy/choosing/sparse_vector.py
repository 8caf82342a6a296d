"""The sparse vector technique: which of many private numbers exceed a threshold, paid for by the few that do.

Dwork and Roth (2014, Algorithm 1, Theorem 3.23), in the form for several findings that Lyu, Su and Li (2017, Algorithm
7) prove. Whole numbers throughout, with discrete Laplace noise:

    ρ with scale Δ/ε₁, once;    for every question a fresh ν with scale 2cΔ/ε₂;    "above" when f + ν >= τ + ρ,

and after c findings no further question is answered. Only the words "above" and "below" come out.

*Proof* that it is (ε₁ + ε₂, 0)-private, however questions and their thresholds τ are chosen from earlier words, and
from what else was released and paid for in between with noise of its own. One person moves every f by at most Δ. Fix
all that was said and compare, for neighbours D and D', the probability given ρ = z under D with that given ρ = z + Δ
under D'; the probabilities of z and z + Δ differ by e^ε₁ at most. At z + Δ

    below: f + ν < τ + z implies f' + ν < τ + z + Δ, as f' <= f + Δ: at least as likely for D', at no cost;
    above: f + ν >= τ + z implies f' + ν' >= τ + z + Δ for ν' = ν + 2Δ, as f' >= f - Δ: ν' is at most e^(2Δ ε₂/(2cΔ))
           times less likely, and this happens c times at most.

Together e^(ε₁ + ε₂). ∎ *Monotone questions* (one person moves all f the same way): where f' >= f, "above" needs ν + Δ
only; where f' <= f, compare with ρ = z itself, where "below" is implied and "above" needs ν + Δ. So scale cΔ/ε₂ does.

What the wrong variants do that Lyu, Su and Li collected, and this does not: no ν at all (Stoddard et al. 2014); ν that
does not grow with c (Lee, Clifton 2014; Chen et al. 2015), or findings without end; the noisy f + ν given away beside
the word "above" (Roth's lecture notes of 2011), which tells of ρ what the proof hides: here a value that is wanted has
to be measured afresh and paid for.
"""

from __future__ import annotations

from fractions import Fraction

from ...errors import RequestError
from ..calibration import NoiseScale
from ..noise.laplace import laplace_sampler
from ..noise.noise import check_drawable
from ..noise.randomness import Source, SystemSource
from ..replay.laws import Comparisons
from ..replay.tape import rolling

DRAWN_AT_ONCE = 64


def question_share(findings: int, monotone: bool = False) -> Fraction:
    """Return the share of epsilon for ν that makes f + ν - ρ least noisy: 1 to (2c)^(2/3), or c^(2/3) where monotone.

    (Lyu, Su, Li 2017, section 4.2.) Any share is private, so a rounded root will do.
    """
    part = round(((1 if monotone else 2) * findings) ** (2 / 3) * 1000)
    return Fraction(part, part + 1000)


class SparseVector:
    """Comparisons with thresholds, until as many as were paid for came out above.

    Parameters
    ----------
    sensitivity : int
        Δ: how far one person can move any f, a whole number.
    epsilon : Fraction
        The price of everything; `events.PureParts` is what it does to privacy.
    findings : int
        c: how often "above" may be said.
    monotone : bool
        Whether one person moves all f the same way.
    """

    def __init__(
        self, sensitivity: int, epsilon: Fraction, findings: int, monotone: bool = False, source: Source | None = None
    ):
        for value in (sensitivity, findings):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise TypeError("The sensitivity and the number of findings are whole numbers of at least 1.")
        if not isinstance(epsilon, (int, Fraction)) or epsilon <= 0:
            raise TypeError("The price of comparisons is a whole number or a fraction above zero.")
        self.threshold_noise, self.noise = scales(sensitivity, Fraction(epsilon), findings, monotone)
        check_drawable(self.threshold_noise, self.noise)
        self._left = findings
        self._ready: list[int] = []
        tape, law = rolling(), Comparisons(self.threshold_noise.parameter, self.noise.parameter)
        if tape is None or not (source is None or source.private):
            self._tape = self._session = None
            self._begin(source)
        else:
            self._tape, self._session = tape, tape.opened(law, lambda: self._begin(source))

    @property
    def left(self) -> int:
        """How often "above" may still be said."""
        return self._left

    def above(self, value: int, threshold: int) -> bool:
        """Return whether a private whole number exceeds a threshold, with noise.

        Raises
        ------
        RequestError
            When there is no finding left; nothing is compared.
        """
        if self._left == 0:
            raise RequestError("All findings of the sparse vector that were paid for have been made.")
        if self._tape is None or self._session is None:
            found = self._compared(value, threshold)
        else:
            found = self._tape.step(
                self._session, (int(value), int(threshold)), lambda: self._compared(value, threshold)
            )
        self._left -= found
        return found

    def _begin(self, source: Source | None) -> None:
        """Draw the noise of the threshold."""
        self._stream = (SystemSource() if source is None else source).stream()
        (self._raised,) = self._drawn(self.threshold_noise, 1)

    def _compared(self, value: int, threshold: int) -> bool:
        if not self._ready:
            self._ready = self._drawn(self.noise, DRAWN_AT_ONCE)
        return int(value) + self._ready.pop() >= int(threshold) + self._raised

    def _drawn(self, scale: NoiseScale, count: int) -> list[int]:
        """Fresh noise of any size: nothing is cut to 64 bits."""
        draws = laplace_sampler(scale.parameter).draw(count, self._stream)
        return [draws.exact.get(place, value) for place, value in enumerate(draws.values.tolist())]


def scales(sensitivity: int, epsilon: Fraction, findings: int, monotone: bool = False) -> tuple[NoiseScale, NoiseScale]:
    """Return the noise of the threshold and of every question, for forecasts and for `SparseVector` itself."""
    for_questions = epsilon * question_share(findings, monotone)
    factor = findings if monotone else 2 * findings
    return (
        NoiseScale("discrete_laplace", sensitivity / (epsilon - for_questions)),
        NoiseScale("discrete_laplace", factor * sensitivity / for_questions),
    )
