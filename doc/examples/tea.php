<?php
// A tea house in PHP, to be traced.
class House {
	function price($tea, $grams) {
		return ($tea == 'assam' ? 3 : 5) * $grams;
	}

	function serve($tea, $grams) {
		$cents = $this->price($tea, $grams);
		file_put_contents('php://stdout', "$cents cents\n");
	}
}

$house = new House;
foreach (['assam', 'sencha', 'assam'] as $i => $tea)
	$house->serve($tea, $i + 2);
