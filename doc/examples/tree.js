// The size of a directory, to be traced: tree.js DIRECTORY.
const fs = require('fs');
const path = require('path');

function size(file) {
	return fs.statSync(file).size;
}

function visit(dir) {
	let sum = 0;
	for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
		const file = path.join(dir, entry.name);
		sum += entry.isDirectory() ? visit(file) : size(file);
	}
	return sum;
}

visit(process.argv[2]);
