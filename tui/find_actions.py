"""Searching and filtering: what the keys, the prompt and the list of hits do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from whichlayer.tui.deferred import Deferred
from whichlayer.tui.find_messages import Answered
from whichlayer.tui.messages import DocumentOpened
from whichlayer.tui.prompting import Prompting
from whichlayer.tui.searches import FILTER, SEARCH, Search
from whichlayer.tui.undo import Part

# Nobody searches before the first picture.
if TYPE_CHECKING:
    from whichlayer.analysis.report import units
    from whichlayer.analysis.search import query as queries
    from whichlayer.analysis.search.hits import Hits
    from whichlayer.tui import filtered, finder, travel
    from whichlayer.tui.document import Document
    from whichlayer.tui.finder import Finder, Start
else:
    filtered = Deferred("whichlayer.tui.filtered")
    finder = Deferred("whichlayer.tui.finder")
    queries = Deferred("whichlayer.analysis.search.query")
    travel = Deferred("whichlayer.tui.travel")
    units = Deferred("whichlayer.analysis.report.units")


class FindActions(Prompting):
    """``/ n N *``, the list of hits, and the filter."""

    #: How questions are answered beside the screen; tests answer at once.
    find_start: Start | None = None

    def __init__(self, **settings: Any) -> None:
        """Nothing is searched."""
        super().__init__(**settings)
        self.search: Search | None = None
        self._finder: Finder | None = None
        self._awaited: str | None = None
        self._lists_answer = False
        self._filter_text = ""
        self._search_text = ""

    # What is searched

    def finder_of(self, document: Document) -> Finder:
        """What answers about the trace of now."""
        if self._finder is None or self._finder.trace is not document.trace:
            if self._finder is not None:
                self._finder.close()
            start = self.find_start or finder.in_thread
            self._finder = finder.Finder(document.trace, self.post_message, start)
        return self._finder

    def close_finder(self) -> None:
        """Nobody waits for answers any more."""
        if self._finder is not None:
            self._finder.close()

    def with_finds(self, document: Document) -> Document:
        """A new document as it is to be shown: filtered as the last one was."""
        before = self.document
        if before is None or not (self._filter_text or self._search_text):
            return document
        same = before.trace is document.trace
        kept = before.filter if self._filter_text else None
        if kept is not None and same and document.filter is None:
            document = filtered.with_filter(document, kept)
        if not same:
            # Rows have other numbers now: everything is looked for again.
            if self._search_text:
                self.finder_of(document).ask("search", self._search_text)
                self._light(None)
            if self._filter_text:
                self.finder_of(document).ask("filter", self._filter_text)
        return document

    # Keys

    async def action_search(self) -> None:
        """Ask what to search for."""
        if self.document is None:
            self.say("nothing to search yet")
        else:
            await self.open_prompt(SEARCH)

    async def action_filter(self) -> None:
        """Ask what to show."""
        if self.document is None:
            self.say("nothing to filter yet")
        else:
            await self.open_prompt(FILTER, self._filter_text)

    def action_unfilter(self) -> None:
        """Show everything again."""
        if self._filter_text:
            self._set_filter("", None)
        else:
            self.say("no filter is on: & sets one")

    def action_search_this(self) -> None:
        """Search for the name under the cursor."""
        if self.look is None or self.document is None:
            return
        rows = travel.rows_of(self.document, self.look)
        here = travel.slice_at(self.document, rows, self.look)
        if here < 0:
            self.say("no slice here to search for")
            return
        text = queries.quoted(self.document.names.full(here))
        self.remember("search", text)
        self._awaited = text
        self.finder_of(self.document).ask("search", text)

    def search_for(self, text: str) -> None:
        """Search as if it had been typed."""
        self.remember("search", text)
        self.prompt_entered("search", text, listed=False)

    def action_hit(self, step: int) -> None:
        """The next hit in time from the cursor, or the one before."""
        search = self.search
        if search is None or self.look is None:
            self.say("no search yet: / begins one")
        elif not len(search.hits):
            self.say(f"nothing found for {search.text}")
        else:
            count = len(search.hits)
            if search.view is self.look and search.at >= 0:
                place = search.at + step
            else:
                place = search.hits.beside(self.look.cursor_ns, step > 0)
            wrapped = "" if 0 <= place < count else "from the start: " if step > 0 else (
                "from the end: "
            )  # fmt: skip
            self._go_to_hit(place % count, wrapped)

    def action_hits(self) -> None:
        """The hits by name."""
        if self.search is None:
            self.say("no search yet: / begins one")
        else:
            self._list_hits(self.search)

    def clear_search(self) -> bool:
        """Put the marks of a search away; False where there are none."""
        if self.search is None:
            return False
        with self.one_act(Part.SEARCH):
            self._put_search("")
        return True

    def part_now(self, part: Part) -> Any:
        """What is searched for, and what is let through."""
        if part is Part.FILTER:
            return self._filter_text
        return self._search_text if part is Part.SEARCH else super().part_now(part)

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """Search for something else, without going to it, or let something else through."""
        if part is Part.FILTER:
            self._put_filter(after)
        elif part is Part.SEARCH:
            self._put_search(after)
        else:
            return super().put_part(part, before, after)
        return ""

    def _put_search(self, text: str) -> None:
        self.search, self._search_text, self._awaited = None, text, None
        self._light(None)
        if text and self.document is not None:
            self.finder_of(self.document).ask("search", text)
        elif self._finder is not None:
            self._finder.forget("search")

    def _put_filter(self, text: str) -> None:
        self._filter_text, self._awaited = text, None
        if text and self.document is not None:
            self.finder_of(self.document).ask("filter", text)
            return
        if self._finder is not None:
            self._finder.forget("filter")
        if self.document is not None and self.document.filter is not None:
            self.post_message(DocumentOpened(filtered.with_filter(self.document, None)))

    # The prompt

    def prompt_typed(self, purpose: str, text: str) -> None:
        """Look for what is typed so far."""
        if purpose not in ("search", "filter") or self.document is None or self.prompt is None:
            super().prompt_typed(purpose, text)
            return
        asking = self.finder_of(self.document)
        asking.forget(self._preview(purpose))
        if finder.is_empty(text):
            self.prompt.say("")
            if purpose == "search":
                self._light(None)
        elif finder.reads_file(text):
            self.prompt.say("enter looks into the file")
        else:
            if self.prompt.wrong:
                self.prompt.say("searching …")
            asking.ask(self._preview(purpose), text)

    def prompt_entered(self, purpose: str, text: str, listed: bool) -> None:
        """Go to the first hit from the cursor on, or set the filter."""
        if purpose not in ("search", "filter") or self.document is None:
            super().prompt_entered(purpose, text, listed)
            return
        asking = self.finder_of(self.document)
        asking.forget(self._preview(purpose))
        if not finder.is_empty(text):
            self._awaited, self._lists_answer = text, listed
            asking.ask(purpose, text)
        elif purpose == "filter":
            self._set_filter("", None)
        elif self.search is not None:
            self._light(self.search.hits)
            if listed:
                self._list_hits(self.search)
            else:
                self.action_hit(1)

    def prompt_left(self, purpose: str) -> None:
        """As it was before."""
        if purpose not in ("search", "filter"):
            super().prompt_left(purpose)
            return
        if self._finder is not None:
            self._finder.forget(self._preview(purpose))
        if purpose == "search":
            self._light(None if self.search is None else self.search.hits)

    @staticmethod
    def _preview(purpose: str) -> str:
        return f"{purpose} typed"

    # Answers

    @on(Answered)
    def _answered(self, message: Answered) -> None:
        if self.document is None or self._finder is None:
            return
        if self._finder.trace is not self.document.trace:
            return
        if message.purpose in ("search", "filter"):
            self._answer_entered(message)
        elif self.prompt is not None and self.prompt.asked.purpose == message.purpose.split()[0]:
            self._answer_typed(message)

    def _answer_typed(self, message: Answered) -> None:
        assert self.prompt is not None
        assert self.document is not None
        if message.error:
            self.prompt.say(message.error, wrong=True)
            if not message.purpose.startswith("filter"):
                self._light(None)
        elif message.hits is None:
            self.prompt.say(f"searching … {message.share:.0%}")
        elif message.purpose.startswith("filter"):
            whole = units.count_text(len(self.document.trace), "slice")
            loosely = " ignoring case" if message.any_case else ""
            self.prompt.say(f"{units.number_text(len(message.hits))} of {whole}{loosely}")
        else:
            loosely = " ignoring case" if message.any_case else ""
            self.prompt.say(self._counted(message.hits) + loosely, wrong=not len(message.hits))
            self._light(message.hits if len(message.hits) else None)

    def _answer_entered(self, message: Answered) -> None:
        if message.error:
            self.say(message.error)
            if message.purpose == "search":
                self._light(None if self.search is None else self.search.hits)
        elif message.hits is None:
            self.say(f"searching the file … {message.share:.0%} (esc stops)")
        elif message.purpose == "filter":
            self._set_filter(message.text, message.hits)
        else:
            self._found(message.text, message.hits, message.any_case)

    def _found(self, text: str, hits: Hits, any_case: bool) -> None:
        awaited, self._awaited = self._awaited == text, None
        if not awaited and text != self._search_text:
            return  # it was asked for before another one was
        with self.one_act(Part.SEARCH):
            self.search, self._search_text = Search(text, hits, any_case=any_case), text
            self._light(hits if len(hits) else None)
            if awaited and not len(hits):
                self.say(f"nothing found for {text}")
            elif awaited and self._lists_answer:
                self._list_hits(self.search)
            elif awaited and self.look is not None:
                place = hits.at_or_after(self.look.cursor_ns)
                beyond = place == len(hits)
                self._go_to_hit(0 if beyond else place, "from the start: " if beyond else "")
        self._lists_answer = False

    def stop_search(self) -> bool:
        """Wait no longer for a search through the file; False where none is going on."""
        if self._awaited is None or self._finder is None:
            return False
        self._awaited = None
        self._finder.forget("search")
        self._finder.forget("filter")
        return True

    def _counted(self, hits: Hits) -> str:
        """Which of how many is next."""
        if not len(hits):
            return "nothing found"
        place = 0 if self.look is None else hits.at_or_after(self.look.cursor_ns)
        return f"{units.number_text(place % len(hits) + 1)} of {units.number_text(len(hits))}"

    # What is shown

    def _light(self, hits: Hits | None) -> None:
        from whichlayer.tui.widgets.hits_line import HitsLine
        from whichlayer.tui.widgets.timeline import Timeline

        screen = self.screen_stack[0]
        with self.batch_update():
            screen.query_one(HitsLine).take(hits)
            # Where nearly everything is found, lit bars would tell nothing apart.
            lit = hits is not None and 2 * len(hits) <= len(hits.mask)
            screen.query_one(Timeline).light(hits if lit else None)

    def _go_to_hit(self, place: int, first: str = "") -> None:
        search, document, view = self.search, self.document, self.look
        if search is None or document is None or view is None:
            return
        hits = search.hits
        row = int(hits.rows[place])
        view = travel.on_slice(document, view.at(int(hits.start_ns[place])), row)
        view = travel.on_row(document, view, view.row)
        self.look_at(view)
        search.at, search.view = place, self.look
        name = document.names.short(row)
        loosely = " ignoring case" if search.any_case else ""
        self.say(
            f"{first}{units.number_text(place + 1)} of {units.number_text(len(hits))}{loosely} · {name}"
        )

    def _list_hits(self, search: Search) -> None:
        from whichlayer.tui.hit_list import hit_list
        from whichlayer.tui.widgets.list_sheet import ListSheet

        groups = search.hits.groups
        first = [group.first for group in groups]

        def chosen(row: int | None) -> None:
            if row is None or self.search is not search or self.look is None:
                return
            self._go_to_hit(self._nearest_of(search, first[row]))

        sheet = ListSheet(self.panes[0].palette, hit_list(search.text, search.hits))
        self.push_screen(sheet.opened_by("hits"), chosen)

    def _nearest_of(self, search: Search, first: int) -> int:
        """Of the hits with the name of one, the first from the cursor on, else the first."""
        hits = search.hits
        places = hits.alike(first)
        assert self.look is not None
        later = places[hits.start_ns[places] >= self.look.cursor_ns]
        return int(later[0]) if len(later) else int(places[0])

    def _set_filter(self, text: str, hits: Hits | None) -> None:
        asked = not text or self._awaited == text
        if not asked and text != self._filter_text:
            return  # it was asked for before another one was
        with self.one_act(Part.FILTER):
            self._filter_text, self._awaited = text, None
        document = self.document
        if document is None or (hits is None and document.filter is None):
            return
        chosen = None if hits is None else filtered.Filter(text, hits.mask, len(hits))
        self.post_message(DocumentOpened(replace(filtered.with_filter(document, chosen))))
        if chosen is None:
            self.say("filter off")
        elif asked:
            whole = units.number_text(len(document.trace))
            self.say(f"shows {units.number_text(chosen.count)} of {whole} slices: x shows all")
