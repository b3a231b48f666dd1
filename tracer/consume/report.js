/* The page of a report: what was asked, sections, keys.  The other scripts draw
 * the pictures; all are one script in the file.  Text of a target gets into
 * the document only as text. */
"use strict";

const run = JSON.parse(document.getElementById("run").textContent);
const SVG = "http://www.w3.org/2000/svg";
const CHAR = 6.65; /* the width of a character in pictures, about */
const SHOWN = 20;  /* of a list, until more are asked for */
const HUES = 8;    /* of series, in report.css */

/* ---- numbers ---- */

/* Those that JavaScript would round are texts. */
function num(v) {
	return Number(v);
}

function show(v) {
	return String(v).replace(/\B(?=(\d{3})+$)/g, ",");
}

function amount(v, word) {
	return show(v) + " " + word + (num(v) === 1 ? "" : "s");
}

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + " %";
}

/* A difference, with its sign. */
function signed(text, v) {
	return (v > 0 ? "+" : v < 0 ? "\u2212" : "\u00b1") + text;
}

function duration(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]];
	const unit = units.find(u => ns >= u[1]) || units[3];
	const v = ns / unit[1];

	return v.toFixed(unit[1] === 1 || v >= 100 ? 0 : v >= 10 ? 1 : 2) +
	    "\u00a0" + unit[0];
}

/* Short, for axes. */
function brief(v) {
	const units = [["E", 1e18], ["P", 1e15], ["T", 1e12], ["G", 1e9],
	    ["M", 1e6], ["k", 1e3]];
	const unit = units.find(u => Math.abs(v) >= u[1]);

	return unit ? Number((v / unit[1]).toPrecision(3)) + unit[0] :
	    String(Number(v.toPrecision(3)));
}

/* About n round numbers from 0 to most. */
function ticks(most, n) {
	if (!(most > 0))
		return [0];
	const raw = most / n, scale = Math.pow(10, Math.floor(Math.log10(raw)));
	const step = [1, 2, 5, 10].find(f => f * scale >= raw) * scale;
	const all = [];

	for (let v = 0; v <= most * 1.0001; v += step)
		all.push(v);
	return all;
}

/* ---- elements ---- */

function fill(e, attributes, children) {
	for (const name in attributes || {})
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), attributes[name]);
		else if (attributes[name] !== null)
			e.setAttribute(name, attributes[name]);
	for (const c of children)
		if (c !== null)
			e.append(c);
	return e;
}

function html(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

function text(x, y, what, attributes) {
	return svg("text", Object.assign({ x: x.toFixed(1), y: y.toFixed(1) },
	    attributes), what);
}

/* A folded stack by its end, where stacks differ. */
function shortKey(key) {
	return key.includes(";") && key.length > 60 ?
	    "\u2026" + key.slice(-58) : key;
}

/* A text that fits, or "". */
function fit(what, width) {
	const room = Math.floor((width - 6) / CHAR);

	return room < 3 ? "" : what.length <= room ? what :
	    what.slice(0, room - 1) + "\u2026";
}

function button(label, title, click) {
	return html("button", { type: "button", title: title, onclick: click },
	    label);
}

function figure(title, note, ...children) {
	return html("figure", null, html("figcaption", null,
	    html("h3", null, title), note ? html("p", null, note) : null),
	    ...children);
}

/* The first of a list, and a button for the others. */
function some(list, n, draw, into) {
	const more = list.length > n ? button("Show all " + show(list.length),
	    "Show all", function () {
		more.remove();
		list.slice(n).forEach(e => into.append(draw(e)));
	}) : null;

	list.slice(0, n).forEach(e => into.append(draw(e)));
	return more;
}

function table(heads, rows) {
	const body = html("tbody");
	const more = some(rows, SHOWN, cells => html("tr", null,
	    ...cells.map((c, i) => html("td",
	    { class: heads[i][1] || null }, c))), body);

	return html("div", null, html("table", null, html("thead", null,
	    html("tr", null, ...heads.map(h => html("th",
	    { class: h[1] || null, scope: "col" }, h[0])))), body), more);
}

/* Draw when it is seen first, and anew when the width changes. */
function drawn(draw) {
	const place = html("div", { class: "drawn" });
	let width = 0;

	new ResizeObserver(function () {
		const now = Math.floor(place.clientWidth);
		if (now !== width && now > 0) {
			width = now;
			place.replaceChildren(draw(width));
		}
	}).observe(place);
	return place;
}

/* ---- what was asked ---- */

function asked(what) {
	return run.asked.filter(a => a[0] === what);
}

function programName() {
	const names = asked("program").map(a => a[1]);

	return names.length === 0 ? "a run" : names[0] +
	    (names.length > 1 ? " and " + (names.length - 1) + " more" : "");
}

function fact(label, value, bad) {
	return html("div", { class: bad ? "fact bad" : "fact" },
	    html("dt", null, label), html("dd", null, value));
}

function moment(time) {
	return time ? time.slice(0, 19).replace("T", " ") + " UTC" : "unknown";
}

function facts() {
	return html("dl", { class: "facts" },
	    fact("Began", moment(run.time)),
	    fact("Took", duration(run.took)),
	    run.listed ? fact("Listed", amount(run.listed, "probe")) :
	    fact("Records", show(run.records)),
	    fact("Errors", show(run.errors), run.errors > 0),
	    fact("Dropped", show(run.drops), run.drops > 0),
	    fact("Status", run.ended ? String(run.status) : "no end",
	    !run.ended || run.status !== 0));
}

function programs() {
	return asked("program").map(a => html("div", null,
	    html("h3", null, a[1] + (a[3] >= 0 ? " matched " +
	    amount(a[3], "probe") : "")), html("pre", null, a[2])));
}

function list(what, title, line) {
	const all = asked(what);

	return all.length === 0 ? null : html("div", null,
	    html("h3", null, title),
	    html("ul", null, ...all.slice(0, 200).map(a =>
	    html("li", null, html("code", null, line(a))))));
}

function sectionAsked() {
	return section("asked", "What was asked", run.asked_left ?
	    amount(run.asked_left, "more item") + " left out" : "",
	    ...programs(),
	    html("div", { class: "lists" },
	    list("process", "Of whom", a => a[3] + " " + a[1]),
	    list("operand", "Operands", a => a[1]),
	    list("option", "Options", a => "-x " + a[1] +
	    (a[2] === "1" ? "" : "=" + a[2]))));
}

function sectionLost() {
	return run.lost.length === 0 ? null : section("lost",
	    "What was dropped, what failed", "",
	    table([["Kind"], ["Message"], ["Count", "n"], ["First", "n"],
	    ["Last", "n"]], run.lost.map(l => [l[0], l[1], show(l[2]),
	    "+" + duration(l[3]), "+" + duration(l[4])])));
}

/* ---- sections ---- */

const sections = [];

function section(id, title, note, ...children) {
	sections.push([id, title]);
	return html("section", { id: id, "aria-labelledby": id + "-title" },
	    html("h2", { id: id + "-title" }, title),
	    note ? html("p", { class: "note" }, note) : null, ...children);
}

function aggName(a) {
	return (a.name === "@" ? "@" : "@" + a.name) + " = " + a.function +
	    "()";
}

function aggNote(a) {
	const n = a.rows.length, parts = [amount(a.keys, "key")];

	if (a.adds)
		parts.push(show(a.total) + " in all");
	if (a.total_earlier !== null)
		parts.push(show(a.total_earlier) + " in the earlier run");
	if (a.prints > 1)
		parts.push("printed " + show(a.prints) + " times");
	if (!a.flame && n < num(a.keys))
		parts.push("the " + show(n) + " largest of " + show(a.keys) +
		    " keys are shown");
	return parts.join(", ");
}

function sectionAgg(a, i) {
	const pictures = [];

	if (a.flame)
		pictures.push(flame(a));
	if (a.heat && a.heat.length)
		pictures.push(heats(a));
	if (a.lines && a.lines.length)
		pictures.push(series(a));
	if (a.rows.length)
		pictures.push(a.hist ? histograms(a) : bars(a));
	return section("agg" + i, aggName(a), aggNote(a), ...pictures);
}

function sectionProbes() {
	if (run.probes.length === 0)
		return null;
	const times = run.all.map((_, i) => (i + 1) * run.bin);
	const lines = run.probes.filter(p => p[2]).map(p => [p[0], p[2]]);
	const left = run.probes_all - run.probes.length;

	if (lines.length > 1)
		lines.unshift(["all probes", run.all]);
	return section("probes", "Records by probe",
	    amount(run.probes_all, "probe") + ", " +
	    amount(run.records, "record") + (left ? ", the " +
	    show(run.probes.length) + " most frequent are shown" : "") +
	    (run.probes_left ? ", " + amount(run.probes_left, "record") +
	    " of further probes" : ""),
	    figure("Records over time", "in each " + duration(run.bin),
	    chart("Records over time", times, lines)),
	    table([["Probe"], ["Records", "n"], ["Share", "n"]],
	    run.probes.map(p => [p[0], show(p[1]),
	    percent(num(p[1]), run.records)])));
}

function contents() {
	return html("nav", { "aria-label": "Sections" },
	    html("ul", null, ...sections.map(s => html("li", null,
	    html("a", { href: "#" + s[0] }, s[1])))));
}

/* ---- keys ---- */

const KEYS = [
	["/", "search a flame graph"],
	["Esc", "the whole again; end the search"],
	["\u2191 \u2193 \u2190 \u2192", "choose a box or a slice"],
	["Enter", "zoom into it"],
	["r", "reversed: who calls"],
	["l", "frames of languages only"],
	["d", "the difference from the earlier run"],
	["w", "widths of the earlier run"],
	["t", "light or dark"],
	["?", "this help"],
];

/* The pictures that take keys, and the one that was used last. */
const views = [];
let view = null;

function help() {
	const dialog = html("dialog", { "aria-label": "Keys" },
	    html("h2", null, "Keys"), html("table", null,
	    ...KEYS.map(k => html("tr", null, html("td", null,
	    html("kbd", null, k[0])), html("td", null, k[1])))),
	    html("form", { method: "dialog" },
	    html("button", null, "Close")));

	document.body.append(dialog);
	dialog.addEventListener("close", () => dialog.remove());
	dialog.showModal();
}

function theme() {
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const root = document.documentElement;
	const now = root.dataset.theme || (dark ? "dark" : "light");

	root.dataset.theme = now === "dark" ? "light" : "dark";
}

/* Arrows scroll and Enter presses buttons, unless a picture has the focus. */
function onKey(e) {
	const typing = e.target.tagName === "INPUT";
	const moves = e.key.startsWith("Arrow") || e.key === "Enter";

	if (e.ctrlKey || e.altKey || e.metaKey ||
	    document.querySelector("dialog") ||
	    (typing && e.key !== "Escape") ||
	    (moves && !e.target.closest("svg")))
		return;
	if (e.key === "?")
		help();
	else if (e.key === "t")
		theme();
	else if (![view, ...views].some(v => v && v.key(e.key)))
		return;
	e.preventDefault();
}

function start() {
	const made = [sectionAsked(), sectionLost(), ...run.aggs.map(sectionAgg),
	    gantt(), sectionProbes()];
	const notes = [];

	if (!run.ended)
		notes.push("The run has no end: it was cut short.");
	if (run.aggs_left)
		notes.push("Further aggregations are left out.");
	document.title = "dtrap: " + programName();
	fill(document.body, null, [
	    html("header", null, html("div", { class: "bar" },
	    html("h1", null, programName()),
	    html("div", { class: "tools" },
	    button("Light or dark", "Key t", theme),
	    button("Keys", "Key ?", help))),
	    facts(), ...notes.map(n => html("p", { class: "warning" }, n)),
	    run.earlier ? html("p", { class: "note" }, "Compared with the run " +
	    "of " + moment(run.earlier) + "." + (run.gone.length ?
	    " Only that had " + run.gone.map(n => "@" + (n === "_" ? "" : n))
	    .join(", ") + "." : "")) : null, contents()),
	    html("main", null, ...made.filter(s => s !== null)),
	    html("footer", null, "dtrap " + run.version)]);
	document.addEventListener("keydown", onKey);
}

document.addEventListener("DOMContentLoaded", start);
