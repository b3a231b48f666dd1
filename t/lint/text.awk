# Calls of str_add(), str_addn(), str_printf() and str_vprintf() whose text is
# neither a literal nor own(): "FILE:LINE: what".  Status 1 if there are any.

# The text up to the parenthesis that closes what precedes it.  Literals are
# "" or the conversions that they have, without quotes or parentheses.
function closed(s, i, depth, c) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "(")
			depth++
		else if (c == ")" && depth-- == 0)
			return substr(s, 1, i - 1)
	}
	return s
}

# Where `mark' first stands outside of parentheses; 0: nowhere.
function outside(s, mark, i, depth, c) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == mark && depth == 0)
			return i
		if (c == "(" || c == "[" || c == "{")
			depth++
		else if (c == ")" || c == "]" || c == "}")
			depth--
	}
	return 0
}

function arguments(s, arg, n, at) {
	for (n = 0; (at = outside(s, ",")) > 0; s = substr(s, at + 1))
		arg[++n] = substr(s, 1, at - 1)
	arg[++n] = s
	return n
}

# A literal, own(), or a choice of such.
function ours(s, at, q, depth, c, i) {
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	at = outside(s, "?")
	if (at == 0)
		return s ~ /^("[^"]*"[ \t]*)+$/ || s ~ /^own\(.*\)$/
	s = substr(s, at + 1)
	# The colon that belongs to this question mark.
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "(" || c == "?")
			depth++
		else if (c == ")" || (c == ":" && depth > 0))
			depth--
		else if (c == ":")
			return ours(substr(s, 1, i - 1)) &&
			    ours(substr(s, i + 1))
	}
	return 0
}

# The values of a format's conversions, from arg[k] on.
function values(format, arg, k, conv) {
	if (format ~ /^[ \t]*own\(/)
		return 1
	gsub(/%%/, "", format)
	while (match(format, /%[^a-zA-Z%]*[hlzjtL]*[a-zA-Z]/)) {
		conv = substr(format, RSTART, RLENGTH)
		format = substr(format, RSTART + RLENGTH)
		while (sub(/\*/, "", conv))
			k++
		if (conv ~ /s$/ && !ours(arg[k]))
			return 0
		k++
	}
	return 1
}

function check(call, text, line, n, arg, ok) {
	n = arguments(text, arg)
	if (call == "str_vprintf")
		ok = 0
	else if (!ours(arg[2]))
		ok = 0
	else
		ok = call != "str_printf" || values(arg[2], arg, 3)
	if (!ok) {
		print file ":" line ": " call "(): text that is not ours"
		bad = 1
	}
}

# One file, comments taken away, literals but their conversions emptied.
function examine(all, line, call, rest) {
	while (match(all, /\n|str_(add|addn|printf|vprintf)\(/)) {
		call = substr(all, RSTART, RLENGTH)
		all = substr(all, RSTART + RLENGTH)
		if (call == "\n") {
			line++
			continue
		}
		rest = closed(all)
		gsub(/\n/, " ", rest)
		check(substr(call, 1, length(call) - 1), rest, line + 1)
	}
}

function bare(s, out, lit, keep) {
	gsub(/'(\\.|[^'\\])'/, "0", s)
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "", s)
	if (comment) {
		if (!sub(/^.*\*\//, "", s))
			return ""
		comment = 0
	}
	while (match(s, /"([^"\\]|\\.)*"/)) {
		lit = substr(s, RSTART + 1, RLENGTH - 2)
		keep = ""
		out = out substr(s, 1, RSTART - 1)
		s = substr(s, RSTART + RLENGTH)
		while (match(lit, /%%|%[-+ #0-9.*]*[hlzjtL]*[a-zA-Z]/)) {
			keep = keep substr(lit, RSTART, RLENGTH)
			lit = substr(lit, RSTART + RLENGTH)
		}
		out = out "\"" keep "\""
	}
	if (sub(/\/\*.*$/, "", s))
		comment = 1
	return out s
}

FNR == 1 {
	if (NR > 1)
		examine(all)
	all = ""
	comment = 0
	file = FILENAME
}
{ all = all bare($0) "\n" }
END {
	examine(all)
	exit bad
}
