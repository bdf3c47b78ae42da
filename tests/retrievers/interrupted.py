"""A retrieval that another process can kill."""

from calipers.api.retrieve import retrieve_to_report


def run(address: str, questions: list[str], output: str) -> None:
    retrieve_to_report(
        address, questions, k=5, output=output, results="$.hits[*]", workers=4, timeout=5, retries=1
    )
