<?php
// Calls in many ways, and in each says its stack as PHP tells it: php
// stacks.php FILE OTHER.  FILE gets, for each, a line "+ NAME" and the frames;
// at the same place the program writes 4242 bytes to nowhere, which a tracer
// can see.  OTHER is a file to include, which calls say() in its third line.
$mark = str_repeat('x', 4241) . "\n";
$sink = fopen('/dev/null', 'w');
stream_set_write_buffer($sink, 0);
stream_set_chunk_size($sink, 8192);
$said = fopen($argv[1], 'a');

function say($x = 0) {
	global $mark, $sink, $said, $name;
	$frames = debug_backtrace(0);
	$out = "+ $name\n";
	// An entry says a function and from where it is called.
	for ($i = 0; $i < count($frames); $i++) {
		$f = $frames[$i];
		$next = $frames[$i + 1] ?? ['function' => '{main}'];
		$func = ($next['class'] ?? '') . ($next['type'] ?? '') . $next['function'];
		// The name of a class without one goes on behind a NUL.
		$func = preg_replace('/\0.*(?=->|::)/', '', $func);
		$out .= isset($f['file']) ?
			"$func ({$f['file']}:{$f['line']})\n" : "$func\n";
	}
	fwrite($said, $out);
	fwrite($sink, $mark);
	return $x;
}

class Base {
	public $x;
	function __construct($x) { $this->x = say($x); }
	function method($x) {
		return say($x);
	}
	static function make($x) { return new static($x); }
	function __get($n) { return say($n); }
	function __call($n, $a) {
		return say($n);
	}
	static function __callStatic($n, $a) { return say($n); }
	function __toString() { return say("s"); }
	function closure() {
		return function ($x) {
			return say($x);
		};
	}
	function __invoke($x) { return say($x); }
	static function compare($a, $b) { return say($a <=> $b); }
}
class Derived extends Base {
	function method($x) {
		return parent::method($x) + 1; }
}
trait Tr { function traited() { return say(); } }
class WithTrait { use Tr; }
function recurse($n) {
	return $n == 0 ? say($n) : recurse($n - 1) + 1;
}
function größe($x) { return say($x); }
function gen($x) {
	say($x);
	$y = yield 1;
	say($y);
	yield 2;
}
function outer_gen() {
	yield 0;
	yield from middle_gen();
}
function middle_gen() {
	yield from gen(3);
}
function &ref($x) { say($x); return $x; }
function thrower() {
	try {
		throw new Exception('x');
	} catch (Exception $e) {
		say();
	} finally {
		say();
	}
}

$shapes = [
	'function' => fn() => say(1),
	'recursion' => fn() => recurse(20),
	'method' => fn() => (new Derived(1))->method(1),
	'static' => fn() => Derived::make(1),
	'get' => fn() => (new Base(1))->nothing,
	'call' => fn() => (new Base(1))->nobody(1),
	'callStatic' => fn() => Base::noone(1),
	'string' => fn() => strlen((string)new Base(1)),
	'closure' => fn() => (new Base(1))->closure()(1),
	'invoke' => fn() => (new Base(1))(1),
	'map' => fn() => array_map(fn($x) => say($x), [1]),
	'mapmethod' => fn() => array_map([new Base(1), 'method'], [1]),
	'usort' => function () { $a = [2, 1]; usort($a, ['Base', 'compare']); },
	'nested' => fn() => array_map(function ($x) {
		return array_filter([$x], function ($y) {
			return recurse(2);
		});
	}, [1]),
	'generator' => function () {
		$g = gen(1);
		$g->current();
		$g->send(2);
		foreach (gen(5) as $v)
			say($v);
	},
	'from' => function () {
		foreach (outer_gen() as $v)
			say($v);
	},
	'größe' => fn() => größe(1),
	'trait' => fn() => (new WithTrait)->traited(),
	'anonymous' => fn() => (new class { function m() { return say(); } })->m(),
	'ref' => fn() => ref(1),
	'throw' => fn() => thrower(),
	'eval' => fn() => eval("\nreturn say(1);"),
	'cufa' => fn() => call_user_func_array('recurse', [1]),
	'reflection' => fn() => (new ReflectionMethod('Base', 'method'))->invoke(new Base(1), 2),
	'iterator' => fn() => iterator_to_array(gen(1)),
	'preg' => fn() => preg_replace_callback('/b/', fn($m) => say('x'), 'abc'),
	'include' => fn() => include $GLOBALS['argv'][2],
	'require' => fn() => require_once $GLOBALS['argv'][2],
	'fiber' => function () {
		$f = new Fiber(function () { say(1); Fiber::suspend(); say(2); });
		$f->start();
		$f->resume();
	},
];
foreach ($shapes as $name => $f) {
	$f();
}
