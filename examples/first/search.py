import json
from pathlib import Path

CHUNKS = json.loads(Path(__file__).with_name("chunks.json").read_text())


def search(query, k):
    words = set(query.lower().strip("?").split())
    return sorted(CHUNKS, key=lambda c: -len(words & set(CHUNKS[c].lower().split())))[:k]
