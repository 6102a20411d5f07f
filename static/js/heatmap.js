// The latency heat map and the I/O of each device, drawn on canvases. The numbers come as JSON from the server, which
// has put them into columns already; here they are only coloured, labelled and zoomed.
"use strict";

(() => {
  const box = document.getElementById("heatmap");
  if (!box) return;
  const words = box.dataset;
  const heat = box.querySelector(".heat-canvas");
  const devices = box.querySelector(".device-canvas");
  const fold = box.querySelector("details"); // nothing is loaded before it is opened, and nothing drawn
  const readout = box.querySelector(".heat-readout");
  const back = box.querySelector("[data-heat-back]");
  const hint = readout.textContent;
  const MARGIN = { left: 62, right: 10, top: 18, bottom: 22 };
  const FLAG = 15; // height of a line of flags above the map
  const NAME = 17; // height of a device's name above its row, which it must not cover
  const ROW = 36; // height of a device's row with its name
  const STRIP = 50; // height of the strip with flushes and commits below the map
  const FONT = "12px system-ui, sans-serif";
  const LIVE_S = 20;
  // Cividis (Nuñez, Anderton and Renslow, 2018): made to look alike with and without colour blindness.
  const CIVIDIS = [[0, 32, 77], [49, 68, 107], [102, 105, 112], [149, 143, 120], [202, 186, 106], [255, 234, 70]];
  const DAY_S = 86400;

  let data = null;
  let range = asked() || { start: now() - Number(words.shown), end: now(), live: true };
  let past = [];
  let flags = [];
  let cursor = null; // number of the column that is pointed at
  let row = null;
  let drag = null;
  let request = 0;

  // A range can be linked to: ?start=…&end=… in seconds since 1970.
  function asked() {
    const query = new URLSearchParams(window.location.search);
    const [start, end] = [Number(query.get("start")), Number(query.get("end"))];
    return start > 0 && end > start ? { start, end, live: false } : null;
  }

  function now() { return Math.floor(Date.now() / 1000); }
  function isDark() { return document.documentElement.dataset.bsTheme === "dark"; }
  function css(name) { return getComputedStyle(document.body).getPropertyValue(name).trim(); }

  // Low counts are close to the page's background, high ones far from it, in both themes.
  function colour(share) {
    const place = (isDark() ? share : 1 - share) * (CIVIDIS.length - 1);
    const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
    const part = place - low;
    return `rgb(${CIVIDIS[low].map((value, i) => Math.round(value + (CIVIDIS[low + 1][i] - value) * part)).join(",")})`;
  }

  function shareOf(count, most) { return most > 1 ? Math.log(count) / Math.log(most) : 1; }

  // In the language of the page, which may be another one than that of the browser.
  function number(value) { return value.toLocaleString(document.documentElement.lang); }

  // Two figures: a bucket of the histogram is twice as wide as the one before, no more is known.
  function time(ns) {
    const [unit, per] = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]].findLast(([, each]) => ns >= each) || ["ns", 1];
    return `${number(Number((ns / per).toPrecision(2)))} ${unit}`;
  }

  // Round times within the buckets shown: 1, 2 and 5 of each power of ten, where rows are high enough for their labels.
  function roundTimes(limits, rowHeight) {
    const found = [];
    for (let power = 0; power <= 11; power += 1) {
      for (const first of rowHeight >= 14 ? [1, 2, 5] : [1]) found.push(first * 10 ** power);
    }
    return found.filter((ns) => ns >= 2 ** limits.low && ns <= 2 ** limits.high);
  }

  function clock(seconds, length) {
    const options = length > 2 * DAY_S
      ? { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }
      : { hour: "2-digit", minute: "2-digit", ...(length < 1800 ? { second: "2-digit" } : {}) };
    return new Date(seconds * 1000).toLocaleString(document.documentElement.lang, { hourCycle: "h23", ...options });
  }

  function prepare(canvas, height) {
    const width = canvas.parentElement.clientWidth;
    const scale = window.devicePixelRatio || 1;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = FONT;
    pen.textBaseline = "middle";
    return { pen, width, inner: width - MARGIN.left - MARGIN.right };
  }

  function x(seconds, inner) {
    return MARGIN.left + ((seconds - data.start) / (data.end - data.start)) * inner;
  }

  // The first and the last column may reach beyond the range.
  function cell(pen, inner, left, top, width, height) {
    const from = Math.max(left, MARGIN.left);
    const to = Math.min(left + width, MARGIN.left + inner);
    if (to > from) pen.fillRect(from, top, to - from, height);
  }

  function columnWidth(inner) { return Math.max((data.step / (data.end - data.start)) * inner, 1); }

  // Round moments of the clock on the wall: whole minutes, hours, or days, as many as have room.
  const STEPS = [60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, DAY_S, 2 * DAY_S, 7 * DAY_S, 14 * DAY_S, 28 * DAY_S];

  function roundMoments(inner) {
    const length = data.end - data.start;
    const atMost = Math.max(Math.floor(inner / (length > 2 * DAY_S ? 130 : 80)), 2);
    const step = STEPS.find((each) => length / each <= atMost) || Math.ceil(length / atMost / DAY_S) * DAY_S;
    const offset = new Date(data.end * 1000).getTimezoneOffset() * 60;
    const found = [];
    for (let at = Math.ceil((data.start - offset) / step) * step + offset; at <= data.end; at += step) found.push(at);
    return found;
  }

  function drawTimes(pen, inner, top, bottom) {
    const length = data.end - data.start;
    pen.fillStyle = css("--bs-secondary-color");
    pen.strokeStyle = css("--bs-border-color");
    for (const at of roundMoments(inner)) {
      const place = x(at, inner);
      pen.beginPath();
      pen.moveTo(place, top);
      pen.lineTo(place, bottom + 4);
      pen.globalAlpha = 0.5;
      pen.stroke();
      pen.globalAlpha = 1;
      const text = clock(at, length);
      const half = pen.measureText(text).width / 2;
      pen.textAlign = place - half < MARGIN.left - 20 ? "left" : place + half > MARGIN.left + inner ? "right" : "center";
      pen.fillText(text, place, bottom + 13);
    }
  }

  function drawMarks(pen, inner, top, bottom, label) {
    for (const [number, mark] of data.marks.entries()) {
      const place = x(mark.at, inner);
      pen.strokeStyle = pen.fillStyle = css("--bs-danger");
      pen.setLineDash([4, 3]);
      pen.beginPath();
      pen.moveTo(place, top);
      pen.lineTo(place, bottom);
      pen.stroke();
      pen.setLineDash([]);
      const flag = label && flags[number];
      if (flag) {
        pen.fillStyle = css("--bs-body-color");
        pen.textAlign = "left";
        pen.fillText(flag.text, flag.left, top - 9 - flag.line * FLAG);
      }
    }
  }

  // Where each flag stands: in the lowest line that has room, without its words where none has, else nowhere.
  function placeFlags(pen, inner) {
    const ends = [-Infinity, -Infinity];
    pen.font = FONT;
    return data.marks.map((mark) => {
      for (const text of [`⚑ ${mark.what}`, "⚑"]) {
        const wide = pen.measureText(text).width;
        const left = Math.min(x(mark.at, inner), MARGIN.left + inner - wide);
        const line = ends.findIndex((end) => left > end + 6);
        if (line >= 0) {
          ends[line] = left + wide;
          return { text, left, line };
        }
      }
      return null;
    });
  }

  function bounds() {
    let low = 37;
    let high = 0;
    let most = 0;
    for (const [first, ...counts] of data.heat.filter((each) => each.length)) {
      low = Math.min(low, first);
      high = Math.max(high, first + counts.length);
      for (const count of counts) most = Math.max(most, count);
    }
    return high ? { low: Math.max(low - 1, 0), high: Math.min(high + 1, 37), most } : { low: 14, high: 30, most: 0 };
  }

  function drawHeat() {
    const limits = bounds();
    const rows = limits.high - limits.low;
    const rowHeight = Math.max(Math.min(Math.floor(300 / rows), 22), 10);
    flags = placeFlags(heat.getContext("2d"), heat.parentElement.clientWidth - MARGIN.left - MARGIN.right);
    MARGIN.top = flags.some((flag) => flag && flag.line) ? 18 + FLAG : 18;
    const bottom = MARGIN.top + rows * rowHeight;
    const { pen, width, inner } = prepare(heat, bottom + MARGIN.bottom + STRIP);
    const wide = columnWidth(inner);
    Object.assign(heat, { limits, rowHeight });
    pen.fillStyle = css("--bs-tertiary-bg");
    pen.fillRect(MARGIN.left, MARGIN.top, inner, rows * rowHeight);
    data.heat.forEach(([first, ...counts], column) => {
      counts.forEach((count, i) => {
        if (!count) return;
        pen.fillStyle = colour(shareOf(count, limits.most));
        const y = bottom - (first + i - limits.low + 1) * rowHeight;
        cell(pen, inner, x(data.at[column], inner) - wide, y, wide + 0.5, rowHeight);
      });
    });
    pen.fillStyle = css("--bs-secondary-color");
    pen.textAlign = "right";
    for (const ns of roundTimes(limits, rowHeight)) {
      pen.fillText(time(ns), MARGIN.left - 6, bottom - (Math.log2(ns) - limits.low) * rowHeight);
    }
    drawStrip(pen, inner, bottom + MARGIN.bottom + 4);
    drawTimes(pen, inner, MARGIN.top, bottom);
    drawMarks(pen, inner, MARGIN.top, bottom, true);
    drawCursor(pen, inner, MARGIN.top, bottom, rowHeight, limits, width);
    if (!data.at.length) {
      pen.textAlign = "center";
      pen.fillStyle = css("--bs-body-color");
      pen.fillText(words.empty, MARGIN.left + inner / 2, MARGIN.top + 60);
    }
  }

  function drawStrip(pen, inner, top) {
    drawLine(pen, inner, top, data.flush_ms, css("--bs-orange"), [], words.flush, " ms");
    drawLine(pen, inner, top, data.commits, css("--bs-link-color"), [3, 2], words.demand, "/s");
  }

  function drawLine(pen, inner, top, values, stroke, dash, name, unit) {
    const height = STRIP - 20;
    const most = Math.max(...values.filter((value) => value !== null), 0);
    const isFirst = dash.length === 0;
    pen.textAlign = isFirst ? "left" : "right";
    pen.fillStyle = css("--bs-body-color");
    const peak = number(most < 10 ? Math.round(most * 10) / 10 : Math.round(most));
    const text = `${isFirst ? "—" : "╌"} ${name}: ${words.peak} ${peak}${unit}`;
    pen.fillText(most ? text : `${name}: ${words.none}`, isFirst ? MARGIN.left : MARGIN.left + inner, top + height + 10);
    if (!most) return;
    pen.strokeStyle = stroke;
    pen.lineWidth = 1.5;
    pen.setLineDash(dash);
    pen.beginPath();
    let last = null;
    values.forEach((value, i) => {
      if (value === null) return;
      const place = [x(data.at[i] - data.step / 2, inner), top + height - (value / most) * (height - 2)];
      const isGap = last === null || data.at[i] - data.at[last] > 2 * data.step;
      pen[isGap ? "moveTo" : "lineTo"](...place);
      last = i;
    });
    pen.stroke();
    pen.setLineDash([]);
    pen.lineWidth = 1;
  }

  function drawCursor(pen, inner, top, bottom, rowHeight, limits) {
    pen.strokeStyle = css("--bs-body-color");
    if (drag) {
      pen.globalAlpha = 0.2;
      pen.fillStyle = css("--bs-primary");
      pen.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), bottom - top);
      pen.globalAlpha = 1;
    }
    if (cursor === null || !data.at[cursor]) return;
    const wide = columnWidth(inner);
    pen.strokeRect(x(data.at[cursor], inner) - wide, top, wide, bottom - top);
    if (row !== null) {
      pen.strokeRect(x(data.at[cursor], inner) - wide - 2, bottom - (row - limits.low + 1) * rowHeight, wide + 4, rowHeight);
    }
  }

  function drawDevices() {
    const shown = data.devices;
    const bottom = MARGIN.top + Math.max(shown.length, 1) * ROW;
    const { pen, inner } = prepare(devices, bottom + MARGIN.bottom);
    const wide = columnWidth(inner);
    const most = shown.reduce((top, each) => Math.max(top, ...each.counts), 0);
    shown.forEach((device, number) => {
      const top = MARGIN.top + number * ROW;
      pen.fillStyle = css("--bs-tertiary-bg");
      pen.fillRect(MARGIN.left, top + NAME, inner, ROW - NAME - 2);
      device.counts.forEach((count, i) => {
        if (!count) return;
        pen.fillStyle = colour(shareOf(count, most));
        cell(pen, inner, x(data.at[i], inner) - wide, top + NAME, wide + 0.5, ROW - NAME - 2);
      });
      pen.textAlign = "left";
      pen.fillStyle = css("--bs-body-color");
      pen.fillText(device.name || words.gone, MARGIN.left, top + NAME / 2 + 1, inner);
      pen.textAlign = "right";
      pen.fillStyle = css("--bs-secondary-color");
      // Of one that is gone the name says so already, and no margin is as wide as that.
      const role = device.class === "gone" ? "" : (words[device.class] ?? device.class);
      pen.fillText(role, MARGIN.left - 6, top + NAME + (ROW - NAME) / 2 - 1);
    });
    drawTimes(pen, inner, MARGIN.top, bottom);
    drawMarks(pen, inner, MARGIN.top, bottom, false);
  }

  function drawScale() {
    const { most } = bounds();
    box.querySelector("[data-heat-most]").textContent = most ? words.most.replace("{count}", number(most)) : "";
    const scale = box.querySelector(".heat-scale");
    const pen = scale.getContext("2d");
    for (let i = 0; i < scale.width; i += 1) {
      pen.fillStyle = colour(i / (scale.width - 1));
      pen.fillRect(i, 0, 1, scale.height);
    }
  }

  function draw() {
    if (!data || !fold.open) return;
    drawHeat();
    drawDevices();
    heat.dataset.drawn = "";
    drawScale();
  }

  function say() {
    if (cursor === null || !data.at[cursor]) {
      readout.textContent = hint;
      return;
    }
    const length = data.end - data.start;
    const from = data.at[cursor] - data.step;
    const parts = [`${clock(from, length)} – ${clock(data.at[cursor], length)}`];
    const [first, ...counts] = data.heat[cursor].length ? data.heat[cursor] : [0];
    if (row !== null) {
      const count = counts[row - first] || 0;
      parts.push(`${time(2 ** row)} – ${time(2 ** (row + 1))}: ${number(count)} ${words.ios}`);
    } else {
      counts.forEach((count, i) => { if (count) parts.push(`≥ ${time(2 ** (first + i))}: ${number(count)}`); });
    }
    parts.push(`${number(data.commits[cursor] ?? 0)} ${words.commits}`);
    if (data.flush_ms[cursor] != null) parts.push(`${words.flush} ${number(data.flush_ms[cursor])} ms`);
    readout.textContent = parts.join(" · ");
  }

  async function load() {
    const number = ++request;
    const query = new URLSearchParams({ start: range.start, end: range.end });
    for (const select of box.querySelectorAll("[data-heat]")) query.set(select.dataset.heat, select.value);
    try {
      const answer = await fetch(`${words.url}?${query}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.statusText);
      const found = await answer.json();
      if (number !== request) return;
      data = found;
    } catch {
      readout.textContent = words.failed;
      return;
    }
    if (cursor !== null && cursor >= data.at.length) cursor = null;
    draw();
    say();
  }

  function show(next) {
    range = next;
    cursor = row = null;
    readout.textContent = words.loading;
    back.disabled = past.length === 0;
    for (const button of box.querySelectorAll("[data-range]")) {
      const isShown = range.live && Number(button.dataset.range) === range.end - range.start;
      button.setAttribute("aria-pressed", isShown);
      button.classList.toggle("active", isShown);
    }
    load();
  }

  function zoomTo(start, end) {
    if (end - start < 2 * data.step && end - start < 120) return;
    past.push(range);
    show({ start: Math.floor(start), end: Math.ceil(end), live: false });
  }

  function columnAt(place, inner) {
    const seconds = data.start + ((place - MARGIN.left) / inner) * (data.end - data.start);
    const found = data.at.findIndex((at) => at >= seconds && at - data.step <= seconds);
    return found < 0 ? null : found;
  }

  function secondsAt(place, inner) {
    const share = Math.min(Math.max((place - MARGIN.left) / inner, 0), 1);
    return data.start + share * (data.end - data.start);
  }

  function inner() { return heat.clientWidth - MARGIN.left - MARGIN.right; }

  heat.addEventListener("pointerdown", (event) => {
    if (!data || event.pointerType === "touch") return;
    drag = { from: event.offsetX, to: event.offsetX };
    heat.setPointerCapture(event.pointerId);
  });
  heat.addEventListener("pointermove", (event) => {
    if (!data) return;
    if (drag) drag.to = event.offsetX;
    cursor = columnAt(event.offsetX, inner());
    const { limits, rowHeight } = heat;
    const bottom = MARGIN.top + (limits.high - limits.low) * rowHeight;
    const bucket = limits.low + Math.floor((bottom - event.offsetY) / rowHeight);
    row = bucket >= limits.low && bucket < limits.high ? bucket : null;
    drawHeat();
    say();
  });
  heat.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (done && Math.abs(done.to - done.from) > 6) {
      const ends = [secondsAt(done.from, inner()), secondsAt(done.to, inner())].sort((a, b) => a - b);
      zoomTo(...ends);
    } else if (data) drawHeat();
  });
  heat.addEventListener("pointerleave", () => {
    if (!data || drag) return;
    cursor = row = null;
    drawHeat();
    say();
  });
  heat.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (!data || !data.at.length) return;
    if (step) {
      event.preventDefault();
      const start = cursor === null ? data.at.length - 1 - step : cursor;
      cursor = Math.min(Math.max(start + step, 0), data.at.length - 1);
      row = null;
      drawHeat();
      say();
    } else if (event.key === "Enter" && cursor !== null) {
      const quarter = (data.end - data.start) / 8;
      zoomTo(data.at[cursor] - quarter, data.at[cursor] + quarter);
    } else if (event.key === "Escape" && past.length) {
      show(past.pop());
    }
  });
  back.addEventListener("click", () => { if (past.length) show(past.pop()); });
  for (const button of box.querySelectorAll("[data-range]")) {
    button.addEventListener("click", () => {
      past = [];
      show({ start: now() - Number(button.dataset.range), end: now(), live: true });
    });
  }
  for (const select of box.querySelectorAll("[data-heat]")) select.addEventListener("change", load);
  window.addEventListener("resize", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-bs-theme"] });
  window.setInterval(() => {
    if (!range.live || document.hidden || drag || !fold.open) return;
    range = { start: now() - (range.end - range.start), end: now(), live: true };
    load();
  }, LIVE_S * 1000);

  fold.addEventListener("toggle", () => { if (fold.open && !data) show(range); else draw(); });
  if (fold.open) show(range);
})();
