"""Calls of every operation, with values that its annotations allow and with others."""

from inspect import ismethod, signature
from random import Random
from typing import Any

from fuzz.case import Case
from fuzz.seeds import Seeds

_METHODS = """
to_dict to_polars to_pandas explain __str__ __repr__ _repr_html_ save write at of
remedy __getitem__ __len__ with_changes like from_targets from_frame kept values per_query mean
row
"""
METHODS = _METHODS.split()
"""Names of methods that some results have."""

_EXPRESSIONS = """
None True 0 1 3 -1 0.5 float('nan') float('inf') 10**30 'x' '' b'x' 'evals.jsonl' 'turned.jsonl'
'no.jsonl' 'chunks.jsonl' [] {} [[1]] object() range(3) (1,) 'recall@3' 1j [None] ...
bytearray(b'x') __import__('pathlib').Path('evals.jsonl') frozenset() -0.0
__import__('decimal').Decimal('0.5') __import__('numpy').int64(3) calipers.read('evals.jsonl')
calipers.evaluate('evals.jsonl') 'history.db' '@nightly' memoryview(b'x')
__import__('numpy').float32(0.5) print [float('nan')] __import__('uuid').UUID(int=1)
__import__('collections').OrderedDict(a=1) -(2**63) [b'a']
"""
VALUES = (
    *_EXPRESSIONS.split(),
    "[1, 'a', None]",
    "{'a', 'b'}",
    "{1: 2}",
    "{'q': ['a']}",
    "{'q': {'a', 'b'}}",
    "{'q': {'a': float('nan')}}",
    "{'recall@3': 0.5}",
    "{'recall@3': -1}",
    "lambda *a, **k: None",
    "['recall@3', 5]",
    "'\\ud800'",
    "'a\\x00b'",
    "'x' * 300",
    "[{'query': 'q', 'retrieved': {'a'}, 'ground_truth': ['a']}]",
    "[{'query': 'q', 'retrieved': [1.5], 'ground_truth': ['a']}]",
    "__import__('datetime').datetime(2026, 1, 1)",
    "__import__('datetime').date(2026, 1, 1)",
    "__import__('numpy').array([1, 3])",
    "__import__('numpy').array('a')",
    "{'q': __import__('numpy').array('a')}",
    "{'q': 2**130}",
    "__import__('polars').DataFrame({'query': ['q']})",
    "__import__('functools').reduce(lambda a, _: [a], range(900), [])",
    "iter([1, None])",
    "(one for one in ['recall@3'])",
    "{'type': 'even'}",
    "__import__('fractions').Fraction(1, 3)",
    "{'a': {'b': ['c']}}",
    "type('Own', (), {'__repr__': lambda self: 1 / 0})()",
    "[{'query': 'q'}]",
    "{'q': None}",
    "2**63 - 1",
    "'\\n'",
)
"""Expressions of Python."""
USUAL = {
    "data": "'evals.jsonl'",
    "scores": "calipers.evaluate('evals.jsonl')",
    "by": "'type'",
    "systems": "['evals.jsonl', 'turned.jsonl']",
    "path": "'main.json'",
    "to": "'out.json'",
    "name": "'nightly'",
    "reference": "'@nightly'",
    "target": "'out.db'",
    "source": "'history.db'",
    "store": "'history.db'",
    "search": "lambda query, k: ['a', 'b']",
    "questions": "['Who?']",
    "k": "2",
    "endpoint": "'http://127.0.0.1:9/v1'",
    "model": "'m'",
    "retries": "0",
    "chart": "'sweep'",
    "output": "'out.jsonl'",
    "require": "'recall@3 >= 0.1'",
    "corpus": "'chunks.jsonl'",
    "n": "2",
    "question": "'question number 3'",
    "retriever": "lambda query, k: ['d1', 'd2']",
    "judges": "['anna.jsonl', 'bo.jsonl']",
}
"""A value that makes sense for an argument of that name."""
CLASSES = ("Scores", "Run", "GroundTruth", "Policy", "Comparison", "Verdict", "Misses", "Report")
LEFT_OUT = ("serve", "web")


def call_case(operations: dict[str, dict[str, bool]], seeds: Seeds, random: Random) -> Case:
    """An operation with one or two odd arguments; those that it needs are there."""
    name = random.choice([one for one in operations if one not in LEFT_OUT])
    arguments = operations[name]
    given = {one: USUAL.get(one, "'evals.jsonl'") for one, needed in arguments.items() if needed}
    given |= {one: USUAL[one] for one in ("data", "store", "retries") if one in arguments}
    for one in random.choices(list(arguments), k=random.choice((1, 1, 2))) if arguments else ():
        given[one] = random.choice(VALUES)
    words = ", ".join(f"{one}={value}" for one, value in given.items())
    return Case("call", call=f"calipers.{name}({words})", files=tuple(seeds.common.items()))


def method_case(operations: dict[str, dict[str, bool]], seeds: Seeds, random: Random) -> Case:
    """A method of a result, or of a public class, with an odd value or two."""
    # What an operation wrote may stay where a method of its result refuses something.
    silent = [one for one in operations if not operations[one].get("to")]
    name = random.choice([one for one in silent if one not in LEFT_OUT])
    needs = {one: USUAL.get(one, "'evals.jsonl'") for one, need in operations[name].items() if need}
    if "data" in operations[name]:
        needs["data"] = USUAL["data"]
    made = f"calipers.{name}({', '.join(f'{one}={value}' for one, value in needs.items())})"
    if random.random() < 0.2:
        made = f"calipers.{random.choice(CLASSES)}"
    values = ", ".join(random.choices(VALUES, k=random.choice((0, 1, 1, 2))))
    ask = "__import__('fuzz.calls', fromlist=['ask']).ask"
    call = f"{ask}({made}, {random.choice(METHODS)!r}{', ' * bool(values)}{values})"
    return Case("method", call=call, files=tuple(seeds.common.items()))


def ask(result: Any, method: str, *values: Any) -> Any:
    """What the method answers; nothing where there is none, or it does not take so many values."""
    found = getattr(result, method, None)
    if isinstance(result, type) and not ismethod(found):
        return None  # a method of what the class makes
    try:
        signature(found).bind(*values)
    except (TypeError, ValueError):
        return None
    try:
        return found(*values)
    except (KeyError, IndexError):
        if method == "__getitem__":
            return None  # as any mapping or list says it
        raise


def operations_by_name() -> dict[str, dict[str, bool]]:
    """Every operation with its arguments, and whether it needs each."""
    from calipers.operation import arguments
    from calipers.operations import OPERATIONS

    return {
        name: {one.name: one.needed for one in arguments(operation.function).values()}
        for name, operation in OPERATIONS.items()
    }
