/* Histograms, bars, lines over time, heat maps and slices of threads. */

const LANE = 16; /* the height of a slice */
const MAPS = 6;  /* heat maps and histograms, until more are asked for */

/* ---- histograms and bars ---- */

/* A bar as a part of the longest; `was' is that of the earlier run, or null. */
function bar(v, was, longest) {
	const share = x => (longest ? 100 * Math.abs(num(x)) / longest : 0)
	    .toFixed(2) + "%";

	return html("span", { class: "track" },
	    html("span", { class: num(v) < 0 ? "bar negative" : "bar",
	    style: "width:" + share(v) }),
	    was === null ? null : html("span", { class: "bar was",
	    style: "width:" + share(was) }));
}

function barRow(label, v, was, longest) {
	const d = was === null ? 0 : num(v) - num(was);

	return html("div", { class: "row", title: label + ": " + show(v) +
	    (was === null ? "" : ", earlier " + show(was)) },
	    html("span", { class: "label" }, shortKey(label)), bar(v, was, longest),
	    html("span", { class: "n" }, show(v)),
	    was === null ? null : html("span", { class: d > 0 ? "n up" :
	    d < 0 ? "n down" : "n" }, signed(show(Math.abs(d)), d)));
}

function longestOf(list) {
	return list.reduce((m, r) => Math.max(m, Math.abs(num(r[0])),
	    r[1] === null ? 0 : Math.abs(num(r[1]))), 0);
}

function histogram(a, row) {
	const compared = row[2] !== null;
	const longest = longestOf(row[3].map(b => [b[1],
	    compared ? b[2] : null]));

	return figure((row[0] === "" ? aggName(a) : row[0]),
	    amount(row[1], "value") + (compared ? ", " + show(row[2]) +
	    " in the earlier run" : ""),
	    html("div", { class: compared ? "hist compared" : "hist", role:
	    "img", "aria-label": "Histogram of " + aggName(a) + " " + row[0] },
	    ...row[3].map(b => barRow(b[0], b[1], compared ? b[2] : null,
	    longest))));
}

function histograms(a) {
	const into = html("div", { class: "grid" });
	const more = some(a.rows, MAPS, r => histogram(a, r), into);

	return html("div", null, into, more);
}

function bars(a) {
	const compared = a.total_earlier !== null;
	const longest = longestOf(a.rows.map(r => [r[1], r[2]]));
	const into = html("div", { class: compared ? "bars compared" : "bars" });
	const more = some(a.rows, SHOWN, r => barRow(r[0] === "" ? aggName(a) :
	    r[0], r[1], compared ? r[2] === null ? 0 : r[2] : null, longest),
	    into);
	const sum = a.rows.reduce((s, r) => s + BigInt(r[1]), 0n);
	const rest = BigInt(a.total) - sum;

	return figure("Keys by value", a.prints > 1 ? a.adds ?
	    "in all prints" : "as last printed" : "", into, more,
	    a.adds && a.rows.length < num(a.keys) ? html("p",
	    { class: "note" }, "the other keys: " + show(rest)) : null);
}

/* ---- lines ---- */

function timeAxis(out, from, to, x, y, width) {
	for (const t of ticks(to - from, Math.max(2, width / 120))) {
		const at = x + (to > from ? t / (to - from) * width : 0);
		out.append(svg("line", { class: "tick", x1: at.toFixed(1), x2:
		    at.toFixed(1), y1: y, y2: y + 4 }),
		    text(at, y + 17, from + t ? "+" + duration(from + t) : "0",
		    { "text-anchor": at > x + width - 30 ? "end" : at < x + 30 ?
		    "start" : "middle" }));
	}
}

/* The values of each line at the same times. */
function chart(title, times, lines) {
	const off = new Set(lines.slice(HUES).map((_, i) => i + HUES));
	const place = drawn(draw);
	const said = html("p", { class: "said", "aria-live": "polite" });
	const LEFT = 56, HEIGHT = 220, TOP = 10;

	function shown() {
		return lines.map((l, i) => [l[0], l[1], i]).filter(l =>
		    !off.has(l[2]));
	}

	function draw(width) {
		const end = times[times.length - 1] || 1;
		const all = shown().flatMap(l => l[1]).filter(v => v !== null)
		    .map(num);
		const most = Math.max(1, ...all), least = Math.min(0, ...all);
		const w = width - LEFT - 8;
		const px = i => LEFT + times[i] / end * w;
		const py = v => TOP + HEIGHT * (1 - (num(v) - least) /
		    (most - least));
		const out = svg("svg", { class: "chart", width: width, height:
		    TOP + HEIGHT + 24, role: "img", "aria-label": title,
		    onmousemove: e => tell(e, px, out) });

		for (const v of ticks(most, 4))
			out.append(svg("line", { class: "grid", x1: LEFT, x2:
			    LEFT + w, y1: py(v).toFixed(1), y2:
			    py(v).toFixed(1) }), text(LEFT - 6, py(v) + 4,
			    brief(v), { "text-anchor": "end" }));
		timeAxis(out, 0, end, LEFT, TOP + HEIGHT, w);
		shown().forEach(l => line(out, l, px, py));
		return out;
	}

	function line(out, l, px, py) {
		let path = "", pen = "M", n = 0;

		l[1].forEach(function (v, i) {
			if (v === null) {
				pen = "M";
				return;
			}
			path += pen + px(i).toFixed(1) + " " + py(v).toFixed(1);
			pen = "L";
			n++;
		});
		out.append(svg("path", { class: "line hue" + l[2] % HUES,
		    d: path }, svg("title", null, l[0])));
		if (n <= 100)
			l[1].forEach((v, i) => v === null ? null : out.append(
			    svg("circle", { class: "hue" + l[2] % HUES, r: 2.5,
			    cx: px(i).toFixed(1), cy: py(v).toFixed(1) },
			    svg("title", null, l[0] + "\n" + show(v) + " at +" +
			    duration(times[i])))));
	}

	function tell(e, px, out) {
		const x = e.clientX - out.getBoundingClientRect().left;
		const i = times.reduce((best, _, j) => Math.abs(px(j) - x) <
		    Math.abs(px(best) - x) ? j : best, 0);

		said.textContent = "+" + duration(times[i]) + ": " +
		    shown().slice(0, HUES).map(l => l[0] + " " + (l[1][i] ===
		    null ? "\u2013" : show(l[1][i]))).join(" \u00b7 ");
	}

	const legend = html("div", { class: "legend" });
	const more = some(lines.map((l, i) => [l[0], i]), 2 * HUES, l => {
		const b = button("", "Show or hide", function () {
			if (!off.delete(l[1]))
				off.add(l[1]);
			b.setAttribute("aria-pressed", !off.has(l[1]));
			place.replaceChildren(draw(place.clientWidth));
		});
		b.setAttribute("aria-pressed", !off.has(l[1]));
		b.append(html("span", { class: "key hue" + l[1] % HUES }),
		    l[0] === "" ? title : shortKey(l[0]));
		return b;
	}, legend);
	return html("div", null, place, said, legend, more);
}

function series(a) {
	const sorted = a.lines.slice().sort((x, y) => peak(y) - peak(x));
	const notes = [];

	if (a.lines.length < num(a.keys))
		notes.push("the " + show(a.lines.length) + " largest of " +
		    show(a.keys) + " keys");
	if (a.stride > 1)
		notes.push("the last of each " + a.stride + " prints");
	return figure("Over time, as printed", notes.join(", "),
	    chart(aggName(a) + " over time", a.times, sorted));
}

function peak(line) {
	return line[1].reduce((m, v) => v === null ? m :
	    Math.max(m, Math.abs(num(v))), 0);
}

/* ---- heat maps ---- */

function heat(a, map) {
	const [key, flat, buckets] = map;
	const cells = [];
	const labels = new Map(buckets.map(b => [String(b[3]), b[0]]));

	for (let i = 0; i < flat.length; i += 3)
		cells.push([flat[i], String(flat[i + 1]), num(flat[i + 2])]);
	/* Empty rows at both ends are of no use. */
	const values = [...new Set(cells.map(c => c[1]))].sort((x, y) =>
	    num(x) - num(y));
	const all = buckets.map(b => String(b[3])).filter(v =>
	    num(v) >= num(values[0]) &&
	    num(v) <= num(values[values.length - 1]));
	values.forEach(v => all.includes(v) || all.push(v));
	const most = Math.max(...cells.map(c => c[2]));
	const rows = new Map(all.map((v, i) => [v, all.length - 1 - i]));
	const said = html("p", { class: "said", "aria-live": "polite" });
	const LEFT = 90;

	function draw(width) {
		const w = width - LEFT - 8, n = a.times.length;
		const h = Math.max(8, Math.min(22, 240 / all.length));
		const cw = w / n, height = all.length * h;
		const out = svg("svg", { class: "heat", width: width,
		    height: height + 24, role: "img", "aria-label":
		    "Heat map of " + aggName(a) + " " + key });

		out.append(svg("rect", { class: "empty", x: LEFT, y: 0,
		    width: w, height: height }));
		for (const c of cells) {
			const from = c[0] ? a.times[c[0] - 1] : 0;
			const says = label(c[1]) + "\n+" + duration(from) +
			    " to +" + duration(a.times[c[0]]) + "\n" +
			    show(c[2]);
			out.append(svg("rect", { class: "cell", x: (LEFT +
			    c[0] * cw).toFixed(2), y: (rows.get(c[1]) *
			    h).toFixed(2), width: (cw > 3 ? cw - 1 : cw)
			    .toFixed(2), height: (h - 1).toFixed(2), style:
			    "--a:" + Math.sqrt(Math.max(0, c[2]) / most)
			    .toFixed(3), onmouseenter: () => said.textContent =
			    says.replaceAll("\n", " \u00b7 ") },
			    svg("title", null, says)));
		}
		const each = Math.ceil(14 / h);
		all.forEach((v, i) => rows.get(v) % each ? null : out.append(text(LEFT -
		    6, rows.get(v) * h + h / 2 + 4, label(v),
		    { "text-anchor": "end" })));
		columnAxis(out, height, w, n);
		return out;
	}

	function label(v) {
		return labels.get(v) || v;
	}

	function columnAxis(out, y, w, n) {
		const each = Math.max(1, Math.ceil(n / (w / 90)));
		for (let i = each - 1; i < n; i += each)
			out.append(text(LEFT + (i + 1) / n * w, y + 17, "+" +
			    duration(a.times[i]), { "text-anchor": "end" }));
	}

	return figure(key === "" ? aggName(a) : key, "counted in each " +
	    (a.stride > 1 ? a.stride + " prints" : "print") + ", at most " +
	    show(most), drawn(draw), said);
}

function heats(a) {
	const into = html("div", { class: "heats" });
	const more = some(a.heat, MAPS, m => heat(a, m), into);

	return html("div", null, html("h3", null, "Heat map over time"), into,
	    more);
}

/* ---- slices ---- */

/* The slices of each thread, with the depth at which they nest. */
function slicesRead() {
	const flat = run.slices.at;
	const threads = run.slices.threads.map(t => ({ pid: t[0], tid: t[1],
	    busy: 0, depth: 0, all: [] }));

	for (let i = 0; i < flat.length; i += 5) {
		const t = threads[flat[i]], from = flat[i + 2];
		const s = { name: run.names[flat[i + 1]], from: from,
		    end: from + flat[i + 3], mark: flat[i + 4], depth: 0,
		    thread: t };
		t.ends = t.ends || [];
		while (t.ends.length && (t.ends[t.ends.length - 1] <= from &&
		    s.end > from || t.ends[t.ends.length - 1] < s.end))
			t.ends.pop();
		s.depth = t.ends.length;
		t.ends.push(s.end);
		t.busy += s.depth === 0 ? s.end - from : 0;
		t.depth = Math.max(t.depth, s.depth);
		t.all.push(s);
	}
	return threads;
}

const MARKS = ["", "it did not return: a function around it did",
    "it had not returned when the run ended"];

function gantt() {
	const threads = slicesRead();
	const n = run.slices.at.length / 5, LEFT = 110;
	const whole = threads.flatMap(t => t.all).reduce((r, s) =>
	    [Math.min(r[0], s.from), Math.max(r[1], s.end)], [Infinity, 1]);
	let range = whole, rows = Math.min(SHOWN, threads.length), at = null;
	let places = new Map(), place = null;
	const said = html("p", { class: "said", "aria-live": "polite" });

	if (n === 0)
		return null;

	function says(s) {
		return [s.name, duration(s.end - s.from), "from +" +
		    duration(s.from), "thread " + s.thread.tid + " of " +
		    s.thread.pid, MARKS[s.mark]].filter(x => x !== "");
	}

	function slice(s, y, px) {
		const x = Math.max(LEFT, px(s.from)), end = px(s.end);
		const w = Math.max(0.5, end - x);
		const g = svg("g", { class: s.mark ? "slice open" : "slice",
		    role: "img", "aria-label": says(s).join(", "),
		    onclick: () => zoom(s), onmouseenter: () => say(s) },
		    svg("title", null, says(s).join("\n")),
		    svg("rect", { x: x.toFixed(2), y: y, width: w.toFixed(2),
		    height: LANE - 1, style: "--h:" + hash(s.name) % 360 }),
		    text(x + 3, y + LANE - 4, fit(s.name, w)));
		places.set(s, g);
		return g;
	}

	function draw(width) {
		const w = width - LEFT - 8;
		const px = t => LEFT + (t - range[0]) / (range[1] - range[0]) *
		    w;
		const list = threads.slice(0, rows);
		const height = list.reduce((h, t) => h + (t.depth + 1) * LANE +
		    6, 0);
		const out = svg("svg", { class: "gantt", width: width, height:
		    height + 24, tabindex: 0, role: "group", "aria-label":
		    "Gantt chart of threads: arrows choose a slice, enter " +
		    "zooms", onfocus: use });
		let y = 0;

		places = new Map();
		for (const t of list) {
			const last = [];
			out.append(svg("rect", { class: "empty", x: LEFT, y: y,
			    width: w, height: (t.depth + 1) * LANE }),
			    text(LEFT - 6, y + LANE - 4, t.pid === t.tid ?
			    String(t.tid) : t.pid + "/" + t.tid,
			    { "text-anchor": "end" }));
			for (const s of t.all) {
				/* One of those in the same half of a pixel. */
				const end = Math.round(2 * px(s.end));
				if (s.end < range[0] || s.from > range[1] ||
				    end === last[s.depth])
					continue;
				last[s.depth] = end;
				out.append(slice(s, y + s.depth * LANE, px));
			}
			y += (t.depth + 1) * LANE + 6;
		}
		timeAxis(out, range[0], range[1], LEFT, height, w);
		return out;
	}

	function redraw() {
		const focused = place.contains(document.activeElement);

		place.replaceChildren(draw(place.clientWidth));
		if (focused)
			place.firstChild.focus({ preventScroll: true });
		choose(at);
	}

	function zoom(s) {
		const more = Math.max(1, (s.end - s.from) * 0.02);

		use();
		at = s;
		range = [Math.max(0, s.from - more), s.end + more];
		redraw();
	}

	function reset() {
		range = whole;
		redraw();
	}

	function say(s) {
		said.textContent = says(s).join(" \u00b7 ");
	}

	function choose(s) {
		places.forEach(g => g.classList.remove("at"));
		at = s;
		if (s && places.has(s)) {
			places.get(s).classList.add("at");
			say(s);
		}
	}

	function move(key) {
		const drawnOnes = [...places.keys()];
		const i = drawnOnes.indexOf(at);
		const step = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
		const level = key === "ArrowLeft" || key === "ArrowRight";

		if (i < 0)
			return choose(drawnOnes[0]);
		for (let j = i + step; j >= 0 && j < drawnOnes.length;
		    j += step) {
			const s = drawnOnes[j];
			if (level ? s.thread === at.thread && s.depth ===
			    at.depth : s.thread !== at.thread || s.depth ===
			    at.depth + step)
				return choose(s);
		}
		return null;
	}

	const self = { key: function (key) {
		if (key.startsWith("Arrow"))
			move(key);
		else if (key === "Escape")
			reset();
		else if (key === "Enter" && at)
			zoom(at);
		else
			return false;
		return true;
	} };

	function use() {
		view = self;
	}

	threads.sort((x, y) => y.busy - x.busy);
	views.push(self);
	place = drawn(draw);
	const more = threads.length > rows ? button("Show all " +
	    amount(threads.length, "thread"), "Show all", function () {
		rows = threads.length;
		more.remove();
		redraw();
	}) : null;
	const all = num(run.slices.all);
	return section("slices", "Time in functions, by thread",
	    (n < all ? "the " + show(n) + " longest of " : "") +
	    amount(all, "slice") + ", " + amount(threads.length, "thread") +
	    (run.slices.threads_left ? ", records of further threads: " +
	    show(run.slices.threads_left) : ""),
	    html("div", { class: "tools" }, button("Whole", "Key Esc", reset)),
	    place, said, more);
}
