// Texts of drawn figures that lie on one another or are cut by the edge of their figure, by figure.
() => {
  const bad = {};
  for (const drawing of document.querySelectorAll("figure.drawn svg")) {
    const edge = drawing.getBoundingClientRect();
    if (!edge.width) continue;
    const texts = [...drawing.querySelectorAll("text")]
      .filter(text => text.textContent.trim())
      .map(text => ({said: text.textContent, at: text.getBoundingClientRect()})).filter(({at}) => at.width);
    const said = [];
    texts.forEach(({said: one, at: a}, i) => {
      if (a.left < edge.left - 1 || a.right > edge.right + 1 || a.top < edge.top - 1 || a.bottom > edge.bottom + 1)
        said.push(`cut: ${one}`);
      for (const {said: other, at: b} of texts.slice(i + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1.5 && down > 2.5) said.push(`${one} / ${other}`);
      }
    });
    if (said.length) bad[drawing.closest("figure").id] = said;
  }
  return bad;
}
