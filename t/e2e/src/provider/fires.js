'use strict';
// A program that makes a provider when it is told to; t/e2e/provider.sh says what else
// it is told. Node's part of that test is at the end. Each worker makes the provider,
// which is one and the same for tracers.
const {createDTraceProvider, Provider} = require('dtrap-sdt');
const fs = require('fs');
const readline = require('readline');
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');

const THREADS = 4, EACH = 25000;

function say(text) {
	fs.writeSync(1, text + '\n');
}

function work() {
	let sold;
	const told = {
		make() {
			const fires = createDTraceProvider('fires');
			sold = fires.addProbe('sold', 'int', 'string');
			fires.enable();
		},
		once() {
			if (workerData === 0)
				sold.fire(7, 'seven');
		},
		fire() {
			const first = workerData * EACH;
			for (let i = first; i < first + EACH; i++)
				sold.fire(i, `what ${i}`);
		},
		spin() {
			if (workerData !== 0)
				return;
			for (let n = 0;; n++) {
				sold.fire(-1, 'spin');
				if (n === 20000000)
					say('spinning');
			}
		},
	};
	parentPort.on('message', (what) => {
		told[what]();
		parentPort.postMessage('done');
	});
}

function objects() {
	return fs.readFileSync('/proc/self/maps', 'utf8').split('\n')
		.filter((l) => l.includes('memfd:types')).length;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

function dropOne(i) {
	const types = createDTraceProvider(`types_${i}_`);
	const none = types.addProbe('none');
	types.enable();
	none.fire();
	if (i % 2 === 0)
		types.disable();
	none.fire();
}

// 1,000 providers, half of them disabled, the others only dropped; --expose-gc.
async function drop() {
	for (let i = 0; i < 1000; i++)
		dropOne(i);
	while (objects() > 0) {
		global.gc();
		await turn(); // finalizers run between turns
	}
	say('dropped');
}

function refuse(what) {
	try {
		what();
		say('bad: accepted');
	} catch (e) {
		say(`bad: ${e.name}: ${e.message}`);
	}
}

function bad() {
	const p = createDTraceProvider('bad');
	refuse(() => createDTraceProvider('bad name'));
	refuse(() => new Provider('x'.repeat(1000)));
	refuse(() => new Provider());
	refuse(() => p.addProbe('p', ...new Array(13).fill('int')));
	refuse(() => p.addProbe('p', 'object'));
	refuse(() => p.addProbe());
	p.addProbe('p');
	refuse(() => p.addProbe('p'));
	p.enable();
	refuse(() => p.enable());
	refuse(() => p.addProbe('q'));
	say('badly');
}

function types() {
	const p = createDTraceProvider('types');
	const all = p.addProbe('all', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64',
		'int', 'int', 'string');
	const text = p.addProbe('text', 'char *');
	const json = p.addProbe('json', 'json');
	p.addProbe('none');
	text.fire('before it is enabled');
	p.enable();
	all.fire(true, -1, 65535, -2, -3, -(2n ** 63n), -4.9, 1e10, 'té 茶 🍵');
	p.fire('none');
	p.fire('unknown', 1);
	text.fire(null);
	text.fire('');
	text.fire('x'.repeat(5000));
	text.fire(() => ['by a function']);
	json.fire({a: [1, 'two']});
	all.fire(NaN, 'text', 2n ** 64n + 5n, [], {}, undefined, null);
	say(`enabled ${text.enabled}`);
	p.disable();
	text.fire('after the end');
	say(`enabled ${text.enabled}`);
	p.enable();
	text.fire('once more');
	say('typed');
}

function main() {
	const workers = [];
	let waiting = 0, end;
	for (let i = 0; i < THREADS; i++) {
		const w = new Worker(__filename, {workerData: i});
		w.on('message', () => {
			if (--waiting === 0)
				end();
		});
		workers.push(w);
	}
	const all = (what) => new Promise((resolve) => {
		waiting = THREADS;
		end = resolve;
		workers.forEach((w) => w.postMessage(what));
	});
	const told = {
		make: () => all('make').then(() => say('made')),
		once: () => all('once').then(() => say('fired once')),
		fire: () => all('fire').then(() => say('fired')),
		spin: () => all('spin'),
		drop, bad, types,
	};
	// One after the other.
	let last = Promise.resolve();
	const tell = (what) => { last = last.then(told[what]); };
	const close = () => last.then(() => workers.forEach((w) => w.terminate()));
	say('ready');
	const words = process.argv.slice(2);
	words.forEach(tell);
	if (words.length > 0)
		close();
	else
		readline.createInterface({input: process.stdin}).on('line', tell)
			.on('close', close);
}

if (isMainThread)
	main();
else
	work();
