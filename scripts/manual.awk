# dtrap-scripts(7) from the scripts' first comments:
#
#	name - what it is for
#	(empty)
#	usage: ...
#	(empty)
#	paragraphs; what a tab indents stays as it is: options, or an example

# A line that mdoc would take for a request, or a backslash for an escape.
function text(s) {
	gsub(/\.  /, ".\n", s)
	return plain(s)
}

function plain(s) {
	gsub(/\\/, "\\e", s)
	if (s ~ /^[.']/)
		s = "\\&" s
	return s
}

# Tabs to every eighth column, counted as in the comment.
function spaces(s,    n) {
	while ((n = index(s, "\t")) > 0)
		s = substr(s, 1, n - 1) \
		    substr("        ", (n - 1) % 8 + 1) substr(s, n + 1)
	return s
}

# An example begins and ends.
function literal(on) {
	if (on != inside)
		print on ? ".Bd -literal -offset indent" : ".Ed"
	inside = on
}

BEGIN {
	print ".\\\" Made by scripts/manual.awk of the scripts' first comments."
	print ".Dd November 22, 2026"
	print ".Dt DTRAP-SCRIPTS 7"
	print ".Os"
	print ".Sh NAME"
	print ".Nm dtrap-scripts"
	print ".Nd scripts that answer common questions about a process"
	print ".Sh DESCRIPTION"
	print "Each is a program of its own that runs"
	print ".Xr dtrap 1 :"
	print ".Fl c"
	print "launches a command and"
	print ".Fl p"
	print "attaches to a process, more than once if need be, and the children"
	print "come along."
	print "Installed, each is a command as well:"
	print ".Pa opensnoop.d"
	print "is"
	print ".Ic dtrap-opensnoop ."
	print "All options of"
	print ".Xr dtrap 1"
	print "may be given."
	print "Those that count print when the process ends, or at an interrupt."
	print "They are short, and meant to be read and changed."
	print ".Pp"
	print "The examples show what was printed, shortened where it says"
	print ".Sq ... ;"
	print "work-files and its like are programs of the tests, of which it is known what"
	print "they do."
}

# ARGIND is not awk's everywhere.
FNR == 1 {
	state = "before"
	para = 0
}

state == "done" {
	next
}

{
	line = $0
	if (state == "before") {
		if (line ~ /^\/\*/ || (line == "#" && FNR > 1)) {
			state = "in"
			next
		}
		next
	}
	if (line !~ /^( \*|#)/ || line ~ /^ \*\//) {
		literal(0)
		state = "done"
		next
	}
	sub(/^( \*|#) ?/, "", line)
}

line ~ / - / && !para {
	n = index(line, " - ")
	print ".Ss " substr(line, 1, n - 1)
	print text(toupper(substr(line, n + 3, 1)) substr(line, n + 4)) "."
	para = 1
	next
}

line ~ /^usage: / {
	print ".Pp"
	print ".Dl " text(substr(line, 8))
	next
}

line == "" {
	gap = 1
	next
}

inside && line !~ /^\t/ {
	literal(0)
}

# A tab behind the mark of the comment: an example, in which a line may be empty.
line ~ /^\t/ {
	if (gap && inside)
		print ""
	gap = 0
	literal(1)
	print plain(spaces(substr(line, 2)))
	next
}

{
	if (gap)
		print ".Pp"
	gap = 0
	print text(line)
}

END {
	print ".Sh SEE ALSO"
	print ".Xr dtrap 1 ,"
	print ".Xr dtrap-d 7"
}
