"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const folds = [...document.querySelectorAll("details.section")];
  for (const [id, open] of [["unfold", true], ["fold", false]]) {
    const button = byId(id);
    button.hidden = false;
    button.addEventListener("click", () => folds.forEach((one) => { one.open = open; }));
  }
  // A link to a folded section opens it, also when it is followed again.
  const reveal = (hash) => {
    const target = folds.find((one) => `#${one.id}` === hash);
    if (target) target.open = true;
  };
  window.addEventListener("hashchange", () => reveal(location.hash));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) reveal(link.getAttribute("href"));
  });
  reveal(location.hash);

  // On paper the sections that the findings rest on are open.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = folds.filter((one) => !one.open && one.classList.contains("printed"));
    folded.forEach((one) => { one.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));

  const block = byId("map-data");
  if (!block) return;
  const map = JSON.parse(block.textContent);
  const svg = byId("chart").querySelector("svg");
  const dots = [...svg.querySelectorAll(".p")];
  const readout = byId("readout"), legend = byId("legend"), select = byId("color");
  const FEW = 7, STEPS = 5, SHOWN = 60;

  // Every category differs in shape as well as in color.
  function shape(kind, x, y, r) {
    const h = r * 0.9, t = r * 1.2;
    switch (kind) {
      case 1: return `M${x - h} ${y - h}h${2 * h}v${2 * h}h${-2 * h}z`;
      case 2: return `M${x} ${y - t}L${x + t} ${y + t * 0.8}H${x - t}z`;
      case 3: return `M${x} ${y - t}L${x + t} ${y}L${x} ${y + t}L${x - t} ${y}z`;
      case 4: return `M${x} ${y + t}L${x + t} ${y - t * 0.8}H${x - t}z`;
      case 5: { const a = r * 0.4, b = r * 1.15;
        return `M${x - a} ${y - b}h${2 * a}v${b - a}h${b - a}v${2 * a}h${a - b}v${b - a}h${-2 * a}v${a - b}h${a - b}v${-2 * a}h${b - a}z`; }
      case 6: { const a = r * 0.55;
        return `M${x - h} ${y - h - a}L${x} ${y - a}L${x + h} ${y - h - a}L${x + h + a} ${y - h}L${x + a} ${y}L${x + h + a} ${y + h}` +
          `L${x + h} ${y + h + a}L${x} ${y + a}L${x - h} ${y + h + a}L${x - h - a} ${y + h}L${x - a} ${y}L${x - h - a} ${y - h}z`; }
      default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    }
  }
  const GLYPHS = [...Array(FEW).keys()].map((k) => [`k${k}`, k]);
  const SCALE = [...Array(STEPS).keys()].map((k) => [`s${k}`, 0]);

  // What a choice paints: a glyph for each dot, and the legend.
  function painted(choice) {
    const column = Number(choice.slice(1));
    if (choice[0] === "c") {
      const codes = map.ones.map((ones, i) => (ones.includes(column) ? 0 : map.blank[i].includes(column) ? 2 : 1));
      const [zero, one] = map.values ? map.values[column] : ["0", "1"];
      return { codes, glyphs: [["k0", 0], ["off", 0], ["blank", 3]], labels: [one, zero, "missing"] };
    }
    const other = map.beside[column];
    if (other.numeric) {
      const last = other.labels.length, codes = other.codes.map((c) => Math.min(STEPS - 1, Math.floor((STEPS * c) / last)));
      const labels = [...Array(STEPS).keys()].map((k) => {
        const low = Math.ceil((k * last) / STEPS), high = Math.ceil(((k + 1) * last) / STEPS) - 1;
        return low === high ? other.labels[low] : `${other.labels[low]} to ${other.labels[high]}`;
      });
      return { codes, glyphs: SCALE, labels };
    }
    if (other.labels.length <= FEW) return { codes: other.codes, glyphs: GLYPHS, labels: other.labels };
    const codes = other.codes.map((c) => Math.min(c, FEW - 1));
    return { codes, glyphs: GLYPHS, labels: [...other.labels.slice(0, FEW - 1), `${other.labels.length - FEW + 1} others`] };
  }

  function element(tag, text, name) {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text; // text, never markup
    if (name) node.className = name;
    return node;
  }

  function paint() {
    const { codes, glyphs, labels } = painted(select.value);
    const counts = labels.map(() => 0);
    dots.forEach((dot, i) => {
      const [name, kind] = glyphs[codes[i]];
      dot.setAttribute("class", `p ${name}`);
      dot.setAttribute("d", shape(kind, map.x[i], map.y[i], map.r[i]));
      counts[codes[i]] += map.n[i];
    });
    legend.replaceChildren();
    labels.forEach((label, k) => {
      if (!counts[k]) return;
      const line = element("li"), drawn = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
      for (const [key, value] of [["viewBox", "0 0 16 16"], ["width", 16], ["height", 16], ["aria-hidden", "true"]]) drawn.setAttribute(key, value);
      path.setAttribute("class", glyphs[k][0]);
      path.setAttribute("d", shape(glyphs[k][1], 8, 8, 5));
      drawn.append(path);
      line.append(drawn, element("bdi", label), element("span", `(${counts[k].toLocaleString("en")})`));
      legend.append(line);
    });
  }

  function listed(head, indices) {
    const line = element("p");
    line.append(element("span", `${head}: `));
    indices.slice(0, SHOWN).forEach((j, k) => line.append(k ? ", " : "", element("bdi", map.names[j])));
    if (!indices.length) line.append("none");
    if (indices.length > SHOWN) line.append(` and ${indices.length - SHOWN} more`);
    return line;
  }

  const ring = document.createElementNS(SVG, "circle");
  ring.setAttribute("class", "ring");
  let shown = -1;
  function show(i) {
    if (i === shown) return;
    shown = i;
    for (const [key, value] of [["cx", map.x[i]], ["cy", map.y[i]], ["r", map.r[i] + 4]]) ring.setAttribute(key, value);
    svg.append(ring);
    const number = map.row[i].toLocaleString("en");
    const head = map.n[i] > 1 ? `${map.n[i].toLocaleString("en")} identical rows, the first is row ${number}` : `Row ${number}`;
    readout.replaceChildren(element("p", head, "head"));
    map.beside.forEach((column) => {
      const line = element("p");
      line.append(element("bdi", column.name), ": ", element("bdi", column.labels[column.codes[i]]));
      readout.append(line);
    });
    readout.append(listed(map.head, map.ones[i]));
    if (map.blank[i].length) readout.append(listed("Missing", map.blank[i]));
  }

  function near(event) {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = -1, least = 24 * 24;
    map.x.forEach((x, i) => {
      const away = (x - place.x) ** 2 + (map.y[i] - place.y) ** 2;
      if (away < least) { least = away; best = i; }
    });
    if (best >= 0) show(best);
  }
  svg.addEventListener("pointermove", near);
  svg.addEventListener("pointerdown", near);

  // Left and right go through the dots in order of x, up and down in order of y.
  const order = (values) => values.map((_, i) => i).sort((a, b) => values[a] - values[b] || a - b);
  const across = order(map.x), down = order(map.y);
  byId("chart").addEventListener("keydown", (event) => {
    const way = { ArrowRight: [across, 1], ArrowLeft: [across, -1], ArrowDown: [down, 1], ArrowUp: [down, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    const [list, step] = way;
    const position = shown < 0 ? (step > 0 ? -1 : list.length) : list.indexOf(shown);
    show(list[Math.max(0, Math.min(list.length - 1, position + step))]);
  });
  select.addEventListener("change", paint);
  paint();
})();
