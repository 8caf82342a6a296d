"""Going from page to page: at no moment does a part of the page that was left stand beside the one that comes."""

import pytest

WATCH = """
() => {
  window.watched = [];
  (function look() {
    const headings = [...document.querySelectorAll("[data-testid=stMain] :is(h1, h2, h3)")];
    const seen = headings.filter(one => one.checkVisibility()).map(one => one.innerText).sort();
    if (JSON.stringify(seen) !== JSON.stringify(watched.at(-1))) watched.push(seen);
    requestAnimationFrame(look);
  })();
}
"""
"""Looks at every frame that is drawn, and so at what a visitor sees, however long the server takes."""


@pytest.mark.deep
def test_nothing_of_the_last_page_stays_while_the_next_one_draws(visitor):
    visit = visitor()
    visit.go()
    visit.page.evaluate(WATCH)
    visit.settle()
    for title in ("Compare", "Data", "Home", "Learn", "Explore", "Home"):
        visit.click("link", title)
        frames = [set(headings) for headings in visit.page.evaluate("watched.splice(0, watched.length - 1)")]
        before, after = frames[0], set(visit.page.evaluate("watched[0]"))
        left, comes = before - after, after - before
        assert left and comes
        assert not [seen for seen in frames if seen & left and seen & comes], title
    assert visit.errors == []
