"""Every operation: importing this declares them all, so that the table of them is complete."""

import calipers.api.change
import calipers.api.decide
import calipers.api.explain
import calipers.api.history
import calipers.api.labels
import calipers.api.live
import calipers.api.measure
import calipers.api.pages
import calipers.api.truth  # noqa: F401
from calipers.api.operation import OPERATIONS as OPERATIONS
