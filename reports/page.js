(() => {
  "use strict";
  const PRINTED = 680; // pixels, the width of a page of paper
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
    Plotly.newPlot(plot, data, {...layout, template}, CONFIG);
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
