"""Whether a page can be read: contrast by the rules of WCAG 2 (AA), and names for controls."""

_CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const faults = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !one.checkVisibility()) continue;
    if (one.closest("script, style, button:disabled")) continue;
    const style = getComputedStyle(one);
    const ink = one.closest("svg") ? channels(style.fill) : channels(style.color);
    const pair = [light(ink), light(ground(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) {
      faults.add(`${ratio.toFixed(2)} ${one.tagName} ${one.className.baseVal ?? one.className}`);
    }
  }
  return [...faults];
}"""

_UNLABELLED = """() => [...document.querySelectorAll(
    "input, select, button, svg[role=img], [role=region], summary, nav")]
  .filter((one) => !(one.labels && one.labels.length) && !one.textContent.trim()
    && !one.getAttribute("aria-label"))
  .map((one) => one.outerHTML.slice(0, 80))"""


def contrast_faults(page):
    """Every visible text whose contrast is below AA: ratio and element."""
    return page.evaluate(_CONTRAST)


def unlabelled(page):
    """Every control or picture without a name."""
    return page.evaluate(_UNLABELLED)
