# Completion with the options of -x in it: options.def, then the template, in
# which @OPTIONS@ stands between single quotes.  They are a line each: the name,
# with "=" behind it if it takes a value, ":", and what it is for.  What is
# accepted and does nothing is left out.
#
#	OPTION(ID, "name", KIND, PHASE, default, "text")
FNR == NR && /^OPTION\(/ {
	line = $0
	sub(/^[^"]*"/, "", line)
	name = substr(line, 1, index(line, "\"") - 1)
	flag = line ~ /OPTK_(FLAG|NONE)/
	# The text: what stands between the next quote and the last.  How it
	# goes on behind a colon is for the manual.
	line = substr(line, index(line, "\"") + 1)
	sub(/^[^"]*"/, "", line)
	sub(/"\).*/, "", line)
	gsub(/\\"/, "\"", line)
	sub(/[:;].*/, "", line)
	gsub(/'/, "'\\''", line)
	if (line !~ /^accepted/)
		all = all (all == "" ? "" : "\n") name (flag ? "" : "=") ":" line
}

FNR != NR {
	at = index($0, "@OPTIONS@")
	print at == 0 ? $0 : substr($0, 1, at - 1) all substr($0, at + 9)
}
