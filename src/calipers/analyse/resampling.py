"""Resampling that gives the same bits on every machine.

Three things usually make a seeded bootstrap differ from one machine to the next, and each is
taken away here:

- *The generator.* Only the raw 64-bit output of PCG64 is used, which numpy promises never to
  change; the methods built on it (``integers``, ``choice``) carry no such promise.
- *The mapping to indices.* Own integer arithmetic, with rejection, so there is no bias either.
- *The order of a sum.* Values are put on a grid of whole multiples of a power of two, coarse
  enough that every partial sum is a whole number below 2**53. Such sums are exact in float64,
  so any order of summation (any BLAS, any number of threads, any block size) gives the same
  result. The grid moves a value by less than its column's largest magnitude times n / 2**51.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InvalidInput

FloatArray = NDArray[np.float64]

# Cells (resamples x values) worked on at once: about 2 MB of scratch, which stays in the cache.
# With many columns the product outweighs the drawing, and is quicker in few large pieces.
# The result does not depend on either.
CELLS_PER_BLOCK = 1 << 16
_MANY_COLUMNS = 32
_LARGER_BLOCKS = 16
MOST_RESAMPLES = 1_000_000
"""Ends of intervals and p-values no longer move at this number; more would only fill memory."""
_LARGEST_MAGNITUDE = 1e300
_WORD = 64


def bootstrap_means(values: ArrayLike, resamples: int = 2000, seed: int = 0) -> FloatArray:
    """Means of `resamples` samples drawn with replacement from the rows of `values`.

    `values` is (n, m), one column per metric, without NaN. The same rows are drawn for every
    column, and a column gets the same means whether it comes alone or with others.

    >>> bootstrap_means([[0.0, 1.0], [1.0, 1.0]], resamples=4, seed=1).tolist()
    [[0.5, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    """
    columns = finite_columns(values)
    n, m = columns.shape
    require_resamples(resamples)
    if n == 0:
        raise InvalidInput("There is nothing to resample: found 0 rows, at least 1 is needed.")
    grid, exponents = to_grid(columns, exact_bits(n))
    stream = IndexStream(n, seed)
    sums = np.empty((resamples, m))
    for start, stop in blocks(resamples, rows_at_once(n, m)):
        sums[start:stop] = _counts(stream, stop - start, n) @ grid
    means: FloatArray = np.ldexp(sums / n, exponents)
    return means


def _counts(stream: "IndexStream", rows: int, n: int) -> FloatArray:
    """How often each of n values was drawn, in each of `rows` resamples."""
    if rows == 1:
        # A resample wider than a block is drawn in pieces, to hold no more than its counts.
        tally = np.zeros(n, dtype=np.int64)
        for start, stop in blocks(n, CELLS_PER_BLOCK):
            np.add.at(tally, stream.take(stop - start), 1)
    else:
        row_starts = np.arange(rows)[:, np.newaxis] * n
        cells = (stream.take(rows * n).reshape(rows, n) + row_starts).ravel()
        tally = np.bincount(cells, minlength=rows * n)
    return tally.reshape(rows, n).astype(np.float64)


class IndexStream:
    """An endless stream of uniform indices below n, the same however it is cut into pieces.

    Each 32-bit half u of a raw word (low half first) becomes the index u * n // 2**32. The few
    u that would make some indices likelier than others (2**32 mod n of them) are passed over.

    >>> stream = IndexStream(6, seed=0)
    >>> pieces = stream.take(2).tolist() + stream.take(3).tolist()
    >>> pieces == IndexStream(6, seed=0).take(5).tolist()
    True
    """

    def __init__(self, n: int, seed: int) -> None:
        if not 0 < n < 1 << 32:
            raise InvalidInput(
                f"The number of values to draw from is out of range: found {n}, "
                "1 to 4294967295 is allowed."
            )
        self._n = np.uint64(n)
        self._skipped_below = (1 << 32) % n
        self._source = raw_source(seed)
        self._waiting = np.empty(0, dtype=np.int64)

    def take(self, count: int) -> NDArray[np.int64]:
        """The next `count` indices."""
        while self._waiting.size < count:
            words = (count - self._waiting.size + 1) // 2
            self._waiting = np.concatenate([self._waiting, self._draw(words)])
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def _draw(self, words: int) -> NDArray[np.int64]:
        raw = self._source.random_raw(words).astype("<u8", copy=False)
        products = raw.view("<u4").astype(np.uint64) * self._n
        remainders = products.astype(np.uint32)  # the low half; unsigned casts wrap
        indices = (products >> np.uint64(32)).astype(np.int64)
        if int(remainders.min()) < self._skipped_below:
            indices = indices[remainders >= self._skipped_below]
        return indices


def rows_at_once(n: int, columns: int) -> int:
    """How many resamples of n values to work on at once, for so many columns.

    >>> rows_at_once(1000, columns=20), rows_at_once(1000, columns=200)
    (65, 1048)
    """
    cells = CELLS_PER_BLOCK * (_LARGER_BLOCKS if columns > _MANY_COLUMNS else 1)
    return max(1, cells // max(n, 1))


def sign_blocks(n: int, resamples: int, seed: int, columns: int = 1) -> Iterator[FloatArray]:
    """Rows of n fair coins (0.0 or 1.0), `resamples` rows in all, a block at a time.

    The blocks fit a product with so many columns. Bit i of a row is bit i % 64 of its raw word
    i // 64; a row starts on a new word.

    >>> [block.shape for block in sign_blocks(n=3, resamples=5, seed=0)]
    [(5, 3)]
    """
    require_resamples(resamples)
    source = raw_source(seed)
    words = -(-n // _WORD)
    for start, stop in blocks(resamples, rows_at_once(n, columns)):
        raw = source.random_raw((stop - start) * words).astype("<u8", copy=False)
        octets = raw.reshape(-1, words).view(np.uint8)
        yield np.unpackbits(octets, axis=1, count=n, bitorder="little").astype(np.float64)


def exact_bits(n: int) -> int:
    """Bits a whole number may have so that any sum of n of them, doubled, is exact in float64.

    >>> exact_bits(1000)
    42
    """
    return 52 - n.bit_length()


def to_grid(columns: FloatArray, bits: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """Each column as whole numbers of at most `bits` bits, and the exponent that scales it back.

    >>> grid, exponents = to_grid(np.array([[0.5], [-2.0]]), bits=4)
    >>> grid.tolist(), np.ldexp(grid, exponents).tolist()
    ([[2.0], [-8.0]], [[0.5], [-2.0]])
    """
    magnitudes = np.abs(columns).max(axis=0, initial=0.0)
    exponents = np.frexp(magnitudes)[1].astype(np.int64) - bits
    return np.rint(np.ldexp(columns, -exponents)), exponents


def as_columns(values: ArrayLike) -> FloatArray:
    """`values` as an (n, m) array of floats, NaN allowed.

    >>> as_columns([[1], [None]]).tolist()
    [[1.0], [nan]]
    """
    columns = np.asarray(values, dtype=np.float64)
    if columns.ndim != 2:
        raise InvalidInput(
            f"The values have the wrong shape: found {columns.ndim} dimensions, "
            "2 are needed (one row per query, one column per metric)."
        )
    return columns


def finite_columns(values: ArrayLike) -> FloatArray:
    """`values` as an (n, m) array, refused where a value is not a finite number.

    >>> finite_columns([[1], [2]]).shape
    (2, 1)
    """
    columns = as_columns(values)
    usable = np.abs(columns) <= _LARGEST_MAGNITUDE  # False for NaN too
    if not usable.all():
        row, column = (int(at) for at in np.argwhere(~usable)[0])
        raise InvalidInput(
            f"A value cannot be averaged, row {row}, column {column}: found "
            f"{columns[row, column]}, a number between -1e300 and 1e300 is allowed."
        )
    return columns


def raw_source(seed: int) -> np.random.PCG64:
    """The generator of raw words for a seed.

    >>> raw_source(0).random_raw(1).tolist()
    [11749869230777074271]
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidInput(
            f"The seed is not usable: found {seed!r}, a whole number from 0 up is allowed."
        )
    return np.random.PCG64(int(seed))


def blocks(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Start and stop of consecutive pieces of at most `size`.

    >>> list(blocks(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, total, size):
        yield start, min(start + size, total)


def require_resamples(resamples: int) -> None:
    """Refuse a number of resamples that gives nothing, or that no memory holds."""
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise InvalidInput(
            f"The number of resamples is out of range: found {resamples}, at least 1 is needed "
            f"and {MOST_RESAMPLES} are allowed."
        )
