'use strict';
// What a call costs: calls.js N (nothing | probe | log).
const {createDTraceProvider} = require('dtrap-sdt');
const {debuglog} = require('util');

const provider = createDTraceProvider('bench');
const here = provider.addProbe('here', 'int', 'string');
provider.enable();
const debug = debuglog('bench');

function nothing(n) {
	let sum = 0;
	for (let i = 0; i < n; i++)
		sum ^= i * 31;
	return sum;
}

function probe(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		sum ^= i * 31;
		here.fire(i, 'text');
	}
	return sum;
}

function log(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		sum ^= i * 31;
		debug('%d text', i);
	}
	return sum;
}

const n = Number(process.argv[2]);
const what = {nothing, probe, log}[process.argv[3]];
let sum = 0;
for (let i = 0; i < 20; i++) // compiled now
	sum += what(n / 20);
const from = process.hrtime.bigint();
sum += what(n);
const took = Number(process.hrtime.bigint() - from);
console.log(`${(took / n).toFixed(2)} ns per call, ${sum}`);
