(() => {
  "use strict";
  const root = document.documentElement;

  // Light and dark.
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("bayescaling-theme", root.dataset.theme); } catch (e) { /* a page may not store it */ }
  });

  // The contents follow the reader.
  const followed = contents => {
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
  };
  const contents = document.querySelector(".contents");
  if (contents) followed(contents);

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
  for (const link of document.querySelectorAll(".shared")) link.addEventListener("click", event => {
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
  const size = x => {  // as `size` of datasets/wording.py
    const [letter, scale] = Object.entries(SCALES).reverse().find(([, scale]) => x >= 0.9995 * scale) || ["", 1];
    const short = x / scale;
    return `${short >= 10 ? short.toFixed(0) : Number(short.toPrecision(3))}${letter}`;
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
    const {log10_compute, parameters, tokens, tokens_per_parameter, loss, least_run, largest_run, called, rivals, rule} = JSON.parse(grid.textContent);
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
        `${interval(at(tokens_per_parameter), x => x >= 10 ? x.toFixed(0) : x.toPrecision(2))} tokens per parameter, ` +
        `loss ${interval(at(loss), x => x.toFixed(2))}, under ${called}; ${beyond}. ` +
        `Strength: ${strengthAt(best, others, compute)}. 20 tokens per parameter lose ${(100 * linear(rule, place / stride)[0]).toPrecision(2)}% of the loss.`;
    };
    Object.assign(slider, {min: first, max: last});
    slider.value = Math.log10(10 * largest_run);
    form.hidden = false;
    form.addEventListener("submit", event => { event.preventDefault(); answer(); });
    input.addEventListener("input", answer);
    slider.addEventListener("input", () => { input.value = `${powers(10 ** Number(slider.value))} FLOP`; answer(); });
  }

  // A figure as it is drawn in light colours, as a file.
  const plain = drawing => {
    const copy = drawing.cloneNode(true), {width, height} = drawing.viewBox.baseVal;
    for (const [name, x] of Object.entries({xmlns: "http://www.w3.org/2000/svg", width, height})) copy.setAttribute(name, x);
    copy.removeAttribute("aria-hidden");
    return copy.outerHTML.replace(/light-dark\((#\w+), #\w+\)/g, "$1");
  };
  for (const figure of document.querySelectorAll("figure.drawn")) {
    const drawing = () => figure.querySelector(".wide-only svg");
    offer(figure, {
      SVG: () => download(`${figure.id}.svg`, plain(drawing()), "image/svg+xml"),
      PNG: () => {
        const text = plain(drawing()), {width, height} = drawing().viewBox.baseVal;
        downloadPng(figure.id, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, 3 * width, 3 * height);
      },
      CSV: () => download(`${figure.id}.csv`, csv(JSON.parse(figure.querySelector("script").textContent)), "text/csv"),
    });
  }

  // On paper everything that is folded is open, but for code.
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("main details:not(.code)")) { each.dataset.was ??= each.open ? "open" : "closed"; each.open = true; }
  });
  addEventListener("afterprint", () => {
    for (const each of document.querySelectorAll("main details[data-was]")) {
      each.open = each.dataset.was === "open";
      delete each.dataset.was;
    }
  });
})();
