"""The faults of `tools/faults.py`: by rule, the tests that must notice, and what is made wrong."""

Change = tuple[str, str, str, str]
"""What goes wrong, the file in src/calipers, a text that stands there once, what replaces it."""

RULES: dict[str, tuple[tuple[str, ...], tuple[Change, ...]]] = {
    "paired test": (
        ("tests/statistics/test_paired_test.py",),
        (
            (
                "the p-value of two sides is that of one",
                "statistics/paired_test.py",
                "return min(1.0, 2.0 * min(self.p_above(value), self.p_below(value)))",
                "return min(self.p_above(value), self.p_below(value))",
            ),
            (
                "better and worse are exchanged",
                "statistics/paired_test.py",
                "seen = self.means.share_up_to(value)",
                "seen = self.means.share_from(value)",
            ),
            (
                "what was not seen does not exist (no rule of three)",
                "statistics/paired_test.py",
                "share: float = 1.0 - alpha ** (1.0 / n)\n",
                "share: float = 0.0 * alpha * n\n",
            ),
            (
                "each end of the interval has the whole error",
                "statistics/paired_test.py",
                "Ends(self.low(0.5 + 0.5 * confidence), self.high(0.5 + 0.5 * confidence))",
                "Ends(self.low(confidence), self.high(confidence))",
            ),
            (
                "the queries of a cluster count one by one",
                "statistics/paired_test.py",
                "    if clusters is not None:\n        _, which",
                "    if clusters is None and sums.size < 0:\n        _, which",
            ),
            (
                "the order of the queries decides",
                "statistics/paired_test.py",
                "order = np.lexsort((sizes, sums / sizes))",
                "order = np.arange(len(sums))",
            ),
            (
                "what did not change counts as better",
                "statistics/paired_test.py",
                "int(np.count_nonzero(sums > 0)),",
                "int(np.count_nonzero(sums >= 0)),",
            ),
            (
                "the smallest possible p-value is half of what it is",
                "statistics/paired_test.py",
                "return min(1.0, 2.0 * 0.5**self.n * tests)",
                "return min(1.0, 0.5**self.n * tests)",
            ),
            (
                "no sample lacks queries that would undo its difference",
                "statistics/paired_test.py",
                "change > 0.5 * max(-found.limits[0], found.limits[1])",
                "change > 0.0 * max(-found.limits[0], found.limits[1])",
            ),
            (
                "the draws have no seed",
                "statistics/subset_means.py",
                "np.random.default_rng(_SEED + n)",
                "np.random.default_rng()",
            ),
            (
                "no mirror images: exchanging two systems changes p",
                "statistics/subset_means.py",
                "np.concatenate([drawn[: len(columns)], drawn[len(columns) :]], axis=1)",
                "drawn[: len(columns)]",
            ),
            (
                "the signs that were seen do not count among all",
                "statistics/subset_means.py",
                "return (below + self.empty + self.drawn) / self.count",
                "return below / self.count",
            ),
            (
                "a few changes among thousands are taken for normal",
                "statistics/subset_means.py",
                "return max(share, 0.5**self.better) if value >= 0 else share",
                "return share",
            ),
        ),
    ),
    "interval": (
        ("tests/statistics/test_score_interval.py",),
        (
            (
                "the spread of a few queries is taken for known",
                "statistics/score_interval.py",
                "return round(t_quantile(0.5 + 0.5 * confidence, n - 1), _DIGITS)",
                "return round(normal_quantile(0.5 + 0.5 * confidence) + 0 * n, _DIGITS)",
            ),
            (
                "few values that look alike by luck are believed",
                "statistics/score_interval.py",
                "_LUCK = 3.0",
                "_LUCK = 0.0",
            ),
            (
                "twenty hits of twenty promise 1.000",
                "statistics/score_interval.py",
                "unseen = 1.0 - round((0.5 - 0.5 * confidence) ** (1.0 / n), _DIGITS)",
                "unseen = 0.0",
            ),
            (
                "few misses do not vary like few of anything",
                "statistics/score_interval.py",
                "ends: Floats = low + weight * np.minimum(few - low, 0.0)",
                "ends: Floats = low + 0.0 * weight * few",
            ),
        ),
    ),
    "clusters": (
        ("tests/statistics/test_clusters.py",),
        (
            (
                "large clusters weigh as much as small ones",
                "statistics/clusters.py",
                "average = len(kept) / len(sizes)",
                "average = float(sizes.max())",
            ),
            (
                "a cluster loses no more than a query",
                "statistics/clusters.py",
                "float(sizes.max() * len(sizes) / sizes.sum())",
                "1.0",
            ),
            (
                "nothing is said of one large cluster among pairs",
                "statistics/clusters.py",
                "return self.effective < EVEN * self.clusters",
                "return self.effective < 0.0",
            ),
        ),
    ),
    "many tests": (
        ("tests/statistics/test_many_tests.py",),
        (
            (
                "Holm's correction is dropped",
                "statistics/many_tests.py",
                "min(1.0, p * (len(tested) - rank))",
                "min(1.0, p)",
            ),
            (
                "rows that cannot be shown cost the others",
                "statistics/many_tests.py",
                "while within < len(order) and (least[order[within]] or 0.0) * (within + 1) <= "
                "alpha * _ROUNDING:",
                "while within < len(order):",
            ),
            (
                "what could never be shown is called tested",
                "statistics/many_tests.py",
                "tuple(at in tested for at in every)",
                "tuple(True for at in every)",
            ),
        ),
    ),
    "gate": (
        ("tests/questions/gate/test_rule.py", "tests/questions/gate/test_baseline_checks.py"),
        (
            (
                "a fall beyond what is allowed is looked for among the gains",
                "questions/gate/rows.py",
                "row.loss > rule.allow + ROUNDING",
                "-row.loss > rule.allow + ROUNDING",
            ),
            (
                "a loss that is shown does not fail",
                "questions/gate/rows.py",
                "failed.append(SHOWN)",
                "unsure.append(SHOWN)",
            ),
            (
                "the test looks for gains, not for losses",
                "questions/gate/rows.py",
                "lost = family_of([test.p_below() if test",
                "lost = family_of([test.p_above() if test",
            ),
            (
                "a strict gate passes what cannot be told",
                "questions/gate/rows.py",
                "    if rule.strict:",
                "    if rule.strict and rule.only_shown:",
            ),
            (
                "five queries pass, though they could show nothing",
                "questions/gate/rows.py",
                "if row.units < row.fewest(rule.alpha):",
                "if row.units < 2:",
            ),
            (
                "a tick stands over a loss that was seen",
                "questions/gate/rows.py",
                "if row.loss > 0 or _sign_test(row) < SIGN_LEVEL:",
                "if _sign_test(row) < SIGN_LEVEL:",
            ),
            (
                "many small losses behind one large gain pass",
                "questions/gate/rows.py",
                "if row.loss > 0 or _sign_test(row) < SIGN_LEVEL:",
                "if row.loss > 0:",
            ),
            (
                "of a metric where less is better, more is taken for a gain",
                "questions/gate/baseline_checks.py",
                'gains: Floats = -differences if facts.better == "lower" else differences',
                "gains: Floats = differences",
            ),
            (
                "nothing says what would settle it",
                "questions/gate/baseline_checks.py",
                "        _next(row, change, status, rule),\n",
                "        None,\n",
            ),
            (
                "slices are not compared",
                "questions/gate/rule.py",
                "[everything(scores), *slices_by(scores, tags)],",
                "[everything(scores)],",
            ),
            (
                "order does not decide, only finding",
                "questions/gate/rule.py",
                "return asked_pair(facts, primary)",
                "return asked_pair(facts, primary)[:1]",
            ),
            (
                "what cannot be told is a pass",
                "questions/gate/result.py",
                'return self.standing == "passed"',
                'return self.standing != "failed"',
            ),
        ),
    ),
    "baseline": (
        (
            "tests/questions/gate/test_rule.py",
            "tests/laws/test_what_a_colleague_says_of_a_build.py",
        ),
        (
            (
                "a loss is accepted without a reason",
                "questions/gate/rule.py",
                "if accept is not None and not accept.strip():",
                "if accept is not None and accept.strip() is None:",
            ),
            (
                "a result that lost moves the baseline",
                "questions/gate/rule.py",
                "and all(change.loss <= 0 for change in changes)",
                "and all(change.loss <= 1 for change in changes)",
            ),
            (
                "a gain that is not shown moves the baseline",
                "questions/gate/rule.py",
                "any(change.p_gain is not None and change.p_gain <= alpha for change in changes)",
                "any(change.p_gain is not None for change in changes)",
            ),
            (
                "every build that does not fail moves the baseline",
                "questions/gate/rule.py",
                "if accept is None and not _is_better(verdict):",
                'if accept is None and verdict.standing == "failed":',
            ),
            (
                "who accepts a loss accepts every condition that fails",
                "questions/gate/result.py",
                "any(check.change is None or self.accepted is None for check in self.failed)",
                "any(self.accepted is None for check in self.failed)",
            ),
            (
                "questions that fail in the retriever are not in the first line",
                "questions/gate/result.py",
                "if self.raised and order[0].name != RETRIEVER:",
                "if self.raised and not order:",
            ),
            (
                "questions that fail in the retriever pass",
                "questions/gate/must_checks.py",
                'status: _Answer = "failed" if strict else "cannot_tell"',
                'status: _Answer = "failed" if strict else "passed"',
            ),
            (
                "questions that must not fail may",
                "questions/gate/must_checks.py",
                "failed = bool(lost) or (strict and bool(unknown))",
                "failed = strict and bool(unknown)",
            ),
            (
                "the first line is about what matters least",
                "questions/gate/result.py",
                "                    WORST_FIRST.index(check.status),\n",
                "                    -WORST_FIRST.index(check.status),\n",
            ),
        ),
    ),
    "claims": (
        ("tests/model/test_claim.py", "tests/present/test_claims.py"),
        (
            (
                "what cannot be told has the sign of a pass",
                "model/claim.py",
                '"cannot_tell": "?",',
                '"cannot_tell": "✓",',
            ),
            (
                "better and worse are exchanged in words",
                "model/claim.py",
                "{better:,} better, {worse:,} worse",
                "{worse:,} better, {better:,} worse",
            ),
            (
                "a p-value is rounded below what it is",
                "model/claim.py",
                "if p < 0.001:",
                "if p < 0.05:",
            ),
            (
                "the first line leaves out whether it is shown",
                "model/claim.py",
                'return f"{self.sign} {self.seen} ({self.shown})"',
                'return f"{self.sign} {self.seen}"',
            ),
            (
                "a terminal does not say what would settle it",
                "present/claims.py",
                "        for further in (claim.possible, claim.next):\n",
                "        for further in (claim.possible,):\n",
            ),
            (
                "Markdown does not say what is possible",
                "present/claims.py",
                "(for_markdown(one) for one in (claim.possible, claim.next) if one)",
                "(for_markdown(one) for one in (claim.next,) if one)",
            ),
            (
                "a page takes the words of a question for HTML",
                "present/claims.py",
                "<strong>{escape(printable(claim.line[2:]))}</strong>",
                "<strong>{printable(claim.line[2:])}</strong>",
            ),
        ),
    ),
    "alarm": (
        (
            "tests/statistics/test_drift.py",
            "tests/questions/alarm/test_rule.py",
            "tests/laws/test_what_a_colleague_says_of_nights.py",
        ),
        (
            (
                "the look at seven nights is dropped",
                "statistics/drift.py",
                "WINDOWS = (1, 7)",
                "WINDOWS = (1,)",
            ),
            (
                "a night that rang joins the reference",
                "statistics/drift.py",
                "        if not doubtful(chosen, night):\n",
                "        if night >= 0:\n",
            ),
            (
                "the night that is judged belongs to the reference",
                "statistics/drift.py",
                "for night in range(1, nights - 1):",
                "for night in range(1, nights):",
            ),
            (
                "any loss rings, however small",
                "statistics/drift.py",
                "return self.beyond and self.larger and self.p <= self.level",
                "return self.p <= self.level",
            ),
            (
                "a loss that is over rings",
                "statistics/drift.py",
                "max(night_means(np.array([differences, away[night]]))) < -allow - ROUNDING",
                "max(night_means(np.array([differences]))) < -allow - ROUNDING",
            ),
            (
                "nights without noise are as deaf as others",
                "statistics/drift.py",
                "if has_no_noise(away[:night], reference, allow):",
                "if night < 0:",
            ),
            (
                "nights with noise are held for silent",
                "statistics/drift.py",
                "if len(nights) < 2 or np.any(before[nights] != 0.0):",
                "if len(nights) < 2:",
            ),
            (
                "every slice has the whole budget of false alarms",
                "questions/alarm/rule.py",
                "return self.false_alarms / NIGHTS_A_YEAR / checks",
                "return self.false_alarms / NIGHTS_A_YEAR",
            ),
            (
                "too few queries to ring are called fine",
                "questions/alarm/rule.py",
                "return check if deaf or unclear else",
                "return check if unclear else",
            ),
            (
                "of a metric where less is better, more is taken for a gain",
                "questions/alarm/rule.py",
                '(-1.0 if facts.better == "lower" else 1.0) * line.table(facts.name)',
                "1.0 * line.table(facts.name)",
            ),
        ),
    ),
    "which k": (
        ("tests/questions/sweep/test_enough_k.py", "tests/questions/sweep/test_advice.py"),
        (
            (
                "the best guess is called safe",
                "questions/sweep/enough_k.py",
                "        safe=ks[safe],\n",
                "        safe=ks[guess],\n",
            ),
            (
                "a k is safe where nothing was lost so far",
                "questions/sweep/enough_k.py",
                "next_bound = _bound(losses[:, safe - 1], named, confidence)",
                "next_bound = exact_mean(losses[:, safe - 1])",
            ),
            (
                "the best guess may lose all of the margin",
                "questions/sweep/enough_k.py",
                "return exact_mean(losses) <= 0.5 * margin",
                "return exact_mean(losses) <= margin",
            ),
            (
                "the queries of a cluster count one by one",
                "questions/sweep/enough_k.py",
                "    values, scale = as_shares(losses, named)\n    return",
                "    values, scale = as_shares(losses)\n    return",
            ),
            (
                "the sentence calls the guess safe",
                "questions/sweep/words.py",
                'f"until then k = {found.safe} is safe."',
                'f"until then k = {found.guess} is safe."',
            ),
            (
                "of equal F1 the largest k is taken",
                "questions/sweep/rule.py",
                "value.mean > best.f1",
                "value.mean >= best.f1",
            ),
            (
                "the tokens of half of the queries need not fit",
                "questions/sweep/rule.py",
                "point.tokens.p95 <= budget",
                "point.tokens.mean <= budget",
            ),
            (
                "what no query lost, none will lose",
                "statistics/largest_share.py",
                "parts = [limits[0], *(np.diff(limits) * sizes[edges[:-1]])]",
                "parts = [0.0, *(np.diff(limits) * sizes[edges[:-1]])]",
            ),
        ),
    ),
    "floor": (
        ("tests/questions/floor/test_rule.py",),
        (
            (
                "a floor is promised by its mean alone",
                "questions/floor/rule.py",
                "lowest_mean(values[known], confidence, named) >= least",
                "values[known].mean() >= least",
            ),
            (
                "a floor is tried on the queries that chose it",
                "questions/floor/rule.py",
                "choose(evidence, fold != i, floors,",
                "choose(evidence, fold == i, floors,",
            ),
            (
                "paraphrases stand in another part",
                "questions/floor/rule.py",
                "fold = folds_of(n, folds, seed)[units]",
                "fold = folds_of(evidence.n_queries, folds, seed)",
            ),
            (
                "the queries of a cluster count one by one",
                "questions/floor/rule.py",
                "named = None if evidence.clusters is None else evidence.clusters[known]",
                "named = None",
            ),
        ),
    ),
    "diagnosis": (
        ("tests/questions/diagnose/test_rule.py", "tests/zoo/test_zoo.py"),
        (
            (
                "a perfect order is to be reranked",
                "questions/diagnose/ordering.py",
                "gain = seen.fact(np.maximum(best - read, 0.0))",
                "gain = seen.fact(np.maximum(1.0 - read + 0 * best, 0.0))",
            ),
            (
                "a list sorted the wrong way round is only reranked",
                "questions/diagnose/ordering.py",
                'is_turned = turned is not None and turned.value >= at["gain"]',
                'is_turned = turned is not None and turned.value >= 9 * at["gain"]',
            ),
            (
                "k is to be lowered where that saves nothing",
                "questions/diagnose/ordering.py",
                'if fewer < at["results"]:',
                "if fewer < 0.0:",
            ),
            (
                "rules contradict each other",
                "questions/diagnose/rule.py",
                "seen = instead or rule.check(evidence, own)",
                "seen = rule.check(evidence, own)",
            ),
            (
                "a retriever that fails is not worth a word",
                "questions/diagnose/rule.py",
                '{"share": 0.001},',
                '{"share": 1.001},',
            ),
            (
                "lists that end early are blamed where nothing is missed",
                "questions/diagnose/symptoms.py",
                'found.value > at["recall"] or used.value > at["places"]',
                'used.value > at["places"]',
            ),
            (
                "the right document is taken for the wrong one",
                "questions/diagnose/symptoms.py",
                'if not near or near.value < at["share"] or not recall',
                'if not near or near.value > at["share"] or not recall',
            ),
            (
                "queries that failed in the retriever count as empty",
                "questions/diagnose/symptoms.py",
                "empty = seen.answerable & (seen.shown == 0) & ~seen.matches.having_status(FAILED)",
                "empty = seen.answerable & (seen.shown == 0)",
            ),
        ),
    ),
    "slices": (
        ("tests/statistics/test_two_sample.py", "tests/questions/slices/test_rule.py"),
        (
            (
                "a slice is tested on one side only",
                "statistics/two_sample.py",
                "return min(1.0, 2.0 * min(self.p_above(value), self.p_below(value)))",
                "return min(self.p_above(value), self.p_below(value))",
            ),
            (
                "above and below are exchanged",
                "questions/slices/rule.py",
                'standing = "above" if row.difference > 0 else "below"',
                'standing = "above" if row.difference < 0 else "below"',
            ),
            (
                "a slice is marked without correction for the others",
                "questions/slices/rule.py",
                "    if p <= family.alpha:\n",
                "    if test.p_value() <= family.alpha:\n",
            ),
            (
                "too small a slice is called like the rest",
                "questions/slices/rule.py",
                '"not shown" if family.reachable[number] else "cannot tell"',
                '"not shown"',
            ),
            (
                "two halves are two tests",
                "questions/slices/rule.py",
                "        if key not in known and other not in known:\n",
                "        turned[-1] = False\n        if key not in known:\n",
            ),
            (
                "what a small slice lacks by chance does not exist",
                "statistics/two_sample.py",
                "wide = self.difference - down, self.difference + up",
                "wide = self.difference, self.difference + 0 * (down + up)",
            ),
        ),
    ),
    "correction by people": (
        ("tests/statistics/test_prediction_powered.py", "tests/questions/corrected/test_rule.py"),
        (
            (
                "the machine's mean is not corrected",
                "statistics/prediction_powered.py",
                "return self.weight * exact_mean(self.everything) + self.residuals.mean",
                "return self.weight * exact_mean(self.everything)",
            ),
            (
                "a judge that was never wrong will never be",
                "statistics/prediction_powered.py",
                "mean + self.stretch * share * away, alpha",
                "mean + 0.0 * self.stretch * share * away, alpha",
            ),
            (
                "the queries are taken for all there are",
                "statistics/prediction_powered.py",
                "max(low, value - math.hypot(found.down(alpha), beyond.low))",
                "max(low, value - found.down(alpha))",
            ),
            (
                "a machine of no use is believed",
                "statistics/prediction_powered.py",
                "return round(min(max(weight, 0.0), 1.0), 12)",
                "return 1.0 + 0.0 * weight",
            ),
            (
                "the error counts where people judged everything",
                "statistics/prediction_powered.py",
                "    if unjudged <= 0.0:\n            return 0.0\n",
                "    if unjudged < 0.0:\n            return 0.0\n",
            ),
        ),
    ),
}
