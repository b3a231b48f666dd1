/* Flame graphs.  A node has a name, a count in this run and in the earlier one,
 * and those that it calls.  Of cut stacks, whose outer frames are missing, the
 * node in which one ends counts it (ends), and its outermost frame (cut). */

const BOX = 18;       /* the height of a box */
const NARROW = 0.8;   /* pixels: what is narrower is not drawn */

function nodeNew(name) {
	return { name: name, v: [0, 0], ends: 0, cut: 0, kids: [], by: null,
	    up: null, depth: 0 };
}

/* The list of numbers that page_html.c has made. */
function nodesRead(list) {
	let at = 0;

	/* `outer' is the outermost frame of the stack; null: not yet. */
	function read(up, outer) {
		const n = nodeNew(list[at]);
		n.v = [num(list[at + 1]), num(list[at + 2])];
		n.text = [list[at + 1], list[at + 2]];
		n.ends = num(list[at + 3]);
		outer = outer || (isFrame(n.name) ? n : null);
		if (outer)
			outer.cut += n.ends;
		n.up = up;
		n.depth = up ? up.depth + 1 : 0;
		let kids = list[at + 4];
		at += 5;
		for (; kids > 0; kids--)
			n.kids.push(read(n, outer));
		return n;
	}
	return read(null, null);
}

function nodeName(n) {
	return n.name < 0 ? "all" : n.name === run.names.length ?
	    "(no frame of a language)" : run.names[n.name];
}

/* Not another member of the key. */
function isFrame(name) {
	return name >= 0 && run.kinds[name] !== "k";
}

function nodeStep(n, name) {
	n.by = n.by || new Map();
	let to = n.by.get(name);
	if (!to) {
		to = nodeNew(name);
		to.up = n;
		to.depth = n.depth + 1;
		n.by.set(name, to);
		n.kids.push(to);
	}
	return to;
}

function nodesSort(n) {
	n.kids.sort((a, b) => nodeName(a) < nodeName(b) ? -1 : 1);
	n.kids.forEach(nodesSort);
}

/* Another tree of the same stacks: path() makes a new path of an old one. */
function nodesRemake(root, path, reversed) {
	const to = nodeNew(-1);

	function add(old, v, ends) {
		const names = path(old), frames = names.map(isFrame);
		const outer = reversed ? frames.lastIndexOf(true) :
		    frames.indexOf(true);
		let n = to;

		to.v[0] += v[0];
		to.v[1] += v[1];
		names.forEach(function (name, i) {
			n = nodeStep(n, name);
			n.v[0] += v[0];
			n.v[1] += v[1];
			n.cut += i === outer ? ends : 0;
		});
		n.ends += ends;
	}

	function walk(n, names) {
		const own = n.v.slice();
		n.kids.forEach(function (k) {
			own[0] -= k.v[0];
			own[1] -= k.v[1];
		});
		if (own[0] > 0 || own[1] > 0)
			add(names, own, n.ends);
		n.kids.forEach(k => walk(k, names.concat(k.name)));
	}
	walk(root, []);
	nodesSort(to);
	return to;
}

function onlyLanguages(names) {
	const left = names.filter(n => run.kinds[n] !== "n");

	return left.some(n => run.kinds[n] === "l") || left.length === names.length ?
	    left : left.concat(run.names.length);
}

function deepest(n, slot, least) {
	return n.kids.reduce((d, k) => k.v[slot] >= least ?
	    Math.max(d, deepest(k, slot, least)) : d, n.depth);
}

/* A colour of the object, and a shade of the function. */
function hash(s) {
	let h = 2166136261;

	for (let i = 0; i < s.length; i++)
		h = Math.imul(h ^ s.charCodeAt(i), 16777619) >>> 0;
	return (h ^ h >>> 13) >>> 0;
}

function boxColour(name, kind) {
	const tick = name.indexOf("`");
	const object = hash(tick < 0 ? "" : name.slice(0, tick));

	if (kind === "k")
		return "--h:220;--s:12%;--l:" + hash(name) % 8 + "%";
	if (kind === "l")
		return "--h:" + (90 + hash(name) % 60) + ";--s:45%;--l:" +
		    hash(name) % 10 + "%";
	return "--h:" + (object % 50 + hash(name) % 12) + ";--s:75%;--l:" +
	    hash(name) % 10 + "%";
}

function flame(a) {
	const base = nodesRead(a.flame.nodes);
	const hasEarlier = a.total_earlier !== null;
	const hasLanguages = run.kinds.includes("l");
	const state = { reversed: false, languages: false, differs: hasEarlier,
	    slot: 0, zoom: null, at: null, find: null };
	let root = base, place = null, boxes = new Map();
	const said = html("p", { class: "said", "aria-live": "polite" });
	const found = html("output", { class: "found" });
	const find = html("input", { type: "search",
	    placeholder: "search (regular expression)", "aria-label":
	    "Search functions", oninput: search });
	const toggles = {};

	function toggle(label, key, change) {
		toggles[key] = button(label, "Key " + key, change);
		return toggles[key];
	}

	function press() {
		const are = { r: state.reversed, l: state.languages,
		    d: state.differs, w: state.slot === 1 };
		for (const key in toggles)
			toggles[key].setAttribute("aria-pressed", are[key]);
	}

	function remake() {
		root = base;
		if (state.languages)
			root = nodesRemake(root, onlyLanguages, false);
		if (state.reversed)
			root = nodesRemake(root, n => n.slice().reverse(), true);
		state.zoom = state.at = null;
		draw();
	}

	/* ---- search ---- */

	function share(n) {
		return state.find(n) ? n.v[state.slot] :
		    n.kids.reduce((sum, k) => sum + share(k), 0);
	}

	function search() {
		const what = find.value;
		let re = null;
		try {
			re = new RegExp(what, "i");
		} catch (e) {
			re = null;
		}
		const plain = what.toLowerCase();
		state.find = what === "" ? null : n => n.name >= 0 && (re ?
		    re.test(nodeName(n)) :
		    nodeName(n).toLowerCase().includes(plain));
		mark();
	}

	function mark() {
		const whole = root.v[state.slot];
		let n = 0;

		boxes.forEach(function (g, node) {
			const hit = state.find !== null && state.find(node);
			n += hit;
			g.classList.toggle("hit", hit);
		});
		const sum = state.find ? share(root) : 0;
		found.textContent = state.find ? show(sum) + " of " +
		    show(whole) + " (" + percent(sum, whole) + "), " +
		    amount(n, "box").replace("boxs", "boxes") : "";
	}

	/* ---- what a box says ---- */

	function counts(n, slot) {
		const exact = n.text ? n.text[slot] : n.v[slot];

		return show(exact) + " of " + show(root.text ?
		    root.text[slot] : root.v[slot]) + " (" +
		    percent(n.v[slot], root.v[slot]) + ")";
	}

	/* The difference of the shares. */
	function differs(n) {
		return (root.v[0] ? n.v[0] / root.v[0] : 0) -
		    (root.v[1] ? n.v[1] / root.v[1] : 0);
	}

	function says(n) {
		const lines = [nodeName(n), counts(n, 0)];

		if (hasEarlier) {
			const d = differs(n);
			lines.push("earlier " + counts(n, 1), signed((100 *
			    Math.abs(d)).toFixed(2) + " %", d));
		}
		if (n.cut > 0)
			lines.push(show(Math.round(n.cut)) +
			    " of cut stacks: outer frames are missing");
		return lines;
	}

	/* ---- boxes ---- */

	function boxStyle(n, most) {
		if (!state.differs || !hasEarlier)
			return ["box", boxColour(nodeName(n),
			    run.kinds[n.name] || "k")];
		const d = differs(n), a = most ? Math.abs(d) / most : 0;
		return ["box " + (d > 0 ? "more" : d < 0 ? "less" : "same"),
		    "--a:" + Math.min(1, a).toFixed(3)];
	}

	function tip(g, n) {
		const lines = says(n);

		if (g.hasAttribute("aria-label"))
			return;
		g.setAttribute("aria-label", lines.join(", "));
		g.prepend(svg("title", null, lines.join("\n")));
	}

	function mostDifferent(n) {
		return n.kids.reduce((m, k) => Math.max(m,
		    Math.abs(differs(k)), mostDifferent(k)), 0);
	}

	function box(n, x, width, y, most) {
		const [kind, style] = boxStyle(n, most);
		const name = nodeName(n);
		const label = fit(name.slice(name.indexOf("`") + 1), width);
		const g = svg("g", { class: kind, role: "img",
		    onclick: () => zoom(n), onmouseenter: function () {
			tip(g, n);
			say(n);
		} }, svg("rect", { x: x.toFixed(2), y: y, width:
		    width.toFixed(2), height: BOX - 1, style: style }));

		/* There may be very many narrow ones. */
		if (label !== "") {
			g.append(text(x + 3, y + BOX - 5, label));
			tip(g, n);
		}
		/* Whichever way it is turned, what is missing would be below. */
		if (n.cut > 0)
			g.append(svg("line", { class: "cut", x1: x.toFixed(2),
			    x2: (x + width).toFixed(2),
			    y1: y + BOX - 2, y2: y + BOX - 2 }));
		boxes.set(n, g);
		return g;
	}

	function picture(width) {
		const to = state.zoom || root, slot = state.slot;
		const scale = to.v[slot] ? width / to.v[slot] : 0;
		const least = scale ? NARROW / scale : 0;
		const depth = deepest(to, slot, least);
		const height = (depth + 1) * BOX;
		const most = hasEarlier ? mostDifferent(root) : 0;
		const out = svg("svg", { class: "flame", width: width,
		    height: height, tabindex: 0, role: "group", "aria-label":
		    "Flame graph of " + aggName(a) + ": arrows choose a box, " +
		    "enter zooms", onfocus: use });

		function put(n, x, w) {
			const row = state.reversed ? n.depth : depth - n.depth;
			out.append(box(n, x, w, row * BOX, most));
		}

		function walk(n, x) {
			put(n, x, n.v[slot] * scale);
			for (const k of n.kids) {
				if (k.v[slot] * scale >= NARROW)
					walk(k, x);
				x += k.v[slot] * scale;
			}
		}
		boxes = new Map();
		for (let n = to.up; n; n = n.up) {
			put(n, 0, width);
			boxes.get(n).classList.add("below");
		}
		walk(to, 0);
		return out;
	}

	function draw() {
		const focused = place.contains(document.activeElement);

		place.replaceChildren(picture(place.clientWidth));
		if (focused)
			place.firstChild.focus({ preventScroll: true });
		press();
		choose(state.at);
		mark();
	}

	function zoom(n) {
		use();
		state.zoom = n === root ? null : n;
		state.at = n;
		draw();
	}

	function say(n) {
		said.textContent = says(n).join(" \u00b7 ");
	}

	function choose(n) {
		boxes.forEach(g => g.classList.remove("at"));
		state.at = n;
		if (n && boxes.has(n)) {
			boxes.get(n).classList.add("at");
			tip(boxes.get(n), n);
			say(n);
		}
	}

	/* ---- keys ---- */

	/* The next box that is drawn, on the same level. */
	function beside(n, step) {
		const all = n.up ? n.up.kids : [n];

		for (let i = all.indexOf(n) + step; i >= 0 && i < all.length;
		    i += step)
			if (boxes.has(all[i]))
				return all[i];
		return n;
	}

	function move(key) {
		const at = state.at && boxes.has(state.at) ? state.at :
		    state.zoom || root;
		const inwards = state.reversed ? "ArrowDown" : "ArrowUp";

		if (!state.at || key === "none")
			return choose(at);
		if (key === "ArrowLeft" || key === "ArrowRight")
			return choose(beside(at, key === "ArrowLeft" ? -1 : 1));
		if (key !== inwards)
			return choose(at.up || at);
		const wide = at.kids.filter(k => boxes.has(k)).sort((x, y) =>
		    y.v[state.slot] - x.v[state.slot])[0];
		return choose(wide || at);
	}

	function whole() {
		find.value = "";
		search();
		state.zoom = state.at = null;
		draw();
	}

	const actions = {
		"/": () => find.focus(),
		"Escape": function () {
			find.blur();
			whole();
		},
		"Enter": () => zoom(state.at || root),
		"r": function () {
			state.reversed = !state.reversed;
			remake();
		},
		"l": function () {
			state.languages = hasLanguages && !state.languages;
			remake();
		},
		"d": function () {
			state.differs = hasEarlier && !state.differs;
			draw();
		},
		"w": function () {
			state.slot = hasEarlier ? 1 - state.slot : 0;
			state.zoom = null;
			draw();
		},
	};
	const self = { key: function (key) {
		if (key.startsWith("Arrow"))
			move(key);
		else if (actions[key])
			actions[key]();
		else
			return false;
		return true;
	} };

	function use() {
		view = self;
	}

	views.push(self);
	find.addEventListener("focus", use);
	place = drawn(function (width) {
		const out = picture(width);
		press();
		setTimeout(mark);
		return out;
	});

	const cut = base.kids.length ? cutIn(base) : 0;
	const notes = [amount(a.flame.stacks, "stack")];
	if (cut)
		notes.push(show(cut) + " in cut stacks, under a dashed line");
	if (a.flame.left)
		notes.push(show(a.flame.left) +
		    " boxes too narrow to be seen are left out");
	return figure("Flame graph", notes.join(", "),
	    html("div", { class: "tools" }, find,
	    button("Whole", "Key Esc", whole),
	    toggle("Reversed", "r", actions.r),
	    hasLanguages ? toggle("Languages only", "l", actions.l) : null,
	    hasEarlier ? toggle("Difference", "d", actions.d) : null,
	    hasEarlier ? toggle("Widths of the earlier run", "w",
	    actions.w) : null, found),
	    place, said, hasEarlier ? html("p", { class: "note" },
	    html("span", { class: "key more" }), " more than before, ",
	    html("span", { class: "key less" }), " less: the difference of " +
	    "the shares") : null);
}

function cutIn(n) {
	return n.kids.reduce((sum, k) => sum + (k.cut > 0 ? k.cut : cutIn(k)),
	    0);
}
