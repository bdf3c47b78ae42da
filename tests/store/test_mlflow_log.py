"""Results in a real MLflow tracking store."""

import json
import re
from importlib.util import find_spec

import pytest

from calipers import log_to_mlflow
from calipers.errors import CalipersError, MissingExtra
from calipers.version import pip_install
from tests.command import calipers_command
from tests.systems import measured, records

# To look for it is quick; to import it takes every worker seconds, whoever has these tests.
pytestmark = pytest.mark.skipif(
    find_spec("mlflow") is None, reason="mlflow is not installed: pip install 'calipers[mlflow]'"
)


@pytest.fixture
def uri(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return f"sqlite:///{tmp_path}/mlflow.db"


@pytest.mark.filterwarnings("ignore")
def test_a_result_is_found_in_the_tracking_store(uri, tmp_path):
    from mlflow.artifacts import download_artifacts
    from mlflow.tracking import MlflowClient

    scores = measured([1, 2, None, 4] * 5, metrics="recall@5,mrr,ndcg@5(gain=exp)")
    page = tmp_path / "report.html"
    page.write_text("<p>report</p>")
    logged = log_to_mlflow(scores, uri, name="nightly", tags={"model": "e5"}, report=page)
    client = MlflowClient(uri)
    run = client.get_run(logged.run_id)
    assert client.get_experiment_by_name("calipers").experiment_id == run.info.experiment_id
    assert (run.info.run_name, run.info.status) == ("nightly", "FINISHED")
    assert run.data.metrics["recall_at_5/mean"] == scores["recall@5"].mean
    assert run.data.metrics["mrr/high"] == scores["mrr"].interval.high
    assert "ndcg_at_5_gain_exp/mean" in run.data.metrics
    assert run.data.params["policy.missing"] == "zero"
    assert run.data.params["fingerprint.ground_truth"] == scores.fingerprints["ground_truth"]
    assert run.data.tags["model"] == "e5"
    names = {one.path for one in client.list_artifacts(logged.run_id)}
    assert names == {"per_query.csv", "result.json", "report.html"}
    folder = download_artifacts(
        artifact_uri=f"{run.info.artifact_uri}/result.json", dst_path=str(tmp_path / "back")
    )
    with open(folder) as file:  # noqa: PTH123 - a plain path from the library
        assert json.load(file) == json.loads(json.dumps(scores.to_dict()))
    again = log_to_mlflow(scores, uri)
    assert (again.experiment, again.run_id != logged.run_id) == ("calipers", True)
    evals = tmp_path / "evals.json"
    evals.write_text(json.dumps(records([1, 2, None, 4] * 5)))
    said = calipers_command(
        "eval", evals, "-m", "recall@5,mrr,ndcg@5(gain=exp)", "--mlflow", uri, "--json"
    )
    assert said.code == 0, said.err
    last, *_ = client.search_runs([run.info.experiment_id], order_by=["start_time DESC"])
    assert last.data.metrics == run.data.metrics


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "address", ["http://ann:s3cret@127.0.0.1:9", "mysql://ann:s3cret@127.0.0.1/x", "ftp://x", "x"]
)
def test_a_store_that_cannot_be_used_is_a_sentence(address, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(CalipersError, match="MLflow") as caught:
        log_to_mlflow(measured([1, 2]), address)
    assert "s3cret" not in str(caught.value)


def test_without_mlflow_the_command_that_installs_it_is_named(monkeypatch, uri):
    monkeypatch.setitem(__import__("sys").modules, "mlflow.tracking", None)
    with pytest.raises(MissingExtra, match=re.escape(pip_install("mlflow"))):
        log_to_mlflow(measured([1, 2]), uri)
