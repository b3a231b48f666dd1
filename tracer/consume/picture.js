/* Zoom, search and labels of the flame graphs.  Without it the picture is the
 * same, at rest.  A box knows where it begins and how much it counts; its name
 * is the first line of its tooltip. */
(function () {
	"use strict";
	var WIDTH = 1180, CHAR = 6.7;
	var find = document.getElementById("found");

	function box(g) {
		return {
			g: g,
			rect: g.getElementsByTagName("rect")[0],
			label: g.getElementsByTagName("text")[0],
			name: g.getElementsByTagName("title")[0].textContent
			    .split("\n")[0],
			from: Number(g.getAttribute("data-from")),
			count: Number(g.getAttribute("data-count")),
			depth: Number(g.getAttribute("data-depth"))
		};
	}

	function list(root, name) {
		return Array.prototype.slice.call(
		    root.getElementsByClassName(name));
	}

	var flames = list(document, "flame").map(function (g) {
		return list(g, "box").map(box);
	});

	function fit(b, width) {
		var text = b.name.slice(b.name.indexOf("`") + 1);
		var room = Math.floor((width - 6) / CHAR);
		if (room < 3)
			text = "";
		else if (text.length > room)
			text = text.slice(0, room - 2) + "..";
		b.label.textContent = text;
	}

	function place(b, x, width) {
		b.rect.setAttribute("x", x.toFixed(2));
		b.rect.setAttribute("width", width.toFixed(2));
		b.label.setAttribute("x", (x + 3).toFixed(2));
		fit(b, width);
	}

	/* What `to' counts becomes the whole width: its callers are as wide,
	 * who is neither below nor above it goes. */
	function zoom(flame, to) {
		var end = to.from + to.count, scale = WIDTH / to.count;
		flame.forEach(function (b) {
			var inside = b.depth >= to.depth && b.from >= to.from &&
			    b.from + b.count <= end;
			var below = b.depth < to.depth && b.from <= to.from &&
			    b.from + b.count >= end;
			b.g.setAttribute("display",
			    inside || below ? "inline" : "none");
			b.g.setAttribute("opacity", below ? "0.5" : "1");
			if (inside)
				place(b, (b.from - to.from) * scale,
				    b.count * scale);
			else if (below)
				place(b, 0, WIDTH);
		});
	}

	/* The part of a flame graph that boxes cover: one in another counts
	 * once.  They come callers first, and from left to right. */
	function share(flame, hits) {
		var end = -1, sum = 0;
		hits.sort(function (a, b) {
			return a.from - b.from || b.count - a.count;
		});
		hits.forEach(function (b) {
			if (b.from < end)
				return;
			sum += b.count;
			end = b.from + b.count;
		});
		return (100 * sum / flame[0].count).toFixed(2) + " %";
	}

	function search(what) {
		var re = null, text = [];
		if (what) {
			try {
				re = new RegExp(what);
			} catch (e) {
				find.textContent = String(e.message);
				return;
			}
		}
		flames.forEach(function (flame) {
			var hits = flame.filter(function (b) {
				var hit = re !== null && re.test(b.name);
				b.g.setAttribute(
				    "class", hit ? "box hit" : "box");
				return hit;
			});
			if (re !== null)
				text.push(share(flame, hits));
		});
		find.textContent = re !== null ?
		    what + ": " + text.join(", ") : "";
	}

	function ask() {
		var what = window.prompt("Functions like (regular expression):",
		    "");
		if (what !== null)
			search(what);
	}

	function reset() {
		flames.forEach(function (flame) {
			zoom(flame, flame[0]);
		});
	}

	flames.forEach(function (flame) {
		flame.forEach(function (b) {
			b.g.addEventListener("click", function () {
				zoom(flame, b);
			});
		});
	});
	document.getElementById("search").addEventListener("click", ask);
	document.getElementById("reset").addEventListener("click", reset);
	document.addEventListener("keydown", function (e) {
		if (e.key === "/" && !e.ctrlKey && !e.altKey) {
			e.preventDefault();
			ask();
		} else if (e.key === "Escape") {
			reset();
		}
	});
})();
