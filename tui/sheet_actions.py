"""Sheets over the screen, and what keys do with the thing at hand: explain, copy, open."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from whichlayer.tui.acting import NOT_THERE_YET, Acting
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.messages import StretchChosen, Subject

# Nobody opens a sheet before the first picture.
if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.steps import folded
    from whichlayer.tui import (
        at_hand,
        copies,
        explain_sheet,
        finding_sheet,
        folded_sheet,
        sections,
        source_lines,
        travel,
    )
    from whichlayer.tui.at_hand import AtHand
    from whichlayer.tui.sheet import Sheet, Target
    from whichlayer.tui.widgets.text_sheet import Left
else:
    at_hand = Deferred("whichlayer.tui.at_hand")
    folded = Deferred("whichlayer.analysis.steps.folded")
    copies = Deferred("whichlayer.tui.copies")
    explain_sheet = Deferred("whichlayer.tui.explain_sheet")
    finding_sheet = Deferred("whichlayer.tui.finding_sheet")
    folded_sheet = Deferred("whichlayer.tui.folded_sheet")
    sections = Deferred("whichlayer.tui.sections")
    source_lines = Deferred("whichlayer.tui.source_lines")
    travel = Deferred("whichlayer.tui.travel")

_NOT_YET = f"this {NOT_THERE_YET}"


class SheetActions(Acting):
    """``A I B @ # Y``."""

    def __init__(self, **settings: Any) -> None:
        """Nothing was opened yet."""
        super().__init__(**settings)
        self._sections: tuple[Analysis, sections.Sections] | None = None
        self._section_row = 0

    @property
    def opened_with(self) -> tuple[str, Options]:
        """The file and the options that were asked for on the command line."""
        raise NotImplementedError

    @property
    def subject(self) -> Subject | None:
        """What a table speaks of, while it has the focus."""
        raise NotImplementedError

    # Sheets

    def open_sheet(self, sheet: Sheet, left: Callable[[Left], None] | None = None,
                   keys: tuple[str, ...] = (), own: str = "") -> None:  # fmt: skip
        """Show a sheet; enter in it goes to a place, other ways out are the caller's.

        Args:
            sheet: what is shown.
            left: told how it was left, but for a place.
            keys: keys that leave it for the caller.
            own: id of the key that opens it, and closes it too.
        """
        from whichlayer.tui.widgets.text_sheet import TextSheet

        def closed(how: Left | None) -> None:
            if how is None:
                return
            if how.target is not None:
                at = how.target
                chosen = StretchChosen(at.start_ns, at.end_ns, at.slice_row, at.device)
                self.post_message(chosen)
            elif left is not None:
                left(how)

        shown = TextSheet(self.panes[0].palette, sheet, keys)
        self.push_screen(shown.opened_by(own), closed)

    def action_sections(self) -> None:
        """The verdict views as a list; enter opens one."""
        from whichlayer.tui.widgets.list_sheet import Listed, ListSheet

        if self._analysis() is None:
            return
        listed = Listed(
            "views", ("view", "question"),
            [(one.title, one.asks) for one in sections.SECTIONS], "", "enter opens · esc closes",
        )  # fmt: skip

        def chosen(row: int | None) -> None:
            if row is not None:
                self.open_section(row)

        views = ListSheet(self.panes[0].palette, listed, self._section_row)
        self.push_screen(views.opened_by("sections"), chosen)

    def open_section(self, row: int) -> None:
        """Open the view at a place of ``sections.SECTIONS``; its keys open its neighbours."""
        analysis = self._analysis()
        if analysis is None:
            return
        self._section_row = row % len(sections.SECTIONS)
        if self._sections is None or self._sections[0] is not analysis:
            self._sections = (analysis, sections.Sections(analysis))
        sheet = self._sections[1].sheet(sections.SECTIONS[self._section_row])
        self.open_sheet(
            sheet, lambda how: self.open_section(row + how.step) if how.step else None,
            own="sections",
        )  # fmt: skip

    def action_section(self, word: str) -> None:
        """Open the view of an id."""
        found = [i for i, one in enumerate(sections.SECTIONS) if one.id == word]
        if found:
            self.open_section(found[0])

    def action_finding(self) -> None:
        """The chosen finding in full; without one, the first that holds the cursor, or the first."""
        analysis = self._analysis()
        if analysis is None:
            return
        finding = self._finding(analysis)
        if finding is None:
            self.say(f"nothing found that costs 5 % of the {analysis.options.whole}")
            return
        place = analysis.findings.index(finding)
        self.open_finding(place)

    def open_finding(self, place: int) -> None:
        """Open a finding by its place; keys open its neighbours, its place, or copy."""
        analysis = self._analysis()
        if analysis is None or not analysis.findings:
            return
        place %= len(analysis.findings)
        finding = analysis.findings[place]
        sheet = finding_sheet.finding_sheet(analysis, finding, self.opened_with[0])

        def left(how: Left) -> None:
            if how.step:
                self.open_finding(place + how.step)
            elif how.key == "number_sign":
                self._edit(at_hand.of_finding(finding))
            else:
                self._copy(at_hand.of_finding(finding))

        self.open_sheet(sheet, left, ("number_sign", "Y"), own="finding")

    def action_folded(self) -> None:
        """All steps over one another."""
        analysis = self._analysis()
        if analysis is None or self.look is None:
            return
        if not analysis.devices:
            self.say("no GPU activity: no steps to compare")
            return
        device = min(self.look.device, len(analysis.devices) - 1)
        if folded.fold_steps(analysis, device, 1) is None:
            self.open_sheet(folded_sheet.no_steps_sheet(analysis, device), own="folded")
            return
        from whichlayer.tui.widgets.folded_screen import FoldedScreen

        def closed(at: Target | None) -> None:
            if at is not None:
                self.post_message(StretchChosen(at.start_ns, at.end_ns, at.slice_row, at.device))

        assert self.document is not None
        self.push_screen(FoldedScreen(self.panes[0].palette, self.document, device), closed)

    # The thing at hand

    def action_explain(self) -> None:
        """What owner, cause and numbers of the thing at hand mean."""
        from whichlayer.tui.widgets.region import RegionPane

        said = self.screen_stack[0].query_one(RegionPane).said
        here = (self.focused.id if self.focused is not None else None) or ""
        labelled = any(line.label for line in said) and self._analysis() is not None
        this = self._this(asks=not labelled)
        if this is None and labelled:
            this = at_hand.AtHand("what is under the cursor", words=("window", "layer budget"))
        if this is not None:
            self.open_sheet(explain_sheet.explain_sheet(this, said, here), own="explain")

    def action_edit(self) -> None:
        """Open the place of the thing at hand in the user's editor."""
        this = self._this()
        if this is not None:
            self._edit(this)

    def action_copy(self) -> None:
        """Choose what of the thing at hand is copied."""
        this = self._this()
        if this is not None:
            self._copy(this)

    def _edit(self, this: AtHand) -> None:
        where, (path, options) = this.where, self.opened_with
        if where.file is None:
            self.say(f"no line of code is known: {where.record or 'nothing recorded leads to one'}")
            return
        found = source_lines.find_source(where.file, path, options.source_roots)
        if found is None:
            self.say(f"{where} is not on this machine (source_roots says where to look)")
            return
        command = source_lines.editor_command(found, where.line, os.environ)
        if not command:
            self.say(f"set $VISUAL or $EDITOR to open {where}")
            return
        try:
            with self.suspend():
                status = subprocess.run(command, check=False).returncode
        except SuspendNotSupported:
            self.say(f"this terminal cannot be handed over: {where}")
        except (OSError, ValueError) as error:
            self.say(f"{command[0]}: {getattr(error, 'strerror', None) or error}")
        else:
            self.say(f"{command[0]} left with status {status}" if status else f"back from {where}")

    def _copy(self, this: AtHand) -> None:
        from whichlayer.tui.widgets.list_sheet import ListSheet

        things = copies.things(this)
        if not things:
            self.say("nothing to copy here")
            return

        def chosen(row: int | None) -> None:
            if row is not None:
                self.copy_to_clipboard(copies.bounded(things[row].text))
                self.say(f"copied {things[row].name}: {things[row].text.splitlines()[0]}")

        sheet = ListSheet(self.panes[0].palette, copies.listed(things))
        self.push_screen(sheet.opened_by("copy"), chosen)

    def _this(self, asks: bool = True) -> AtHand | None:
        document, view = self.document, self.look
        if document is None or view is None or self._analysis() is None:
            return None
        here = travel.slice_at(document, travel.rows_of(document, view), view)
        this = at_hand.at_hand(document, view, self.subject, here)
        if this is None and asks:
            self.say("neither a slice nor a gap at the cursor")
        return this

    def _finding(self, analysis: Analysis) -> Any:
        from whichlayer.analysis.results import Finding

        if isinstance(self.subject, Finding):
            return self.subject
        view = self.look
        for one in analysis.findings if view is not None else ():
            assert view is not None
            if any(
                region.start_ns <= view.cursor_ns < region.end_ns and region.device == view.device
                for region in one.regions
            ):
                return one
        return analysis.findings[0] if analysis.findings else None

    def _analysis(self) -> Analysis | None:
        if self.document is None or self.document.analysis is None:
            self.say(_NOT_YET)
            return None
        return self.document.analysis
