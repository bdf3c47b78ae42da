"""What keeps an evaluation in the history, or logs it to MLflow."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from calipers.errors import CalipersError, InvalidInput, MissingExtra
from calipers.questions.spellings import tag_pairs

if TYPE_CHECKING:
    from calipers.model.scores import Scores
    from calipers.questions.evaluate.rule import EvaluationAnswer
    from calipers.questions.report.result import Report


class Saving:
    """What is to be kept, checked before any work is done."""

    def __init__(
        self, settings: Mapping[str, Any], tags: tuple[str, ...], *, results: bool
    ) -> None:
        self.settings = settings
        self.name: str | None = settings.get("save")
        self.mlflow: str | None = settings.get("mlflow")
        self.tags = tag_pairs(tags)
        self.results = results
        if self.name is not None:
            from calipers.store.record import check_name, check_tags

            check_name(self.name)
            check_tags(self.tags)
        elif not self.results or (self.tags and self.mlflow is None):
            option = "--no-results" if not self.results else "--tag"
            raise InvalidInput(
                f"{option} is given and nothing is kept; add --save NAME, or leave it out."
            )

    def keep(self, found: "EvaluationAnswer", report: "Report | None" = None) -> None:
        """Keep the evaluation, which is printed by now: a failure here takes nothing away."""
        failed: list[str] = []
        if self.name is not None:
            try:
                self._save(self.name, found)
            except CalipersError as error:
                failed.append(str(error))
        if self.mlflow is not None:
            try:
                self._log(self.mlflow, found.result, report)
            except CalipersError as error:
                failed.append(str(error))
        if failed:
            raise InvalidInput(" ".join([*failed, "The evaluation above was not kept there."]))

    def _save(self, name: str, found: "EvaluationAnswer") -> None:
        from calipers.questions.history.settings import save
        from calipers.store.place import locate

        store = self.settings.get("store")
        saved = save(
            found.result,
            name,
            tags=self.tags,
            store=store,
            corpus=self.settings.get("corpus"),
            ground_truth=found.pair and found.pair.ground_truth,
            run=found.pair and found.pair.run,
            results=self.results,
        )
        where = locate(store, create=True).shown
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
