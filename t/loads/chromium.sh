#!/bin/bash
# timeout: 7200
# chromium without a screen: what a page writes, by its own script.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need chromium
cat >"$tmp/page.html" <<'HTML'
<!doctype html><title>page</title><ul id="list"></ul>
<script>
const list = document.getElementById('list');
for (let i = 0; i < 200; i++) {
	const item = document.createElement('li');
	item.textContent = i * i;
	list.appendChild(item);
}
document.title = [...list.children].reduce((n, e) => n + +e.textContent, 0);
</script>
HTML
FILTER='/ERROR:|WARNING:|^$/d'
command_load chromium chromium --headless --no-sandbox --disable-gpu \
    --disable-dev-shm-usage --user-data-dir="$tmp/profile" --dump-dom \
    "file://$tmp/page.html"
finish
