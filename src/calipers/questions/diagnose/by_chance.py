"""What a rule for ids meets by chance: results that are alike the targets of another query."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

from calipers.frozen import dataclass
from calipers.match.near_ids import NearPairs
from calipers.model.arrays import Ints
from calipers.model.matched import Matched
from calipers.model.matching import IdMap
from calipers.questions.misses.table import near_pairs
from calipers.questions.shown_results import over_contexts


@dataclass(frozen=True, eq=False)
class ByChance:
    """Missed targets and results of another query whose ids may be alike."""

    pair: Matched
    mapped_by: Sequence[IdMap] = ()
    """Rules that were applied to both ids, without the targets that are met then."""

    def mapped(self, how: IdMap) -> "ByChance":
        """The same once the ids are mapped."""
        return replace(self, mapped_by=(*self.mapped_by, how))

    def met(self, how: IdMap) -> Ints:
        """The targets that a rule meets."""
        return self._pairs.meeting(how).target

    @cached_property
    def _pairs(self) -> NearPairs:
        # Looked for when they are first asked for: few runs have ids that are alike.
        blocks = over_contexts(self.pair, partial(near_pairs, by_chance=True))
        pairs = NearPairs.joined([*blocks])
        for how in self.mapped_by:
            pairs = pairs.mapped(how)
        return pairs
