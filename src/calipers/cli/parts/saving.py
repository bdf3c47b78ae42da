"""Options that keep an evaluation, and the keeping; shared by the commands that measure."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calipers.cli.parts import renamed
from calipers.errors import CalipersError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from calipers.model.scores import Scores
    from calipers.questions.evaluate.result import Evaluation
    from calipers.questions.report.result import Report

F = TypeVar("F", bound=Callable[..., Any])


def save_options(function: F) -> F:
    """--save, --tag, --no-results and --mlflow, handed on as one ``saving``."""
    return renamed.apply(
        click.option(
            "--save",
            metavar="NAME",
            help="Keep the evaluation in the history under this name (see `calipers history`).",
        ),
        click.option(
            "--tag",
            "tags",
            multiple=True,
            metavar="NAME=VALUE",
            help="Tag what is kept, such as model=e5; may be given several times.",
        ),
        click.option(
            "--no-results",
            is_flag=True,
            help="Keep the scores without what was retrieved; takes less room.",
        ),
        click.option(
            "--mlflow",
            metavar="URI",
            help="Log to this MLflow tracking store, such as sqlite:///mlflow.db.",
        ),
    )(function)


class Saving:
    """What is to be kept, checked before any work is done."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.name: str | None = settings.pop("save")
        self.tags = tag_pairs(settings.pop("tags"))
        self.results = not settings.pop("no_results")
        self.mlflow: str | None = settings.pop("mlflow")
        self.store: str | None = settings.get("store")
        if self.name is not None:
            from calipers.store.record import check_name, check_tags

            check_name(self.name)
            check_tags(self.tags)
        elif not self.results or (self.tags and self.mlflow is None):
            option = "--no-results" if not self.results else "--tag"
            raise InvalidInput(
                f"{option} is given and nothing is kept; add --save NAME, or leave it out."
            )

    @property
    def wanted(self) -> bool:
        """Whether anything is to be kept."""
        return self.name is not None or self.mlflow is not None

    def keep(self, found: "Evaluation", corpus: str | None, report: "Report | None" = None) -> None:
        """Keep the evaluation, which is printed by now: a failure here takes nothing away."""
        failed: list[str] = []
        if self.name is not None:
            try:
                self._save(self.name, found, corpus)
            except CalipersError as error:
                failed.append(str(error))
        if self.mlflow is not None:
            try:
                self._log(self.mlflow, found.result, report)
            except CalipersError as error:
                failed.append(str(error))
        if failed:
            raise InvalidInput(" ".join([*failed, "The evaluation above was not kept there."]))

    def _save(self, name: str, found: "Evaluation", corpus: str | None) -> None:
        from calipers.questions.history.settings import save
        from calipers.store.place import locate

        saved = save(
            found.result,
            name,
            tags=self.tags,
            store=self.store,
            corpus=corpus,
            ground_truth=found.pair and found.pair.ground_truth,
            run=found.pair and found.pair.run,
            results=self.results,
        )
        where = locate(self.store, create=True).shown
        click.echo(f"Saved as {saved.name} (@{saved.short}) in {where}.", err=True)

    def _log(self, uri: str, scores: "Scores", report: "Report | None") -> None:
        import tempfile
        from pathlib import Path

        from calipers.questions.history.settings import log_to_mlflow

        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            try:
                if report is not None:
                    from calipers.questions.report.show import save_html

                    save_html(report, page)
            except MissingExtra as error:
                click.echo(f"Logging without the report: {error}", err=True)
            logged = log_to_mlflow(
                scores, uri, name=self.name, tags=self.tags, report=page if page.exists() else None
            )
        click.echo(f"Logged to MLflow as run {logged.run_id} of {logged.experiment}.", err=True)


def tag_pairs(given: tuple[str, ...]) -> dict[str, str]:
    """The tags of ``--tag model=e5 --tag chunk=400``, and of ``--with-tag`` alike.

    >>> tag_pairs(("model=e5", "note=a=b"))
    {'model': 'e5', 'note': 'a=b'}
    """
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name or not value:
            raise InvalidInput(f"The tag {one!r} cannot be read; write name=value, as model=e5.")
        if name in found:
            raise InvalidInput(f"The tag {name!r} is given twice; give it one value.")
        found[name] = value
    return found
