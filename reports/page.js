(() => {
  "use strict";
  const PRINTED = 680; // pixels, the width of a page of paper
  const NARROW = 600; // pixels, below which a figure has one panel a row
  const CONFIG = {responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]]};
  const root = document.documentElement;

  // Light and dark.
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("bayescaling-theme", root.dataset.theme); } catch (e) { /* a page may not keep it */ }
  });

  // The contents follow the reader.
  const contents = document.querySelector(".contents");
  const links = new Map([...contents.querySelectorAll("a")].map(a => [a.hash.slice(1), a]));
  const places = [...links.keys()].map(id => document.getElementById(id)).filter(place => place);
  let here = null;
  const follow = () => {
    const passed = places.filter(place => place.getBoundingClientRect().top < 120);
    const next = links.get((passed.length ? passed[passed.length - 1] : places[0]).id);
    if (next === here) return;
    here = next;
    for (const link of links.values()) link.classList.toggle("here", link === here);
    for (const item of contents.querySelectorAll("li")) item.classList.toggle("open", item.contains(here));
  };
  contents.classList.add("follows");
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  }, {passive: true});
  follow();
  const folded = contents.querySelector("details");
  contents.addEventListener("click", event => { if (event.target.closest("a") && innerWidth < 1100) folded.open = false; });
  addEventListener("resize", () => { if (innerWidth >= 1100) folded.open = true; });

  // Figures are drawn as they come into view.
  const plots = [...document.querySelectorAll(".plot")];
  if (!plots.length) return;
  const template = JSON.parse(document.getElementById("plotly-template").textContent);
  const unpacked = async () => {
    const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), c => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  };
  const axes = (layout, letter) => Object.keys(layout).filter(key => key.startsWith(`${letter}axis`));
  // Panels side by side go one under the other, each with the height that it had.
  const stacked = layout => {
    const panels = axes(layout, "x").map(key => ({x: layout[key], y: layout[key.replace("x", "y")]}))
      .filter(panel => panel.x.domain && panel.y && panel.y.domain);
    if (new Set(panels.map(panel => panel.x.domain[0].toFixed(3))).size < 2) return 1;
    panels.sort((a, b) => b.y.domain[1] - a.y.domain[1] || a.x.domain[0] - b.x.domain[0]);
    const rows = new Set(panels.map(panel => panel.y.domain[0].toFixed(3))).size;
    const gap = Math.min(0.5 / panels.length, 0.3 / Math.max(1, panels.length - 1));
    const tall = (1 - gap * (panels.length - 1)) / panels.length;
    const titles = (layout.annotations || []).filter(each => each.xref === "paper" && each.yref === "paper" && !each.showarrow);
    panels.forEach((panel, i) => {
      const top = 1 - i * (tall + gap);
      for (const title of titles) {
        const within = title.x >= panel.x.domain[0] - 1e-6 && title.x <= panel.x.domain[1] + 1e-6;
        if (within && Math.abs(title.y - panel.y.domain[1]) < 0.03 && !title.placed) Object.assign(title, {x: 0.5, y: top, text: broken(title.text), placed: true});
      }
      panel.moved = {x: [0, 1], y: [top - tall, top]};
    });
    for (const title of titles) delete title.placed;
    for (const {x, y, moved} of panels) {
      Object.assign(x, {domain: moved.x, showticklabels: true});
      Object.assign(y, {domain: moved.y, showticklabels: y.ticks === "" && !y.ticktext ? y.showticklabels : true});
      delete y.matches;
      delete y.scaleanchor;
    }
    return panels.length / rows;
  };
  const broken = text => text.length < 36 ? text : text.replace(/^(.{14,32}) (.*)$/, "$1<br>$2");
  // Names of rows stand above their rows, so that they take no width from the plot.
  const named = (layout, key) => {
    const axis = layout[key];
    if (!axis.ticktext || !axis.ticktext.some(text => /[a-z]{2}/i.test(text))) return;
    axis.showticklabels = false;
    axis.automargin = false;
    layout.annotations = [...(layout.annotations || []), ...axis.ticktext.map((text, i) => ({
      text, x: 0, xref: `${key.replace("yaxis", "x")} domain`, y: axis.tickvals[i], yref: key.replace("axis", ""),
      xanchor: "left", yanchor: "bottom", yshift: 3, showarrow: false, font: {size: 10.5},
    }))];
    return true;
  };
  // A figure for a narrow screen: one panel a row, the legend below, names of rows above them.
  const narrowed = layout => {
    const times = stacked(layout);
    const rows = axes(layout, "y").map(key => named(layout, key)).some(found => found);
    const height = (layout.height || 450) * times * (times > 1 ? 0.8 : 1) * (rows ? 1.35 : 1);
    for (const letter of ["x", "y"]) for (const key of axes(layout, letter)) {
      const axis = layout[key];
      if (axis.title && axis.title.text) axis.title = {...axis.title, text: broken(axis.title.text), font: {size: 11}};
      if (axis.dtick === 1 || axis.type === "log" && letter === "x" && !axis.tickvals) axis.nticks = 5, delete axis.dtick;
      axis.tickfont = {size: 10.5};
    }
    layout.height = Math.round(height);
    layout.font = {...layout.font, size: 11};
    layout.margin = {...layout.margin, l: rows ? 12 : 52, r: 14, t: 28, b: 56};
    layout.legend = {...layout.legend, orientation: "h", x: 0, xanchor: "left", y: -74 / (height - 84), yanchor: "top", font: {size: 11}};
    return layout;
  };
  const quiet = plot => { for (const each of plot.querySelectorAll(".modebar-btn")) each.tabIndex = -1; };
  // d3 writes giga where the text says billions.
  const billions = plot => {
    for (const each of plot.querySelectorAll(".hoverlayer text, .hoverlayer tspan"))
      for (const node of each.childNodes)
        if (node.nodeType === Node.TEXT_NODE) node.data = node.data.replace(/(\d)G(?![A-Za-z])/g, "$1B");
  };
  const draw = plot => {
    if (plot.dataset.drawn) return;
    plot.dataset.drawn = "yes";
    const {data, layout} = JSON.parse(plot.nextElementSibling.textContent);
    plot.dataset.narrow = plot.clientWidth < NARROW ? "yes" : "";
    const shown = plot.dataset.narrow ? narrowed(layout) : layout;
    plot.style.minHeight = `${shown.height || plot.dataset.height}px`;
    Plotly.newPlot(plot, data, {...shown, template}, {...CONFIG, displayModeBar: plot.dataset.narrow ? false : "hover"});
    quiet(plot);
    plot.on("plotly_afterplot", () => quiet(plot));
    plot.on("plotly_hover", () => billions(plot));
  };
  const ready = unpacked().then(() => {
    const seen = new IntersectionObserver(entries => {
      for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
    }, {rootMargin: "300px"});
    for (const plot of plots) seen.observe(plot);
  });
  ready.catch(() => { for (const plot of plots) plot.textContent = "This browser cannot draw the figure; its numbers are in results.json."; });

  addEventListener("resize", () => {
    for (const plot of plots) {
      if (!plot.dataset.drawn || Boolean(plot.dataset.narrow) === plot.clientWidth < NARROW) continue;
      Plotly.purge(plot);
      plot.dataset.drawn = "";
      draw(plot);
    }
  });

  // On paper every figure is there, as wide as the paper.
  addEventListener("beforeprint", () => {
    if (!window.Plotly) return;
    for (const plot of plots) { draw(plot); Plotly.relayout(plot, {autosize: false, width: PRINTED}); }
    for (const each of document.querySelectorAll("main details")) { each.dataset.was = each.open ? "open" : ""; each.open = true; }
  });
  addEventListener("afterprint", () => {
    for (const plot of plots) if (plot.dataset.drawn) Plotly.relayout(plot, {autosize: true, width: null});
    for (const each of document.querySelectorAll("main details")) each.open = each.dataset.was === "open";
  });
})();
