"""Every operation: importing this declares them all, so that the table of them is complete."""

import calipers.labels.settings
import calipers.live.settings
import calipers.questions.alarm.settings
import calipers.questions.audit.settings
import calipers.questions.bounds.settings
import calipers.questions.calls.settings
import calipers.questions.compare.settings
import calipers.questions.convert.settings
import calipers.questions.corrected.settings
import calipers.questions.diagnose.settings
import calipers.questions.diff.settings
import calipers.questions.evaluate.settings
import calipers.questions.floor.settings
import calipers.questions.gate.settings
import calipers.questions.grid.settings
import calipers.questions.history.settings
import calipers.questions.index_recall.settings
import calipers.questions.levels.settings
import calipers.questions.metrics
import calipers.questions.misses.settings
import calipers.questions.plan.settings
import calipers.questions.plot.settings
import calipers.questions.report.settings
import calipers.questions.resolve.settings
import calipers.questions.slices.settings
import calipers.questions.sweep.settings
import calipers.questions.traces.settings
import calipers.questions.trend.settings  # noqa: F401
from calipers.operation import OPERATIONS as OPERATIONS
