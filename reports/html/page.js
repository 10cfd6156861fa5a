(() => {
  "use strict";
  const PRINTED = 680; // pixels, the width of a page of paper
  const NARROW = 600; // pixels, below which a figure has one panel a row
  const FRAME = 84; // pixels above and below the panels of a narrow figure
  const CONFIG = {responsive: true, displayModeBar: false};
  const root = document.documentElement;

  // Light and dark.
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("bayescaling-theme", root.dataset.theme); } catch (e) { /* a page may not store it */ }
  });

  const printing = document.getElementById("print-all");
  printing.hidden = false;
  printing.addEventListener("click", () => { root.dataset.print = "all"; print(); });

  // The contents follow the reader.
  const contents = document.querySelector(".contents");
  const links = new Map([...contents.querySelectorAll("a")].map(a => [a.hash.slice(1), a]));
  const places = [...links.keys()].map(id => document.getElementById(id)).filter(place => place);
  let here = null;
  const follow = () => {
    const passed = places.filter(place => place.getBoundingClientRect().top < 120);
    const bottom = innerHeight + scrollY >= root.scrollHeight - 2; // a short last part never comes to the top
    const read = bottom ? places[places.length - 1] : passed.length ? passed[passed.length - 1] : places[0];
    const next = links.get(read.id);
    if (next === here) return;
    here = next;
    for (const link of links.values()) {
      link.classList.toggle("here", link === here);
      if (link === here) link.setAttribute("aria-current", "location"); else link.removeAttribute("aria-current");
    }
    for (const item of contents.querySelectorAll("li")) item.classList.toggle("open", item.contains(here));
    // The link itself stays in view, without moving the page.
    const box = contents.getBoundingClientRect(), link = here.getBoundingClientRect();
    if (link.top < box.top || link.bottom > box.bottom) contents.scrollTop += link.top - box.top - box.height / 3;
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

  // A link to what is folded opens it.
  const unfolded = id => {
    const place = id && document.getElementById(decodeURIComponent(id));
    if (!place) return;
    let closed = false;
    for (let each = place; each; each = each.parentElement) if (each.tagName === "DETAILS" && !each.open) closed = each.open = true;
    if (closed) place.scrollIntoView();
  };
  addEventListener("hashchange", () => unfolded(location.hash.slice(1)));
  document.addEventListener("click", event => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfolded(link.hash.slice(1));
  });
  unfolded(location.hash.slice(1));

  // Downloads.
  const download = (name, content, type) => {
    const link = document.createElement("a");
    link.href = typeof content === "string" && content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content], {type}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const downloadPng = (name, svg, width, height) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      Object.assign(canvas, {width, height});
      canvas.getContext("2d").drawImage(image, 0, 0, width, height);
      download(`${name}.png`, canvas.toDataURL("image/png"));
    };
    image.src = svg;
  };
  const csv = rows => rows.map(row => row.map(cell => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }).join(",")).join("\n") + "\n";
  const offer = (figure, choices) => {
    const title = figure.querySelector("figcaption b").textContent.replace(/\.$/, "");
    const tools = document.createElement("span");
    tools.className = "tools";
    for (const [label, action] of Object.entries(choices)) {
      const choice = document.createElement("button");
      choice.type = "button";
      choice.textContent = label;
      choice.setAttribute("aria-label", `${title} as ${label}`);
      choice.addEventListener("click", action);
      tools.append(choice);
    }
    figure.querySelector("figcaption").append(" ", tools);
  };

  // Cards: the link is copied; the image is saved as PNG, which other sites take. Without a script it is SVG.
  for (const link of document.querySelectorAll(".card .copied")) link.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(link.href); } catch (e) { return; /* the address bar has it */ }
    link.textContent = "copied";
    setTimeout(() => { link.textContent = "link"; }, 2000);
  });
  for (const link of document.querySelectorAll(".card .shared")) link.addEventListener("click", event => {
    event.preventDefault();
    downloadPng(link.download.replace(/\.svg$/, ""), link.href, 1200, 630);
  });

  // Tables: each as CSV, those of several rows sorted by a column.
  const shown = cell => cell.textContent.replace(/[●▲○]/g, "").trim().replace(/\s+/g, " ");
  const SCALES = {k: 1e3, M: 1e6, B: 1e9, T: 1e12};
  const worth = text => {
    if (/^never/.test(text)) return Infinity;
    const match = /^[<>≥≤×±\s]*([+\-−]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?)([kMBT](?![A-Za-z]))?/.exec(text);
    return match ? Number(match[1].replaceAll(",", "").replace("−", "-")) * (SCALES[match[2]] || 1) : NaN;
  };
  const sorted = (table, place, down) => {
    const body = table.tBodies[0], rows = [...body.rows];
    const keys = new Map(rows.map(row => [row, shown(row.cells[place])]));
    const texts = [...keys.values()].filter(text => text !== "–" && text !== "");
    const numbers = texts.every(text => !Number.isNaN(worth(text)));
    const last = text => text === "–" || text === "";
    rows.sort((a, b) => {
      const [one, other] = [keys.get(a), keys.get(b)];
      if (last(one) || last(other)) return last(one) - last(other);
      const order = numbers ? (worth(one) === worth(other) ? 0 : worth(one) - worth(other)) : one.localeCompare(other);
      return down ? -order : order;
    });
    body.append(...rows);
  };
  for (const table of document.querySelectorAll("figure.table table")) {
    const figure = table.closest("figure");
    offer(figure, {CSV: () => download(`${figure.id}.csv`, csv([...table.rows].map(row => [...row.cells].map(shown))), "text/csv")});
    if (!("sortable" in table.dataset)) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const order = document.createElement("button");
      order.type = "button";
      order.className = "sort";
      order.append(...head.childNodes);
      head.append(order);
      order.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sorted(table, place, down);
      });
    });
  }

  // The best size at a budget that a reader types, from a table by budget.
  const size = x => {
    for (const [letter, scale] of Object.entries(SCALES).reverse()) if (x >= 0.9995 * scale) {
      const digits = Number((x / scale).toPrecision(3));
      return `${digits >= 10 ? Math.round(digits) : digits}${letter}`;
    }
    return String(Number(x.toPrecision(3)));
  };
  const linear = (rows, place) => {
    const low = Math.min(Math.max(Math.floor(place), 0), rows.length - 2), part = place - low;
    return [].concat(rows[low]).map((x, i) => x + part * ([].concat(rows[low + 1])[i] - x));
  };
  const interval = ([low, middle, high], form) => `${form(middle)} [${form(low)}, ${form(high)}]`;
  const powers = x => x.toExponential(1).replace("e+", "e").replace(".0e", "e");
  const times = x => x >= 10 ? Math.round(x).toLocaleString("en") : x.toFixed(1);
  const GRADES = ["strong", "fair", "weak"];
  const graded = (x, [strong, fair]) => x <= strong ? "strong" : x <= fair ? "fair" : "weak";
  const grid = document.getElementById("optimum"), input = document.getElementById("budget");
  if (grid && input) {
    const {log10_compute, parameters, tokens, tokens_per_parameter, least_run, largest_run, called, rivals, rule} = JSON.parse(grid.textContent);
    const output = document.getElementById("at-budget"), slider = document.getElementById("budget-slider"), form = input.closest("form");
    const {fixed, limits, units, prefixes} = JSON.parse(form.dataset.grading), first = log10_compute[0], last = log10_compute[log10_compute.length - 1];
    const step = (last - first) / (log10_compute.length - 1), stride = (log10_compute.length - 1) / (rule.length - 1);
    // As `flop` of inference/decisions/price.py reads a budget.
    const flopOf = text => {
      const match = /^([\d,]*\.?\d+(?:e\+?\d+)?)(.*)$/.exec(text.trim().toLowerCase().replace(/\s*[x*×·]\s*10\s*\^\s*/g, "e"));
      const unit = match ? match[2].replace(/[\s/-]/g, "").replace(/([pyr])s$/, "$1") : "e";
      const [prefix, rest] = unit in units ? ["", unit] : [unit.slice(0, 1), unit.slice(1)];
      if (unit === "e" || !(rest in units) || (prefix && !(prefix in prefixes))) return NaN;
      return Number(match[1].replaceAll(",", "")) * (prefixes[prefix] || 1) * units[rest];
    };
    const strengthAt = (at, others, compute) => {
      const medians = [at[1], ...others], grades = Object.values(fixed);
      const outside = compute > largest_run ? compute / largest_run : compute < least_run ? least_run / compute : 1;
      grades.push(graded(at[2] / at[0], limits.width), graded(Math.log10(outside), limits.extrapolation));
      if (others.length) grades.push(graded(Math.max(...medians) / Math.min(...medians), limits.sensitivity));
      return GRADES[Math.max(...grades.map(grade => GRADES.indexOf(grade)))];
    };
    const answer = () => {
      const text = input.value.trim(), compute = flopOf(text), log = Math.log10(compute);
      if (!text) { input.removeAttribute("aria-invalid"); output.textContent = ""; return; }
      const fine = log >= first && log <= last;
      input.setAttribute("aria-invalid", String(!fine));
      if (!fine) { output.textContent = `Give a budget from ${powers(10 ** first)} to ${powers(10 ** last)} FLOP, such as ${powers(10 * largest_run)} FLOP.`; return; }
      slider.value = log;
      const place = (log - first) / step, at = rows => linear(rows, place).map(x => 10 ** x);
      const best = at(parameters), others = rivals.map(each => at(each.parameters)[1]);
      const alternatives = rivals.map((each, i) => `, or ${size(others[i])} under ${each.called}`).join("");
      const beyond = compute > largest_run ? `${times(compute / largest_run)} times the largest run` : "not above the largest run";
      output.textContent = `At ${powers(compute)} FLOP: ${interval(best, size)} parameters${alternatives}; ${interval(at(tokens), size)} tokens, ` +
        `${interval(at(tokens_per_parameter), x => x >= 10 ? x.toFixed(0) : x.toPrecision(2))} tokens a parameter, under ${called}; ${beyond}. ` +
        `Strength: ${strengthAt(best, others, compute)}. 20 tokens a parameter lose ${(100 * linear(rule, place / stride)[0]).toPrecision(2)}% of the loss.`;
    };
    Object.assign(slider, {min: first, max: last});
    slider.value = Math.log10(10 * largest_run);
    form.hidden = false;
    form.addEventListener("submit", event => { event.preventDefault(); answer(); });
    input.addEventListener("input", answer);
    slider.addEventListener("input", () => { input.value = `${powers(10 ** Number(slider.value))} FLOP`; answer(); });
  }

  // The picture of the first screen, as it is drawn in this light.
  const plain = drawing => {
    const copy = drawing.cloneNode(true), style = getComputedStyle(drawing);
    const {width, height} = drawing.viewBox.baseVal;
    for (const [name, x] of Object.entries({xmlns: "http://www.w3.org/2000/svg", width, height, "font-family": "Helvetica, Arial, sans-serif"}))
      copy.setAttribute(name, x);
    copy.removeAttribute("aria-hidden");
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, x] of Object.entries({width, height, fill: "var(--paper)"})) paper.setAttribute(name, x);
    copy.prepend(paper);
    return copy.outerHTML.replace(/var\((--[a-z]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  };
  for (const figure of document.querySelectorAll("figure.panel")) {
    const drawing = () => [...figure.querySelectorAll("svg")].find(each => each.getBoundingClientRect().width) || figure.querySelector("svg");
    offer(figure, {
      SVG: () => download(`${figure.id}.svg`, plain(drawing()), "image/svg+xml"),
      PNG: () => {
        const text = plain(drawing()), {width, height} = drawing().viewBox.baseVal;
        downloadPng(figure.id, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, 3 * width, 3 * height);
      },
      CSV: () => download(`${figure.id}.csv`, csv(JSON.parse(figure.querySelector("script").textContent)), "text/csv"),
    });
  }

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
  // Panels side by side go one under the other, each about as tall as it was, with room for titles between them.
  const stacked = layout => {
    const panels = axes(layout, "x").map(key => ({x: layout[key], y: layout[key.replace("x", "y")]}))
      .filter(panel => panel.x.domain && panel.y && panel.y.domain);
    if (new Set(panels.map(panel => panel.x.domain[0].toFixed(3))).size < 2) return false;
    panels.sort((a, b) => b.y.domain[1] - a.y.domain[1] || a.x.domain[0] - b.x.domain[0]);
    const titles = (layout.annotations || []).filter(each => each.xref === "paper" && each.yref === "paper" && !each.showarrow);
    const titled = panels.some(panel => panel.x.title && panel.x.title.text);
    const share = Math.max(...panels.map(panel => panel.y.domain[1] - panel.y.domain[0]));
    const tall = Math.max(130, 0.72 * share * ((layout.height || 450) - FRAME));
    const gap = 30 + (titled ? 24 : 0) + (titles.length ? 42 : 0);
    const whole = panels.length * tall + (panels.length - 1) * gap;
    panels.forEach((panel, i) => {
      const top = 1 - i * (tall + gap) / whole;
      for (const title of titles) {
        const within = title.x >= panel.x.domain[0] - 1e-6 && title.x <= panel.x.domain[1] + 1e-6;
        if (within && Math.abs(title.y - panel.y.domain[1]) < 0.03 && !title.placed) Object.assign(title, {x: 0.5, y: top, text: broken(title.text), font: {size: 12}, placed: true});
      }
      panel.moved = {x: [0, 1], y: [Math.max(0, top - tall / whole), top]};
    });
    for (const title of titles) delete title.placed;
    const rows = panels.map(panel => panel.y).find(y => y.ticktext);
    for (const {x, y, moved} of panels) {
      if (rows && !y.ticktext && y.matches) Object.assign(y, {tickvals: rows.tickvals, ticktext: rows.ticktext});
      Object.assign(x, {domain: moved.x, showticklabels: true});
      if (titled && !(x.title && x.title.text)) x.title = panels[panels.length - 1].x.title;
      Object.assign(y, {domain: moved.y, showticklabels: y.ticks === "" && !y.ticktext ? y.showticklabels : true});
      delete y.matches;
      delete y.scaleanchor;
    }
    layout.height = whole + FRAME;
    return true;
  };
  const plainly = text => text.replace(/<[^>]*>/g, "");
  const broken = text => text.length < 36 ? text : text.replace(/^(.{14,32}) (.*)$/, "$1<br>$2");
  // Lines of at most some characters, which a narrow figure does not cut.
  const wrapped = (text, most) => text.split("<br>").flatMap(line => line.split(" ").reduce((lines, word) => {
    const last = lines.length - 1;
    if (last >= 0 && plainly(`${lines[last]} ${word}`).length <= most) lines[last] += ` ${word}`; else lines.push(word);
    return lines;
  }, [])).join("<br>");
  // Names of rows stand above their rows, so that they take no width from the plot.
  const listed = values => Array.isArray(values) ? values : values && values.bdata ? unpackedNumbers(values) : [];
  const unpackedNumbers = ({dtype, bdata}) => {
    const kinds = {f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array};
    return [...new kinds[dtype](Uint8Array.from(atob(bdata), c => c.charCodeAt(0)).buffer)];
  };
  // How far above a row what is drawn in it reaches.
  const highest = (traces, row, up) => Math.max(0, ...traces.flatMap(trace => listed(trace.y)
    .map(y => up * (y - row)).filter(above => Math.abs(above) < 0.5)
    .map(above => above + (trace.type === "bar" ? (trace.width || 0.8) / 2 : 0))));
  const named = (data, layout, key, width) => {
    const axis = layout[key];
    if (!axis.ticktext || !axis.ticktext.some(text => /[a-z]{2}/i.test(text))) return;
    axis.showticklabels = false;
    axis.automargin = false;
    const [first, last] = axis.range || [axis.autorange === "reversed" ? 1 : 0, axis.autorange === "reversed" ? 0 : 1];
    const up = first > last ? -1 : 1, traces = data.filter(trace => (trace.yaxis || "y") === key.replace("axis", ""));
    layout.annotations = [...(layout.annotations || []), ...axis.ticktext.map((text, i) => ({
      text: wrapped(text, (width - 16) / 6.2), x: 0, xref: `${key.replace("yaxis", "x")} domain`, y: axis.tickvals[i] + up * highest(traces, axis.tickvals[i], up),
      yref: key.replace("axis", ""), xanchor: "left", yanchor: "bottom", align: "left", yshift: 5, showarrow: false, font: {size: 10.5},
    }))];
    return true;
  };
  // A figure for a narrow screen: one panel a row, the legend below, names of rows above them.
  const narrowed = (data, layout, width) => {
    for (const trace of data) {
      if (trace.type === "contour") trace.contours.size *= 2;
      if (trace.type === "splom") layout.grid = {...layout.grid, xgap: 0.3};
      if (trace.type === "splom") trace.dimensions.forEach((_, i) => {
        for (const letter of ["x", "y"]) {
          const key = `${letter}axis${i ? i + 1 : ""}`;
          layout[key] = {...layout[key], nticks: letter === "x" ? 2 : 3, tickangle: letter === "x" ? -90 : 0};
        }
      });
    }
    stacked(layout);
    const rows = axes(layout, "y").map(key => named(data, layout, key, width)).some(Boolean);
    const height = (layout.height || 450) * (rows ? 1.35 : 1);
    for (const letter of ["x", "y"]) for (const key of axes(layout, letter)) {
      const axis = layout[key];
      if (axis.title && axis.title.text) axis.title = {...axis.title, text: broken(axis.title.text), font: {size: 11}};
      if (axis.dtick === 1 || axis.type === "log" && letter === "x" && !axis.tickvals) axis.nticks = 5, delete axis.dtick;
      axis.tickfont = {size: 10.5};
    }
    const entries = data.filter(trace => trace.name && trace.showlegend !== false);
    for (const trace of entries) trace.name = wrapped(trace.name, (width - 66) / 6.2);
    const lines = entries.map(trace => trace.name.split("<br>"));
    const across = Math.max(1, Math.floor((width - 20) / (46 + 6.2 * Math.max(...lines.flat().map(line => plainly(line).length)))));
    const most = Math.max(...lines.map(each => each.length));
    const legend = layout.showlegend === false || !lines.length ? 0 : 14 + (5 + 14 * most) * Math.ceil(lines.length / across);
    layout.height = Math.round(height + legend);
    layout.font = {...layout.font, size: 11};
    layout.margin = {...layout.margin, l: rows ? 12 : 52, r: 14, t: 28, b: 56 + legend};
    layout.legend = {...layout.legend, orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom", font: {size: 11}};
    return layout;
  };
  // d3 writes giga where the text says billions, and 1e+24 where it says 1e24.
  const billions = plot => {
    for (const each of plot.querySelectorAll(".hoverlayer text, .hoverlayer tspan"))
      for (const node of each.childNodes)
        if (node.nodeType === Node.TEXT_NODE) node.data = node.data.replace(/(\d)G(?![A-Za-z])/g, "$1B").replace(/(\d)e\+(?=\d)/g, "$1e");
  };
  const draw = plot => {
    if (plot.dataset.drawn) return;
    plot.dataset.drawn = "yes";
    const {data, layout} = JSON.parse(plot.nextElementSibling.textContent);
    plot.dataset.narrow = plot.clientWidth < NARROW ? "yes" : "";
    const fitted = plot.dataset.narrow ? narrowed(data, layout, plot.clientWidth) : layout;
    plot.style.minHeight = `${fitted.height || plot.dataset.height}px`;
    plot._fitted = Number(fitted.height || plot.dataset.height);
    Plotly.newPlot(plot, data, {...fitted, template}, CONFIG);
    plot.on("plotly_hover", () => billions(plot));
  };
  // What a figure shows as rows: its traces, point by point.
  const rowsOf = traces => {
    const rows = [["series", "x", "y", "z or size of the interval", "more"]];
    for (const trace of traces) {
      const name = (trace.name || trace.type || "").replaceAll("<br>", " ");
      if (trace.dimensions) {
        rows.push(["draw", ...trace.dimensions.map(each => each.label)]);
        trace.dimensions[0].values.forEach((_, i) => rows.push([i, ...trace.dimensions.map(each => each.values[i])]));
      } else if (trace.z) trace.y.forEach((y, i) => trace.x.forEach((x, j) => rows.push([name, x, y, trace.z[i][j]])));
      else Array.from(trace.x || []).forEach((x, i) => {
        const extra = trace.customdata ? trace.customdata[i] : trace.text ? trace.text[i] : null;
        const error = trace.error_x && trace.error_x.array ? trace.error_x.array[i] : null;
        rows.push([name, x, trace.y[i], error, ...(extra === null ? [] : Array.isArray(extra) || ArrayBuffer.isView(extra) ? extra : [extra])]);
      });
    }
    return rows;
  };
  const asImage = format => async plot => {
    await ready;
    draw(plot);
    const name = plot.closest("figure").id;
    await Plotly.downloadImage(plot, {format, filename: name, width: plot.clientWidth, height: plot.clientHeight, scale: format === "png" ? 2 : 1});
  };
  for (const plot of plots) offer(plot.closest("figure"), {
    SVG: () => asImage("svg")(plot),
    PNG: () => asImage("png")(plot),
    CSV: async () => { await ready; draw(plot); download(`${plot.closest("figure").id}.csv`, csv(rowsOf(plot._fullData)), "text/csv"); },
  });
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

  // On paper the figures are as wide as it; the first screen alone is printed, unless everything is requested.
  const everything = () => root.dataset.print === "all";
  addEventListener("beforeprint", () => {
    if (everything()) for (const each of document.querySelectorAll("main details")) { each.dataset.was ??= each.open ? "open" : "closed"; each.open = true; }
    if (window.Plotly) for (const plot of plots) if (everything() || plot.closest(".front")) {
      draw(plot);
      Plotly.relayout(plot, {autosize: false, ...everything() ? {width: PRINTED} : {width: PRINTED / 2 - 8, height: 310}});
    }
  });
  addEventListener("afterprint", () => {
    for (const plot of plots) if (plot.dataset.drawn) Plotly.relayout(plot, {autosize: true, width: null, height: plot._fitted});
    for (const each of document.querySelectorAll("main details[data-was]")) {
      each.open = each.dataset.was === "open";
      delete each.dataset.was;
    }
    delete root.dataset.print;
  });
})();
