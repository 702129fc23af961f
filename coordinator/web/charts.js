// Makes a page's charts interactive: shows the value under a pointer or at the arrow keys; zooms by dragging, with two
// fingers, or with + and -; shows everything again with Escape. The picture that came with the page (chart.cpp) is
// replaced by one of equal size, drawn by dygraphs; without scripts it stays.

const DAY_MS = 86_400_000;
const dark = matchMedia("(prefers-color-scheme: dark)");

// The legend plugin sets style attributes, which the page's policy refuses; the values are shown elsewhere here.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);

function make(parent, tag, attributes) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
}

// Colours of the page's own light or dark theme.
function colours(chart) {
  const style = getComputedStyle(chart);
  const colour = (name) => style.getPropertyValue(name).trim();
  return { colors: [colour("--accent")], gridLineColor: colour("--line"), axisLineColor: colour("--line") };
}

function drawBars({ drawingContext, points, dygraph, color }) {
  const ground = dygraph.toDomYCoord(0);
  const width = points.length > 1 ? 0.8 * (points[1].canvasx - points[0].canvasx) : 16;
  drawingContext.fillStyle = color;
  for (const { canvasx, canvasy } of points) drawingContext.fillRect(canvasx - width / 2, canvasy, width, ground - canvasy);
}

// One finger that moves up or down scrolls the page, as everywhere; two fingers zoom the chart.
function interaction() {
  const usual = Dygraph.defaultInteractionModel;
  const withTwo = (handler) => (event, graph, context) => {
    if (event.touches.length > 1 || context.initialTouches?.length > 1) handler(event, graph, context);
  };
  return { ...usual, touchstart: withTwo(usual.touchstart), touchmove: withTwo(usual.touchmove) };
}

function enliven(chart) {
  const { over, shape, y, places, points } = chart.dataset;
  const days = over === "day";
  const number = new Intl.NumberFormat("en", { minimumFractionDigits: Number(places), maximumFractionDigits: Number(places) });
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
  const rows = points.split(",").map((point) => {
    const [at, value] = point.split(" ").map(Number);
    return [days ? new Date(at * DAY_MS) : at, value];
  });
  const sentence = ([at, value]) =>
    `${days ? at.toISOString().slice(0, 10) : `round ${at.toLocaleString("en")}`}: ${number.format(value)} ${y}`;

  const label = chart.querySelector("svg").getAttribute("aria-label");
  const plot = make(chart, "div", { class: "plot", tabindex: "0", role: "slider", "aria-label": `${label}. Arrow keys tell `
    + "single values, plus and minus zoom, Escape shows everything", "aria-valuemin": "0", "aria-valuemax": rows.length - 1 });
  const reading = make(chart, "output", { class: "reading", "aria-hidden": "true" });
  const everything = make(chart, "button", { class: "everything", type: "button" });
  everything.textContent = "Show everything";
  everything.hidden = true;
  chart.classList.add("live");

  let chosen = rows.length - 1;
  const tell = (row) => {
    chosen = row;
    plot.setAttribute("aria-valuenow", row);
    plot.setAttribute("aria-valuetext", sentence(rows[row]));
    reading.textContent = sentence(rows[row]);
  };
  const graph = new Dygraph(plot, rows, {
    ...colours(chart),
    labels: [over, y],
    labelsUTC: true,
    strokeWidth: 2.5,
    fillGraph: shape === "line",
    fillAlpha: 0.1,
    ...(shape === "bars" ? { plotter: drawBars, xRangePad: 16, highlightCircleSize: 0 } : {}),
    includeZero: "zero" in chart.dataset,
    gridLineWidth: 1,
    axisLineWidth: 1,
    rightGap: 8,
    interactionModel: interaction(),
    axes: {
      x: { drawGrid: false, axisLabelFontSize: 13, ...(days ? { axisLabelWidth: 50, pixelsPerLabel: 45 }
        : { axisLabelWidth: 110, pixelsPerLabel: 120, axisLabelFormatter: (at) => `round ${at.toLocaleString("en")}` }) },
      y: { axisLabelFontSize: 13, axisLabelWidth: 44, axisLabelFormatter: (value) => short.format(value) },
    },
    highlightCallback: (event, at, selected, row) => tell(row),
    unhighlightCallback: () => { reading.textContent = ""; },
    drawCallback: (drawn) => { everything.hidden = !drawn.isZoomed(); },
  });
  tell(chosen);
  reading.textContent = "";

  const choose = (row) => {
    chosen = Math.min(Math.max(row, 0), rows.length - 1);
    graph.setSelection(chosen);
    tell(chosen);
  };
  const zoom = (factor) => {
    const [from, to] = graph.xAxisRange();
    const [first, last] = graph.xAxisExtremes();
    const at = Math.min(Math.max(Number(rows[chosen][0]), from), to);
    const range = [Math.max(first, at - (at - from) * factor), Math.min(last, at + (to - at) * factor)];
    if (range[0] <= first && range[1] >= last) graph.resetZoom();
    else graph.updateOptions({ dateWindow: range });
  };
  const reset = () => {
    graph.resetZoom();
    graph.clearSelection();
    reading.textContent = "";
  };
  const keys = {
    ArrowLeft: () => choose(chosen - 1),
    ArrowRight: () => choose(chosen + 1),
    ArrowDown: () => choose(chosen - 1),
    ArrowUp: () => choose(chosen + 1),
    PageDown: () => choose(chosen - 10),
    PageUp: () => choose(chosen + 10),
    Home: () => choose(0),
    End: () => choose(rows.length - 1),
    "+": () => zoom(1 / 2),
    "=": () => zoom(1 / 2),
    "-": () => zoom(2),
    Escape: reset,
  };
  plot.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  everything.addEventListener("click", () => {
    reset();
    plot.focus();  // the button is gone
  });
  dark.addEventListener("change", () => graph.updateOptions(colours(chart)));
  return () => graph.isZoomed() || chart.matches(":hover, :focus-within");
}

// Reloads the page's content from time to time, unless somebody is looking closely.
function refresh(seconds, busy) {
  setInterval(() => {
    if (!document.hidden && !busy.some((isBusy) => isBusy())) location.reload();
  }, seconds * 1000);
}

const busy = [...document.querySelectorAll(".chart")].map(enliven);
const seconds = Number(document.body.dataset.refresh);
if (seconds > 0) refresh(seconds, busy);
