'use strict';

// Static probes that a program makes while it runs: for dtrap and other tracers.
// The names are those that Node programs know from DTrace: createDTraceProvider(),
// addProbe(), enable(), fire().

const native = require('./dtrap_sdt.node');

// Values of enum dtrap_arg (dtrap-provider.h), by the names of types.
const TYPES = new Map([
	['int8', 1], ['uint8', 2], ['int16', 3], ['uint16', 4], ['int32', 5],
	['uint32', 6], ['int64', 7], ['uint64', 8], ['int', 7], ['uint', 8],
	['string', 9], ['char *', 9], ['json', 9],
]);

const never = new Uint16Array(1);
const always = Uint16Array.of(1);

class Probe {
	// Of the semaphore; a load from it tells whether somebody watches.
	#watched = never;
	#probe;
	#json;
	#provider; // must not go before the probe does

	constructor(provider, probe, json) {
		this.#provider = provider;
		this.#probe = probe;
		this.#json = json;
	}

	/** Does somebody watch the probe? */
	get enabled() {
		return native.watched(this.#probe);
	}

	/**
	 * Pass by the probe, with these arguments, or with those in the array that a
	 * function returns: it is called when somebody watches. A value that does not
	 * fit its type arrives as 0. (Named parameters need no array for each call.)
	 */
	fire(a, b, c, d, e, f, g, h, i, j, k, l) {
		if (this.#watched[0] !== 0)
			this.#pass([a, b, c, d, e, f, g, h, i, j, k, l]);
	}

	#pass(args) {
		if (typeof args[0] === 'function')
			args = args[0](this);
		if (this.#json.length > 0) {
			args = args.slice();
			for (const i of this.#json)
				args[i] = JSON.stringify(args[i]);
		}
		native.fire(this.#probe, ...args);
	}

	// For Provider alone.
	static load(probe) {
		const buffer = native.semaphore(probe.#probe);
		probe.#watched = buffer ? new Uint16Array(buffer) : always;
	}

	static unload(probe) {
		probe.#watched = never;
	}
}

/** Workers that enable providers with the same name and probes share one. */
class Provider {
	#provider;
	#probes = new Map();

	constructor(name) {
		this.#provider = native.create(name);
	}

	/**
	 * A new probe, before the first enable(). A type is 'int' or 'uint' (64 bits), one with
	 * its bits ('int8' to 'uint64'), 'string' (or 'char *'), or 'json': a string
	 * that JSON.stringify() makes of the argument when somebody watches.
	 */
	addProbe(name, ...types) {
		for (const t of types)
			if (!TYPES.has(t))
				throw new TypeError(`no type of an argument: ${String(t)}`);
		const json = [...types.keys()].filter((i) => types[i] === 'json');
		const made = native.add(this.#provider, name,
			types.map((t) => TYPES.get(t)));
		const probe = new Probe(this.#provider, made, json);
		this.#probes.set(name, probe);
		return probe;
	}

	/** Tracers see the probes from now on. */
	enable() {
		native.load(this.#provider);
		for (const p of this.#probes.values())
			Probe.load(p);
	}

	/** The probes are gone, until enable(). */
	disable() {
		for (const p of this.#probes.values())
			Probe.unload(p);
		native.unload(this.#provider);
	}

	/** Fire the probe of this name; nothing happens if there is none. */
	fire(name, ...args) {
		this.#probes.get(name)?.fire(...args);
	}
}

function createDTraceProvider(name) {
	return new Provider(name);
}

module.exports = {createDTraceProvider, Provider};
