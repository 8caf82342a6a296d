"""The only part of the library that knows Streamlit: one folder a page, and `frame` for what they share.

How a page is written::

    from core.ui.frame.frame import EXPLORE, frame

    with frame(EXPLORE) as visitor:          # the first thing a page does: settings, navigation, heading, footer
        ...                                  # visitor is this visitor's Session

* ``frame.Page`` describes a page (file, title, heading, lead, who sees it); ``frame.GROUPS`` is the navigation, and
  lists a page once its file exists. Go elsewhere with ``st.switch_page(RELEASE.path)``.
* ``session.Session``: ``own`` (an `OwnData`: private source, domain, title, sample), ``dataset``;
  ``opened`` (released files by name), ``current``, ``shown`` (the current `Opened`: name, data, release);
  ``open(name, bytes)``, ``remember(name, bytes, release)``, ``close(name)``. Private things live here and nowhere
  else: no module global, and ``st.cache_data`` only with ``scope="session"``.
* What takes long is done by a thread of the server and never by a page's run: `release_making.Making` is one, held at
  the visitor's desk. Pages look at it in a fragment with ``run_every``; no thread ever calls Streamlit.
* ``marks``: ``main_action(label, missing, key, note)`` is the one main button, at the foot of the window, saying what
  is missing; ``mark`` and ``rail`` say private or public; ``side(key)`` keeps a column in view; ``facts`` is a plain
  list, ``note`` a quiet line.
* ``odds``: ``odds(epsilon, delta, protected)`` draws the promise in words with its bar; ``odds_sentence`` is the text.
  ``bars.budget_bar(spent, price, total)`` draws a budget, ``bars.bar`` any shares of a whole.
* ``figures.palette`` holds the colours (``TEAL.shape`` for figures on either theme, ``DENSITY_SCALE``);
  ``figures.dots`` the fifty dots. Draw figures with ``st.plotly_chart(figure, key=..., alt=...)``, always with words.
* ``markup.draw`` is the only door for HTML, and everything foreign in it goes through ``markup.escape``; pages hold
  none. Styles live in ``theme``, and colours with meaning are never used for anything else. Streamlit's own orange and
  green are this amber and teal, so ``:orange[...]`` and ``:green[...]`` mean private and public in Markdown too.
* ``learn.lesson.Lesson`` is a lesson: an experiment of ``core.experiments.lessons`` with what to do, to see, and why.
  Its fields take ``bind="query-params"``, so that the address holds the state; ``learn.course.LESSONS`` is their order.
* Widgets that must survive a page change take ``key=`` and ``persist_state="session"``. Keys that start with ``fg-``
  belong to the style sheet. The navigation stands in the sidebar, and on a phone in one line above the heading.
* In browser tests, ``visit.illegible()`` lists every text below AA contrast and ``visit.overflow()`` what sticks out.
"""
