"""Log a result to MLflow, in MLflow's own spelling."""

import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput, MissingExtra, WriteFailed
from calipers.io.files.write import write_table
from calipers.model.scores import Scores
from calipers.store.git import git_state
from calipers.store.place import StorePlace, without_password
from calipers.store.result import Logged
from calipers.version import pip_install

EXPERIMENT = "calipers"
SCHEMES = ("sqlite", "postgresql", "mysql", "mssql", "http", "https", "databricks", "uc")
_ODD = re.compile(r"[^\w\-./: ]+")


def log_to_mlflow(
    scores: Scores,
    uri: str,
    *,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
    experiment: str | None = None,
    report: str | Path | None = None,
) -> Logged:
    """Log parameters, metrics, the per-query table and the whole result as one run."""
    _check(uri)
    client, errors = _client(uri)
    chosen = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT
    try:
        with _quiet():
            found = client.get_experiment_by_name(chosen)
            number = found.experiment_id if found else client.create_experiment(chosen)
            run_id = client.create_run(number, run_name=name, tags=_tags(tags)).info.run_id
            _log(client, run_id, scores, report)
            client.set_terminated(run_id)
    except errors as error:
        raise WriteFailed(
            f"The result cannot be logged to MLflow at {_shown(uri)}: {_first_line(error, uri)}; "
            "check the address and that it can be reached."
        ) from None
    return Logged(run_id, chosen)


def mlflow_name(metric: str) -> str:
    """A metric as MLflow spells it.

    >>> mlflow_name("recall@10"), mlflow_name("mrr"), mlflow_name("ndcg@5(gain=exp)")
    ('recall_at_10', 'mrr', 'ndcg_at_5_gain_exp')
    """
    return _ODD.sub("_", metric.replace("@", "_at_")).strip("_")


def parameters(scores: Scores) -> dict[str, str]:
    """The settings behind the numbers, as flat names and texts."""
    found: dict[str, Any] = {
        name: value for name, value in scores.settings.items() if name != "notes"
    }
    found |= {f"policy.{name}": value for name, value in scores.policy.to_dict().items()}
    found |= {f"fingerprint.{name}": value for name, value in scores.fingerprints.items()}
    found |= {f"weight.{mlflow_name(name)}": value for name, value in scores.weights.items()}
    found["queries"] = len(scores)
    return {name: str(value) for name, value in found.items() if value is not None}


def measurements(scores: Scores) -> dict[str, float]:
    """Mean, median and the ends of the interval of every metric."""
    found: dict[str, float] = {}
    for metric, summary in scores.summaries.items():
        if summary.mean is None or summary.median is None:
            continue
        found[f"{mlflow_name(metric)}/mean"] = summary.mean
        found[f"{mlflow_name(metric)}/median"] = summary.median
        if summary.interval is not None:
            found[f"{mlflow_name(metric)}/low"] = summary.interval.low
            found[f"{mlflow_name(metric)}/high"] = summary.interval.high
    return found


def _log(client: Any, run_id: str, scores: Scores, report: str | Path | None) -> None:
    for name, value in parameters(scores).items():
        client.log_param(run_id, name, value)
    for name, number in measurements(scores).items():
        client.log_metric(run_id, name, number)
    with tempfile.TemporaryDirectory() as folder:
        table, result = Path(folder) / "per_query.csv", Path(folder) / "result.json"
        write_table(scores.per_query, table)
        result.write_bytes(msgspec.json.format(msgspec.json.encode(scores.to_dict()), indent=2))
        for path in (table, result, *([Path(report)] if report else [])):
            client.log_artifact(run_id, str(path))


def _tags(tags: Mapping[str, str] | None) -> dict[str, str]:
    state = git_state()
    git = {"mlflow.source.git.commit": state.commit, "mlflow.source.git.branch": state.branch}
    return {**{n: v for n, v in git.items() if v is not None}, **(tags or {})}


def _client(uri: str) -> tuple[Any, tuple[type[Exception], ...]]:
    # MLflow sends usage data unless this is set before it is imported.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # By default it retries a server that does not answer for some minutes.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    try:
        from importlib import import_module

        tracking = import_module("mlflow.tracking")
        refused = import_module("mlflow.exceptions").MlflowException
    except ImportError:
        raise MissingExtra(
            f"Logging to MLflow needs the library mlflow: {pip_install('mlflow')}"
        ) from None
    from sqlalchemy.exc import SQLAlchemyError

    errors = (refused, OSError, ValueError, ImportError, SQLAlchemyError)
    try:
        with _quiet():
            return tracking.MlflowClient(tracking_uri=uri), errors
    except errors as error:
        raise WriteFailed(
            f"MLflow cannot be used at {_shown(uri)}: {_first_line(error, uri)}; check the address."
        ) from None


def _check(uri: str) -> None:
    scheme = uri.partition("://")[0].partition("+")[0].lower()
    if scheme not in SCHEMES and uri != "databricks":
        raise InvalidInput(
            f"The address of MLflow is {_shown(uri)!r}; it is a server such as "
            "http://127.0.0.1:5000, or a database such as sqlite:///mlflow.db."
        )


def _shown(uri: str) -> str:
    return without_password(uri) if "://" in uri else uri


def _first_line(error: Exception, uri: str) -> str:
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    return StorePlace("postgresql", "", address=uri).redact(said).rstrip(".")[:300]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence MLflow and its database tools, which log their setup to standard error."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
