# Check the #include lines, and the calls that only one place may make, of the
# files given after the three tables (layers.txt, pins.txt, rights.txt).
# Prints "FILE:LINE: what is wrong"; status 1 if anything is.

# The glob as a regular expression; "*" does not match "/", a trailing "/"
# stands for the folder and all below it.
function regex(glob, r) {
	r = glob
	gsub(/[.+]/, "\\\\&", r)
	gsub(/\*/, "[^/]*", r)
	return "^" r (glob ~ /\/$/ ? "" : "$")
}

# Does one of the globs in LIST fit PATH, and no "!" one?
function fits(path, list, w, n, i, yes) {
	n = split(list, w, " ")
	for (i = 1; i <= n; i++)
		if (w[i] ~ /^!/) {
			if (path ~ regex(substr(w[i], 2)))
				return 0
		} else if (path ~ regex(w[i]))
			yes = 1
	return yes
}

function complain(what) {
	print FILENAME ":" FNR ": " what
	bad = 1
}

function room_of(path, r) {
	for (r = path; sub(/\/[^\/]*$/, "", r);)
		if (r in may)
			return r
	return ""
}

FNR == 1 { table++; in_comment = 0 }

table <= 3 && (/^#/ || NF == 0) { next }
table <= 3 {
	key = $1
	$1 = ""
	if (table == 1)
		may[key] = $0
	else if (table == 2)
		pin[key] = $0
	else
		right[key] = $0
	next
}

FNR == 1 {
	room = room_of(FILENAME)
	folder = FILENAME
	sub(/[^\/]*$/, "", folder)
	if (room == "")
		complain("no row of t/lint/layers.txt fits this file")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, q, "\"")
	h = q[2]
	if (h !~ /\//)
		complain("\"" h "\": write the path from the root")
	else if (!fits(h, may[room]))
		complain(room "/ may not include \"" h "\"")
	else if (h ~ /_impl\.h$/ && room != "t") {
		home = h
		sub(/[^\/]*$/, "", home)
		if (index(folder, home) != 1)
			complain("\"" h "\" is for files of its own folder")
	}
	next
}

/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, q, "[<>]")
	for (p in pin)
		if (room != "t" && q[2] ~ regex(p) && !fits(FILENAME, pin[p]))
			complain("<" q[2] "> may be included only by" pin[p])
	next
}

room != "t" {
	# Calls only: comments and strings are taken away first.
	line = $0
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	if (in_comment) {
		if (!sub(/^.*\*\//, "", line))
			next
		in_comment = 0
	}
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
	if (sub(/\/\*.*$/, "", line))
		in_comment = 1
	if (line !~ /\(/)
		next
	for (f in right) {
		if (line !~ ("(^|[^A-Za-z0-9_.>])" f " *\\("))
			continue
		called[f, FILENAME] = 1
		if (!fits(FILENAME, right[f]))
			complain(f "() may be called only in" right[f])
	}
}

# A right that nobody uses goes.
END {
	for (f in right) {
		n = split(right[f], w, " ")
		for (i = 1; i <= n; i++)
			if (w[i] !~ /\/$/ && !((f, w[i]) in called)) {
				print w[i] " does not call " f "() (t/lint/rights.txt)"
				bad = 1
			}
	}
	exit bad
}
