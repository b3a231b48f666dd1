#!/bin/bash
# timeout: 7200
# node with npm: a package that is packed, installed from the file, and used.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need node npm
mkdir -p "$tmp/part" "$tmp/home"
cat >"$tmp/part/package.json" <<'JSON'
{ "name": "part", "version": "1.2.3", "main": "index.js" }
JSON
cat >"$tmp/part/index.js" <<'JS'
const zlib = require('zlib');
const crypto = require('crypto');

module.exports = async () => {
	const text = Array.from({ length: 20000 }, (_, i) => i * i).join(' ');
	const packed = zlib.gzipSync(text);
	const caught = Array.from({ length: 2000 }, (_, i) => i).filter((i) => {
		try {
			return i % 2 ? null.x : JSON.parse('{' + i);
		} catch (e) {
			return e instanceof TypeError;
		}
	}).length;
	await new Promise((done) => setImmediate(done));
	return [crypto.createHash('sha256').update(zlib.gunzipSync(packed))
	    .digest('hex'), caught].join(' ');
};
JS
cat >"$tmp/use.sh" <<'SH'
cd "$1" && rm -rf use && mkdir use && cd use &&
npm init -y >/dev/null &&
npm pack --silent ../part &&
npm install --offline --no-audit --no-fund --no-progress --silent ./part-1.2.3.tgz &&
npm ls &&
node -e 'require("part")().then((s) => console.log(s))'
SH
export HOME=$tmp/home npm_config_update_notifier=false npm_config_cache=$tmp/home/cache
command_load node bash "$tmp/use.sh" "$tmp"
finish
