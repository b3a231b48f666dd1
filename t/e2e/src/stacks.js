// Calls in many ways, and in each says its stack as V8 tells it: node stacks.js
// FILE [TIMES].  FILE gets, for each, a line "+ NAME" and the frames; at the
// same place the program writes 4242 bytes to nowhere, which a tracer can see.
// With TIMES, each is called so often before, so that it is optimised.
'use strict';
const fs = require('fs');
const vm = require('vm');
const { Worker, isMainThread, workerData } = require('worker_threads');

const mark = 'x'.repeat(4241) + '\n';
const sink = fs.openSync('/dev/null', 'w');
const file = isMainThread ? process.argv[2] : workerData;
const said = fs.openSync(file, 'a');
const times = process.argv[3] | 0;

Error.stackTraceLimit = 200;
Error.prepareStackTrace = (error, sites) => sites
	.filter((s) => !s.isAsync())
	.map((s) => s.isEval() ? s.getFunctionName() :
		s.getFileName() == null ? `[ ${s.getFunctionName()} ]` :
		`${s.getFunctionName() || '<anonymous>'} ` +
		`(${s.getFileName()}:${s.getLineNumber()})`);

let name;
let silent = 0;
function say(x) {
	if (silent)
		return x;
	const frames = new Error().stack;
	fs.writeSync(said, `+ ${name}\n${frames.slice(1).join('\n')}\n`);
	fs.writeSync(sink, mark);
	return x;
}

class Base {
	constructor(x) { this.x = say(x); }
	method(x) {
		return say(x);
	}
	get prop() { return say(1); }
	set prop(v) {
		say(v); }
	static make(x) {
		return new this(x);
	}
	#hidden(x) { return say(x); }
	open(x) { return this.#hidden(x); }
	field = this.init();
	init() { return say(2); }
	toJSON() {
		return say({ a: 1 }); }
	*walk() {
		yield say(1);
		yield 2;
	}
	async later(x) {
		await null;
		return say(x);
	}
}
class Derived extends Base {
	constructor(x) {
		super(x);
		say(x);
	}
	method(x) { return super.method(x) + 1; }
}
function recurse(n) {
	return n === 0 ? say(n) : 1 + recurse(n - 1);
}
function naïve(x) { return say(x); }
function функция(x) {
	return say(x); }
const 𝒳 = (x) => say(x);
function *generator(x) {
	const y = yield x;
	return say(y);
}
function closure(a) {
	return (b) => {
		const c = a + b;
		return say(c);
	};
}
const object = {
	method(x) { return say(x); },
	arrow: (x) => say(x),
	deep: { f: function (x) { return say(x); } },
};
object.assigned = function (x) { return say(x); };
function tagged(strings, ...values) { return say(values[0]); }
function defaults(a, b = say(a)) { return b; }
function small(x) { return say(x); }
function middle(x) { return small(x) + 1; }
function outer(x) {
	let sum = 0;
	sum += middle(x);
	return sum;
}
function mapping(x) {
	return [x].map((y) =>
		middle(y));
}
function folding(x) {
	return [x, x].reduce((s, y) => s + small(y), 0);
}
class Hot {
	constructor(x) { this.x = x; this.go(); }
	go() { return small(this.x); }
}
function constructs(x) {
	return new Hot(x);
}
function manyLocals(x) {
	let a0 = x, a1 = x, a2 = x, a3 = x, a4 = x, a5 = x, a6 = x, a7 = x;
	const see = () => [a0, a1, a2, a3, a4, a5, a6, a7, see];
	see();
	return (function inner() { return say(a0) + see().length; })();
}

const shapes = {
	closure: () => closure(1)(2),
	method: () => new Derived(1).method(1),
	static: () => Derived.make(1),
	private: () => new Base(1).open(1),
	getter: () => new Base(1).prop,
	setter: () => { new Base(1).prop = 2; },
	recursion: () => recurse(20),
	latin: () => naïve(1),
	cyrillic: () => функция(1),
	astral: () => 𝒳(1),
	object: () => object.method(1) + object.arrow(2) + object.deep.f(4) +
		object.assigned(5),
	map: () => [1].map(say),
	forEach: () => [1].forEach((x) => { say(x); }),
	reduce: () => folding(1),
	sort: () => [2, 1].sort((a, b) => say(a - b)),
	from: () => Array.from([1], (x) => say(x)),
	replace: () => 'abc'.replace(/b/, () => say('x')),
	json: () => JSON.stringify({ a: new Base(1) }),
	parse: () => JSON.parse('1', (k, v) => say(v)),
	iterator: () => [...new Base(1).walk()],
	of: () => { for (const x of new Base(1).walk()) { say(x); break; } },
	generator: () => { const g = generator(1); g.next(); g.next(2); },
	bound: () => small.bind(null, 1)(),
	apply: () => Reflect.apply(small, null, [1]) + small.call(null, 1),
	construct: () => Reflect.construct(Derived, [1]),
	proxy: () => new Proxy({}, { get(t, k) { return say(1); } }).x,
	tagged: () => tagged`a${1}b`,
	defaults: () => defaults(1),
	locals: () => manyLocals(1),
	eval: () => (0, eval)('\nsay(1)'),
	vm: () => vm.runInThisContext('(function inVm(f) {\n\n return f(1); })',
		{ filename: 'made.js', lineOffset: 10 })(say),
	outer: () => outer(1),
	mapping: () => mapping(1),
	folding: () => folding(1),
	constructs: () => constructs(1),
};
globalThis.say = say;

function run(f) {
	silent = 1;
	/* What is compiled anew each time is never hot. */
	for (let i = 0; i < (name === 'vm' || name === 'eval' ? 0 : times); i++)
		f();
	silent = 0;
	f();
}

/* Where V8 allows to ask: is it optimised? */
function isOptimised(f) {
	try {
		return new Function('f', 'return %GetOptimizationStatus(f)')(f) &
		    16 ? 1 : 0;
	} catch (e) {
		return 0;
	}
}

if (!isMainThread) {
	name = 'worker';
	recurse(3);
} else {
	for (name of Object.keys(shapes))
		run(shapes[name]);
	console.log('optimised',
	    [outer, mapping, folding, constructs].reduce(
		(n, f) => n + isOptimised(f), 0));
	setTimeout(function timer() {
		name = 'timer';
		say(1);
		process.nextTick(() => { name = 'tick'; say(1); });
		Promise.resolve().then(function job() { name = 'job'; say(1); });
		setImmediate(() => {
			name = 'async';
			new Base(1).later(1);
			setImmediate(() => new Worker(__filename, {
				workerData: file }));
		});
	}, 1);
}
