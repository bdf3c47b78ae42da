import math
import re

TEXT = """
The lighthouse at Cape Marrow was built in 1874. Its walls are of grey granite from the quarry at
Holm. The lamp burned whale oil at first, and paraffin from 1890. Electric light came in 1931.
The keeper lived in the tower with his family until 1968. Since then the lamp has been switched
from the harbour office by wire. The tower is 31 metres high and has 152 steps. The light can be
seen from 19 sea miles away in clear weather. In fog a horn sounds every thirty seconds. Two ships
ran aground below the cape in the storm of 1903, and nobody was lost. The boat house was washed
away in the same night. A new one stands on the east side, behind the sea wall. Visitors may climb
the tower on Sundays from May to September. The ticket office closes at four.
"""


def words(text):
    return re.findall(r"\w+", text.lower())


def chunks(size):
    every = TEXT.split()
    return [" ".join(every[at : at + size]) for at in range(0, len(every), size)]


def overlap(chunk_size):
    """Chunks that share most words with the question."""
    pieces = chunks(chunk_size)

    def search(query, k):
        asked = set(words(query))
        best = sorted(pieces, key=lambda piece: -len(asked & set(words(piece))))
        return [{"text": piece} for piece in best[:k]]

    return search


def rare_words(chunk_size):
    """The same, but a word counts more the fewer chunks have it."""
    pieces = chunks(chunk_size)
    bags = [set(words(piece)) for piece in pieces]

    def weight(word):
        return math.log((1 + len(bags)) / (1 + sum(word in bag for bag in bags)))

    def search(query, k):
        asked = set(words(query))
        scores = [sum(map(weight, asked & bag)) for bag in bags]
        best = sorted(range(len(pieces)), key=lambda i: -scores[i])
        return [{"text": pieces[i], "score": scores[i]} for i in best[:k]]

    return search
