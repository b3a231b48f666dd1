<?php
/*
 * A page of a shop: ?items=N.  For a request it calls page() once, Store::ask()
 * N + 1 times, which is a query each, and Store::price() N times.
 */
class Store
{
	private $db;

	function __construct($where)
	{
		$this->db = pg_connect($where);
	}

	function ask($query)
	{
		return pg_fetch_result(pg_query($this->db, $query), 0, 0);
	}

	static function price($id)
	{
		return $id * 3;
	}
}

function page($store, $items)
{
	for ($id = 1; $id <= $items; $id++) {
		$name = $store->ask("select name from item where id = $id");
		echo $name, " for ", Store::price($id), "\n";
	}
	echo "of ", $store->ask("select count(*) from item"), "\n";
}

page(new Store($_SERVER["STORE"]), (int)$_GET["items"]);
