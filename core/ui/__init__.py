"""The only part of the library that knows Streamlit: a file or folder a page, above what several of them share.

``frame`` is what every page is made with; ``own_data`` what pages about one's own records share, from picking them to
paying; ``released`` what pages about released files do. A page imports those and no other page. It is written so::

    from core.ui.frame.navigation import EXPLORE
    from core.ui.surroundings import frame

    with frame(EXPLORE) as visitor:          # the first thing a page does: settings, navigation, heading, footer
        ...                                  # visitor is this visitor's Session

* ``frame.navigation.Page`` describes a page (file, title, heading, lead, who sees it); ``GROUPS`` there is the
  navigation, and lists a page once its file exists. Go elsewhere with ``st.switch_page(RELEASE.path)``.
* ``frame.session.Session`` is what a visitor has open: ``records`` and ``own`` data, ``opened`` released files, and the
  one that is ``shown``. Private things live here and nowhere else: no module global, and ``st.cache_data`` only with
  ``scope="session"``.
* ``frame.visiting.stranger()`` says in every run why a visitor may not be the owner of this computer, or None. Whoever
  opens a path, the ledger or what is kept beside it asks it first; ``own_data.paying.open_ledger(visitor)`` gives
  strangers a ledger of the session. ``visitor_now()`` is who has signed in, where others are served (``serving`` starts
  that, and stands between the network and Streamlit); what they may open is in ``core.ui.serving.settings.NEEDS``.
* ``release.release_steps`` draws the controls, each of which replaces what it settles in one
  `core.releases.forecast.draft.Draft`; ``order_of`` makes a request of it. What takes long is done by a thread of the
  server and never by a page's run: ``release.release_task.ReleaseTask`` is one, held in the visitor's session.
  Pages look at it in a fragment with ``run_every``; no thread ever calls Streamlit. ``released.kept_files`` finds every
  release again, after a reload as well.
* ``frame.marks``: ``main_action(label, missing, key, note)`` is the one main button, at the foot of the window,
  saying what is missing; ``mark`` and ``rail`` say private or public; ``side(key)`` keeps a column in view; ``facts``
  is a plain list, ``note`` a quiet line; ``odds`` draws a promise in words, ``budget_bar`` a budget. ``offer`` is a
  button that saves a file, ``choose_one`` a choice of which one always holds. ``draw`` is the only door for HTML, and
  everything foreign in it goes through ``core.formatting.escapes.in_html``; where Streamlit reads Markdown, foreign
  text goes through ``in_markdown``. Numbers, sizes and times are written by ``core.formatting.numbers``, lists,
  counts and days by ``core.formatting.numbers``.
* ``core.figures.palette`` holds the colours. Draw figures with ``frame.marks.show(figure, key, words)``, always with
  words. Styles live in ``frame/theme.css``, and colours with meaning are never used for anything else:
  ``:orange[...]`` and ``:green[...]`` mean private and public in Markdown too.
* ``learn/lessons.toml`` has the lessons in their order: what to do, to see, and why, and questions for a class. To each
  belongs an experiment of ``core.lab`` in ``learn.course.EXPERIMENTS``, whose fields take ``bind="query-params"``, so
  that the address holds the state.
* Widgets that must survive a page change take ``key=`` and ``persist_state="session"``. Keys that start with ``fg-``
  belong to the style sheet. The navigation stands in the sidebar, and on a phone in one line above the heading.
* In browser tests, ``visit.illegible()`` lists every text below AA contrast and ``visit.overflow()`` what sticks out.
"""
