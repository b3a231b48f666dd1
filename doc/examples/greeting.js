// Greets ten times a second, and lets a probe know whom: greeting.js NAME...
const {createDTraceProvider} = require('dtrap-sdt');

const provider = createDTraceProvider('greeting');
const start = provider.addProbe('start', 'int', 'string');
provider.enable();

const names = process.argv.slice(2);
let n = 0;

function greet() {
	if (n === names.length)
		return;
	start.fire(n, names[n]);
	console.log('Good morning,', names[n++]);
	setTimeout(greet, 100);
}
greet();
