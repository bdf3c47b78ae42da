"""The store is taken away while somebody labels in a real browser: nothing is lost or doubled."""

import pytest

from tests.store.servers import server
from tests.web.outage import MovedFile, Relay
from tests.web.outages import judge_through

__all__ = ["server"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_label_is_lost_or_doubled_while_the_store_goes_and_comes(
    browser, tmp_path, request, kind
):
    outage: MovedFile | Relay
    if kind == "postgresql":
        outage = Relay(request.getfixturevalue("server").new_database())
    else:
        outage = MovedFile(str(tmp_path / "history.db"))
    found = judge_through(browser, outage, labels=20, outages=2, longest=0.4)
    if kind == "postgresql":
        outage.close()
    assert found["given"] == found["entries"] == 20
    assert (found["lost"], found["doubled"], found["wrong"]) == (0, 0, 0)
    assert found["left_in_browser"] == 0
