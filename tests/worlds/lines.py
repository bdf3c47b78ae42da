"""The command lines that make sense in a world."""

from collections.abc import Iterator

from tests.worlds.check import Asked
from tests.worlds.world import CLUSTER, WEIGHT, World

SAVE = "gate save {a} -m recall@10,ndcg@10 -o main.json"
NIGHT = "eval {file} -m {metric} --save nightly --store history.db"


def asked_of(world: World) -> list[Asked]:
    """The command lines that make sense in a world."""
    return [*(_of_judged_rows(world) if world.judged_rows else _of_whole(world))]


def _of_judged_rows(world: World) -> Iterator[Asked]:
    """Commands for tables in which only returned rows were judged."""
    a, b = world.file("a"), world.file("b")
    yield Asked(f"eval {a}")
    yield Asked(f"eval {a} -k 3")
    yield Asked(f"compare {a} {b} -m precision@5,hit_rate@5", "b", "a", may_refuse=True)
    yield Asked(f"gate {a} --require 'precision@5 >= 0.2'")
    yield Asked(f"sweep {a}", may_refuse=True)
    yield Asked(f"misses {a}", may_refuse=True)
    yield Asked(f"diagnose {a}", may_refuse=True)
    yield Asked(f"audit {a}", may_refuse=True)


def _of_whole(world: World) -> Iterator[Asked]:
    """Commands for files that hold what should be found."""
    every = " ".join(world.file(name) for name in world.systems)
    save = (SAVE.format(a="a.jsonl"),)
    yield Asked("eval a.jsonl")
    yield Asked("eval a.jsonl -m ndcg@10,recall@5")
    yield Asked("eval a.jsonl -m precision,hit_rate,mrr -k 3")
    yield Asked("sweep a.jsonl")
    yield Asked("sweep a.jsonl -k 1,3,5")
    yield Asked(f"compare {every}")
    yield Asked("compare a.jsonl b.jsonl -m ndcg@10,recall@5", "b", "a")
    yield Asked("compare b.jsonl a.jsonl -m precision@5,mrr", "a", "b")
    yield Asked("gate b.jsonl --baseline main.json", "b", "a", first=save)
    yield Asked("gate a.jsonl --require 'recall@10 >= 0.5'")
    yield Asked("audit truth.jsonl")
    yield Asked("misses a.jsonl")
    yield Asked("diagnose a.jsonl")
    yield Asked("plan a.jsonl b.jsonl --difference 0.1", "b", "a", may_refuse=True)
    yield Asked("grow a.jsonl", may_refuse=True)
    yield Asked("fuse a.jsonl b.jsonl", may_refuse=True)
    if len(world.systems) > 2:
        yield Asked(f"fuse {every}", may_refuse=True)
    yield Asked("grow a.jsonl --times 1.5,3,6 -k 3,10", may_refuse=True)
    yield Asked("fuse a.jsonl b.jsonl -m mrr@10,recall@5", may_refuse=True)
    yield Asked("fuse a.jsonl b.jsonl -m ndcg@5,precision@5", may_refuse=True)
    yield Asked("seal truth.jsonl", may_refuse=True)
    sealed = ("seal truth.jsonl",)
    yield Asked(
        "confirm a.jsonl b.jsonl --sealed truth.sealed.jsonl", first=sealed, may_refuse=True
    )
    yield Asked("compare a.jsonl b.jsonl --changes -k 3", "b", "a")
    yield Asked("explain q000 --run a.jsonl -g truth.jsonl", may_refuse=True)
    yield Asked("labels draft a.jsonl b.jsonl -k 3 -o pool.csv")
    nights = [world.file(name) for name in "aab"]
    saved = tuple(NIGHT.format(file=file, metric="recall@10") for file in nights)
    yield Asked("history alarm nightly --store history.db", "b", "a", first=saved)
    yield Asked("history --store history.db", first=saved[:2])
    yield Asked("history show nightly --store history.db", first=saved[:1])
    yield Asked("history trend nightly --store history.db", "b", "a", first=saved)
    if world.scores:
        yield Asked("sweep a.jsonl --floor", may_refuse=True)
    tags = {tag for question in world.questions for tag in question.tags}
    if "type" in tags:
        yield Asked("eval a.jsonl --by type -m recall@10")
        yield Asked("gate b.jsonl --baseline main.json --by type", "b", "a", first=save)
        yield Asked("diagnose a.jsonl --explain")
    if WEIGHT in tags:
        by = f"--weight-by {WEIGHT}"
        yield Asked(f"eval a.jsonl {by}", weighted=True)
        yield Asked(f"compare a.jsonl b.jsonl {by}", "b", "a", weighted=True)
        yield Asked(f"sweep a.jsonl {by}", may_refuse=True, weighted=True)
        yield Asked(f"grow a.jsonl {by}", may_refuse=True, weighted=True)
    if CLUSTER in tags:
        yield Asked(f"eval a.jsonl --cluster {CLUSTER}")
        yield Asked(f"compare a.jsonl b.jsonl --cluster {CLUSTER}", "b", "a")
        yield Asked(f"gate b.jsonl --baseline main.json --cluster {CLUSTER}", "b", "a", first=save)
        yield Asked(f"plan a.jsonl b.jsonl --difference 0.1 --cluster {CLUSTER}", may_refuse=True)
        yield Asked(f"fuse a.jsonl b.jsonl --cluster {CLUSTER}", may_refuse=True)
