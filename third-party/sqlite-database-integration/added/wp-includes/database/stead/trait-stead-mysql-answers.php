<?php
/**
 * What an answer looks like: sorted, grouped, told apart, counted, and with the digits that MySQL writes. Part of
 * WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Answers {
	/** How columns of the last answer are written: by number, digits after the point, or null for a number as it is. */
	private $more_formats = array();
	/** Where the list begins that columns are to be added to, and these. */
	private $more_total = null;

	/**
	 * A search that looks at each row anyway, with SQL_CALC_FOUND_ROWS: its rows and their number by one look at the table,
	 * or null when it is another statement, or has no rows.
	 */
	private function found_and_counted( WP_Parser_Node $node, WP_Parser_Node $query ): ?PDOStatement {
		$body = $query->get_first_descendant_node( 'querySpecification' );
		if (
			! preg_match( "/LIKE\s+'%/i", $this->last_mysql_query )
			|| null === $query->get_first_child_node( 'limitClause' )
			|| null === $body
			|| $body->has_child_node( 'groupByClause' )
			|| $body->has_child_node( 'havingClause' )
			|| preg_match( '/\b(UNION|EXCEPT|INTERSECT|DISTINCT|WITH)\b|:=/i', $this->last_mysql_query )
		) {
			return null;
		}
		$names = array();
		$list  = $body->get_first_child_node( 'selectItemList' );
		foreach ( $list->get_children() as $item ) {
			if ( $item instanceof WP_MySQL_Token ) {
				if ( ',' !== $item->get_value() ) {
					return null;
				}
				continue;
			}
			$expr  = $item->get_first_child_node( 'expr' );
			$inner = null === $expr ? null : $this->innermost( $expr );
			if ( null === $inner || 'columnRef' !== $inner->rule_name || $item->has_child_node( 'selectAlias' ) ) {
				return null;
			}
			$parts   = $inner->get_descendant_nodes( 'identifier' );
			$names[] = $this->translate( end( $parts ) );
		}
		if ( count( array_unique( $names ) ) !== count( $names ) ) {
			return null;
		}
		$sql = preg_match( '/\bORDER\s+BY\s+\(?\s*CASE\b/i', $this->last_mysql_query ) ? $this->counted_by_keys( $query, $body, $list ) : null;
		if ( null === $sql ) {
			$sql = $this->with_columns( $list, ', COUNT(*) OVER () AS `stead_total`', $query );
		}
		$functions        = $this->more_functions();
		$functions->total = null;
		$stmt             = $this->execute_sqlite_query( sprintf( 'SELECT %s FROM (%s) WHERE %s(`stead_total`)', implode( ', ', $names ), $sql, $functions->name_of( 'counted' ) ) );
		if ( null === $functions->total ) {
			// Beyond the last row nothing is counted.
			if ( ! preg_match( '/\bLIMIT\s+(?:0\s*,\s*)?\d+\s*;?\s*$/i', $this->last_mysql_query ) ) {
				return null;
			}
			$functions->total = 0;
		}
		$this->found_rows = $functions->total;
		return $stmt;
	}

	/** A node, with more columns in its list. */
	private function with_columns( WP_Parser_Node $list, string $columns, WP_Parser_Node $node ): string {
		$this->more_total = array( $list->get_start(), $columns );
		try {
			return (string) $this->translate( $node );
		} finally {
			$this->more_total = null;
		}
	}

	/**
	 * A search of several words is sorted by what its texts are like. What the rows are sorted by is computed first: to count
	 * them, SQLite keeps all that it sorts, and would keep the texts.
	 */
	private function counted_by_keys( WP_Parser_Node $query, WP_Parser_Node $body, WP_Parser_Node $list ): ?string {
		$order = $query->get_first_child_node( 'orderClause' );
		if ( null === $order ) {
			return null;
		}
		$columns = '';
		$keys    = array();
		foreach ( $order->get_first_child_node( 'orderList' )->get_child_nodes() as $i => $item ) {
			$expr      = $item->get_first_child_node( 'expr' );
			$direction = $item->get_first_child_node( 'direction' );
			$columns  .= ', ' . $this->sorted_by( $expr, (string) $this->translate( $expr ), $query ) . " AS `stead_key_$i`";
			$keys[]    = "`stead_key_$i`" . ( null === $direction ? '' : ' ' . $this->translate( $direction ) );
		}
		return sprintf(
			'SELECT *, COUNT(*) OVER () AS `stead_total` FROM (%s LIMIT -1) ORDER BY %s %s',
			$this->with_columns( $list, $columns, $body ),
			implode( ', ', $keys ),
			$this->translate( $query->get_first_child_node( 'limitClause' ) )
		);
	}

	/** Upstream takes the first digit of the count. */
	private function count_found_rows(): int {
		if ( is_int( $this->found_rows ) || null === $this->found_rows ) {
			return (int) $this->found_rows;
		}
		list( $query, $params ) = is_array( $this->found_rows ) ? $this->found_rows + array( 1 => array() ) : array( $this->found_rows, array() );
		return (int) $this->execute_sqlite_query( sprintf( 'SELECT COUNT(*) FROM (%s)', $query ), $params )->fetchColumn();
	}

	/** Items of a SELECT DISTINCT, and of the first part of a UNION, by where they begin. */
	private $more_distinct = array();

	private function note_distinct( WP_Parser_Node $node ): ?string {
		foreach ( $node->get_child_nodes( 'selectOption' ) as $option ) {
			if ( 0 === strpos( strtoupper( $option->get_first_descendant_token()->get_value() ), 'DISTINCT' ) ) {
				foreach ( $node->get_first_child_node( 'selectItemList' )->get_child_nodes( 'selectItem' ) as $item ) {
					$this->more_distinct[ $item->get_start() ] = 'distinct';
				}
			}
		}
		$group = $node->get_first_child_node( 'groupByClause' );
		return null !== $group && $group->has_child_node( 'olapOption' ) ? $this->translate_rollup( $node, $group ) : null;
	}

	/**
	 * GROUP BY … WITH ROLLUP: the groups, then those of all keys but the last, and so on to the total of all rows. In each the
	 * keys that are left out are NULL.
	 */
	private function translate_rollup( WP_Parser_Node $node, WP_Parser_Node $group ): string {
		$text = function ( WP_Parser_Node $part ) {
			return trim( substr( $this->last_mysql_query, $part->get_start(), $part->get_length() ) );
		};
		$bare = function ( string $name ) {
			return strtolower( preg_replace( '/[`\s]/', '', $name ) );
		};
		$keys = array();
		foreach ( $group->get_first_child_node( 'orderList' )->get_child_nodes() as $key ) {
			$keys[] = $text( $key->get_first_child_node( 'expr' ) );
		}
		$list  = $node->get_first_child_node( 'selectItemList' );
		$items = $list->get_child_nodes( 'selectItem' );
		$place = array();
		$named = array();
		foreach ( $items as $i => $item ) {
			$named[ $i ] = "stead_$i";

			$expr  = $item->get_first_child_node( 'expr' );
			$alias = $item->get_first_child_node( 'selectAlias' );
			$names = null === $expr ? array() : array( $bare( $text( $expr ) ), $bare( preg_replace( '/^.*\./s', '', $text( $expr ) ) ) );
			if ( null !== $alias ) {
				$parts   = $alias->get_child_nodes();
				$names[] = $bare( $text( end( $parts ) ) );

				// HAVING asks for it by this name.
				$named[ $i ] = trim( $text( end( $parts ) ), '`\'"' );
			}
			$place[ $i ] = null;
			foreach ( $keys as $at => $key ) {
				if ( in_array( $bare( $key ), $names, true ) || in_array( $bare( preg_replace( '/^.*\./s', '', $key ) ), $names, true ) ) {
					$place[ $i ] = $at;
				}
			}
			if ( null === $expr || ( null === $place[ $i ] && null === $expr->get_first_descendant_node( 'sumExpr' ) && null !== $expr->get_first_descendant_node( 'columnRef' ) ) ) {
				throw $this->new_not_supported_exception( 'GROUP BY … WITH ROLLUP, and a column that is no key' );
			}
		}
		if ( $list->has_child_token( WP_MySQL_Lexer::MULT_OPERATOR ) ) {
			throw $this->new_not_supported_exception( 'GROUP BY … WITH ROLLUP of all columns' );
		}
		$from_end = $list->get_start() + $list->get_length();
		$head     = substr( $this->last_mysql_query, $node->get_start(), $list->get_start() - $node->get_start() );
		$from     = substr( $this->last_mysql_query, $from_end, $group->get_start() - $from_end );
		$having   = $node->get_first_child_node( 'havingClause' );
		$sets     = array();
		for ( $count = count( $keys ); $count >= 0; $count-- ) {
			// What SQLite groups the total by, where there is a HAVING, comes first.
			$columns = array( "$count AS stead_keys", 'COUNT(*) AS stead_rows' );
			foreach ( $items as $i => $item ) {
				$is_out    = null !== $place[ $i ] && $place[ $i ] >= $count;
				$columns[] = ( $is_out ? 'NULL' : $text( $item->get_first_child_node( 'expr' ) ) ) . ' AS ' . $this->quote_mysql_identifier( $named[ $i ] );
			}
			foreach ( $keys as $at => $key ) {
				$alias     = array_search( $at, $place, true );
				$columns[] = ( $at >= $count ? 'NULL' : ( false === $alias ? $key : $text( $items[ $alias ]->get_first_child_node( 'expr' ) ) ) ) . " AS stead_key_$at";
			}
			$by = array();
			foreach ( array_slice( $keys, 0, $count, true ) as $at => $key ) {
				$alias = array_search( $at, $place, true );
				$by[]  = false === $alias ? $key : $text( $items[ $alias ]->get_first_child_node( 'expr' ) );
			}
			$sets[] = $this->translated_apart(
				$head . implode( ', ', $columns ) . $from . ( array() === $by ? '' : ' GROUP BY ' . implode( ', ', $by ) )
				. ( null === $having ? '' : ' ' . $text( $having ) )
			);
		}
		$names = array();
		foreach ( $items as $i => $item ) {
			$name    = $item->has_child_node( 'selectAlias' ) ? $named[ $i ] : preg_replace( '/^[`\w]+\.(?=`?\w+`?$)/', '', $text( $item ) );
			$names[] = $this->quote_sqlite_identifier( $named[ $i ] ) . ' AS ' . $this->quote_sqlite_identifier( trim( $name, '`' ) );
		}
		$order = array();
		foreach ( array_keys( $keys ) as $at ) {
			$order[] = "stead_keys <= $at, stead_key_$at COLLATE " . $this->collation();
		}
		return sprintf( 'SELECT * FROM (SELECT %s FROM (%s) WHERE stead_rows > 0 ORDER BY %s)', implode( ', ', $names ), implode( ' UNION ALL ', $sets ), implode( ', ', $order ) );
	}

	/** The translation of a query that stands by itself. */
	private function translated_apart( string $query ): string {
		$outer                  = array( $this->last_mysql_query, $this->more_statement );
		$this->last_mysql_query = $query;
		try {
			$tree = $this->create_parser( $query )->parse();
			if ( null === $tree ) {
				throw $this->new_not_supported_exception( 'GROUP BY … WITH ROLLUP of this form' );
			}
			$this->more_statement = $tree;
			return (string) $this->translate( $tree->get_first_descendant_node( 'queryExpression' ) );
		} finally {
			list( $this->last_mysql_query, $this->more_statement ) = $outer;
		}
	}

	/** An item of a SELECT DISTINCT: texts are told apart without case and accents. */
	private function translate_distinct_item( WP_Parser_Node $node ): ?string {
		if ( ! isset( $this->more_distinct[ $node->get_start() ] ) ) {
			$text = substr( $this->last_mysql_query, $node->get_start(), $node->get_length() );
			// A column is named as the statement writes it.
			if ( ( preg_match( '/^(?:[\w`]+\.)?`?(\w*(?:^|[_.`]|\b)i[dp])`?$/i', $text, $match ) || ( false !== stripos( $this->last_mysql_query, 'information_schema' ) && preg_match( '/^(?:[\w`]+\.)?`?(\w+)`?$/', $text, $match ) ) ) && ! is_numeric( $match[1] ) && null !== $node->get_first_descendant_node( 'columnRef' ) ) {
				return $this->translate( $node->get_first_child_node( 'expr' ) ) . ' AS ' . $this->quote_sqlite_identifier( $match[1] );
			}
			return null;
		}
		$is_of_union = 'union' === $this->more_distinct[ $node->get_start() ];
		unset( $this->more_distinct[ $node->get_start() ] );
		$expr = $node->get_first_child_node( 'expr' );
		if ( null === $expr || ! ( $this->is_text_for_people( $expr ) || $this->tells_case( $expr ) || ( $is_of_union && null !== $this->text_of( $expr ) ) ) ) {
			return null;
		}
		$alias = $node->get_first_child_node( 'selectAlias' );
		$name  = substr( $this->last_mysql_query, $expr->get_start(), $expr->get_length() );
		if ( null !== $alias ) {
			$name  = null;
			$names = $alias->get_child_nodes();
			$name  = $this->translate( end( $names ) );
			$name  = "'" === $name[0] ? $this->quote_sqlite_identifier( str_replace( "''", "'", substr( $name, 1, -1 ) ) ) : $name;
		} else {
			$inner = $this->innermost( $expr );
			if ( 'columnRef' === $inner->rule_name ) {
				$parts = $inner->get_descendant_nodes( 'identifier' );
				$name  = $this->translate( end( $parts ) );
			} else {
				$name = $this->quote_sqlite_identifier( $name );
			}
		}
		return $this->translate( $expr ) . ' COLLATE ' . ( $this->tells_case( $expr ) ? 'BINARY' : $this->collation() ) . " AS $name";
	}

	/** A column in parentheses is named as it is without. */
	private function bare_column( WP_Parser_Node $item ): ?string {
		$expr  = $item->get_first_child_node( 'expr' );
		$inner = null === $expr ? null : $this->innermost( $expr );
		return null !== $inner && 'columnRef' === $inner->rule_name ? (string) $this->translate( $inner ) : null;
	}

	/** What an answer is grouped by: texts without case and accents. */
	private function grouped_by( WP_Parser_Node $expr, string $sql, WP_Parser_Node $select ): string {
		$named = $this->aliased( $expr, $select );
		if ( $named !== $expr && preg_match( '/^`([^`]+)`$/', $sql, $match ) && $this->is_in_two_tables( $match[1] ) ) {
			// A name of two tables' columns is the alias. SQLite takes it for a column, and calls it ambiguous.
			$sql = (string) $this->translate( $named );
		}
		if ( $this->tells_case( $named ) ) {
			return "$sql COLLATE BINARY";
		}
		return $this->is_text_for_people( $named ) ? $sql . ' COLLATE ' . $this->collation() : $sql;
	}

	/** Whether a node is a column that tells case. */
	private function tells_case( WP_Parser_Node $node ): bool {
		list( , , $column ) = $this->value_of( $node );
		return 'BINARY' === $this->collation_of( $column );
	}

	private function is_in_two_tables( string $column ): bool {
		$count = 0;
		foreach ( $this->tables_of_statement() as list( , $table ) ) {
			$count += null === $this->column_type( $table, $column ) ? 0 : 1;
		}
		return $count > 1;
	}

	/** What an alias stands for, or the node itself. */
	private function aliased( WP_Parser_Node $expr, WP_Parser_Node $select ): WP_Parser_Node {
		$inner = $this->innermost( $expr );
		$name  = strtolower( trim( substr( $this->last_mysql_query, $inner->get_start(), $inner->get_length() ), " \t\r\n`'\"" ) );
		$list  = $select->get_first_descendant_node( 'selectItemList' );
		foreach ( null === $list ? array() : $list->get_child_nodes( 'selectItem' ) as $item ) {
			$alias = $item->get_first_child_node( 'selectAlias' );
			if ( null === $alias || ! $item->has_child_node( 'expr' ) ) {
				continue;
			}
			$names = $alias->get_child_nodes();
			$last  = end( $names );
			if ( strtolower( trim( substr( $this->last_mysql_query, $last->get_start(), $last->get_length() ), " `'\"" ) ) === $name ) {
				return $item->get_first_child_node( 'expr' );
			}
		}
		return $expr;
	}

	/** Rows of a UNION are told apart, and sorted, by the collations of its first part: whether that has texts. */
	private function tell_apart_union( WP_Parser_Node $node ): bool {
		$first = $node->get_first_descendant_node( 'querySpecification' );
		$list  = null === $first ? null : $first->get_first_child_node( 'selectItemList' );
		$items = null === $list ? array() : $list->get_child_nodes( 'selectItem' );
		foreach ( $items as $item ) {
			$this->more_distinct[ $item->get_start() ] = 'union';
		}
		return array() !== $items;
	}

	/** SQLite takes no parentheses around the parts of a UNION. */
	private function translate_union( WP_Parser_Node $node ): ?string {
		$is_any = $this->tell_apart_union( $node );
		$parts  = array();
		foreach ( $node->get_children() as $child ) {
			$part   = $this->translate( $child );
			$inner  = $child instanceof WP_Parser_Node ? $child->get_first_child_node() : null;
			$parens = null !== $inner && 'queryExpressionParens' === $inner->rule_name && 1 === count( $child->get_children() );
			if ( $parens ) {
				$is_any = true;
				$part   = 'SELECT * FROM ' . $part;
			}
			$parts[] = $part;
		}
		return $is_any ? implode( ' ', array_filter( $parts, 'strlen' ) ) : null;
	}

	/**
	 * What an answer is sorted by: texts without case and accents.
	 *
	 * Names that are looked up, and whatever is a number or a time by its name, stay as they are: SQLite has an index
	 * for many of them.
	 *
	 * @param WP_Parser_Node $expr   What ORDER BY says.
	 * @param string         $sql    Its translation.
	 * @param WP_Parser_Node $select The statement, for its tables.
	 */
	private function sorted_by( WP_Parser_Node $expr, string $sql, WP_Parser_Node $select ): string {
		$named = $this->aliased( $expr, $select );
		list( $kind, , $info ) = $this->value_of( $named );
		if ( 'text' === $kind && null === $info ) {
			return $this->more_call( 'sort_key', $named === $expr ? $sql : (string) $this->translate( $named ) );
		}
		if ( null !== $info && 'enum' === $info['DATA_TYPE'] && false === stripos( $this->last_mysql_query, 'union' ) ) {
			return $this->translate_number_of_enum( $named ) ?? $sql;
		}
		if ( 'BINARY' === $this->collation_of( $info ) ) {
			return "$sql COLLATE BINARY";
		}
		if ( 'text' === $kind && $this->is_for_people( $this->innermost( $named ), $info ) ) {
			return $this->more_call( 'sort_key', $named === $expr ? $sql : (string) $this->translate( $named ) );
		}
		$column = $expr->get_first_descendant_node( 'columnRef' );
		if ( null === $column || ! preg_match( '/^(?:`[^`]+`\.)?`([^`]+)`$/', trim( $sql ), $match ) ) {
			return $sql;
		}
		$name = strtolower( $match[1] );
		if ( preg_match( '/(^|_)(id|date|gmt|order|count|time|key|slug|type|status|created|modified|updated|price|qty|total|value|option_name|post_name)$/', $name ) ) {
			return $sql;
		}
		foreach ( $select->get_descendant_nodes( 'tableRef' ) as $ref ) {
			if ( 'information_schema' === strtolower( $this->get_database_name( $ref ) ) ) {
				return $sql;
			}
			$type = $this->column_type( $this->unquote_sqlite_identifier( $this->translate( $ref ) ), $name );
			if ( null !== $type ) {
				return preg_match( '/_ci$/', (string) $type['COLLATION_NAME'] ) ? $this->more_call( 'sort_key', $sql ) : $sql;
			}
		}
		// A column that a query inside the query computes: numbers stay what they are.
		return null === $select->get_first_descendant_node( 'derivedTable' ) ? $sql : $this->more_call( 'sort_key', $sql );
	}

	/** Notes which columns of an answer are numbers with a point, and how many digits follow it. */
	private function note_formats( WP_Parser_Node $node ): void {
		$this->more_formats = array();
		$items              = null;
		foreach ( $this->last_column_meta as $i => $meta ) {
			if ( 'double' !== ( $meta['native_type'] ?? '' ) && 'REAL' !== ( $meta['sqlite:decl_type'] ?? '' ) && 'integer' !== ( $meta['native_type'] ?? '' ) ) {
				continue;
			}
			if ( 'integer' === $meta['native_type'] && ( isset( $meta['table'] ) && 'REAL' !== ( $meta['sqlite:decl_type'] ?? '' ) ) ) {
				continue;
			}
			if ( null === $items ) {
				$items = $this->select_items( $node );
			}
			$scale = isset( $meta['table'] ) && '' !== $meta['table'] ? $this->column_scale( $meta['table'], $meta['name'] ) : null;
			if ( null === $scale && isset( $items[ $i ] ) && count( $items ) === count( $this->last_column_meta ) ) {
				$scale = $this->scale_of( $items[ $i ], $node );
			}
			if ( null !== $scale || 'integer' !== $meta['native_type'] ) {
				$this->more_formats[ $i ] = $scale;
			}
		}
	}

	/** Expressions of the SELECT list; none when a star stands for some. */
	private function select_items( WP_Parser_Node $node ): array {
		$list = $node->get_first_descendant_node( 'selectItemList' );
		if ( null === $list || $list->has_child_token( WP_MySQL_Lexer::MULT_OPERATOR ) ) {
			return array();
		}
		$items = array();
		foreach ( $list->get_child_nodes( 'selectItem' ) as $item ) {
			$expr = $item->get_first_child_node( 'expr' );
			if ( null === $expr ) {
				return array();
			}
			$items[] = $expr;
		}
		return $items;
	}

	private function column_scale( string $table, string $column ): ?int {
		$type = $this->column_type( $table, $column );
		if ( null === $type ) {
			return null;
		}
		if ( 'decimal' === $type['DATA_TYPE'] || preg_match( '/^(double|float)\(\d+,\d+\)/', $type['COLUMN_TYPE'] ) ) {
			return preg_match( '/,\s*(\d+)\)/', $type['COLUMN_TYPE'], $match ) ? (int) $match[1] : 0;
		}
		return in_array( $type['DATA_TYPE'], array( 'tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'year' ), true ) ? 0 : null;
	}

	/** Digits after the point of a value, null when that cannot be said. */
	private function scale_of( WP_Parser_Node $node, WP_Parser_Node $statement ): ?int {
		$children = $node->get_children();
		if ( 1 === count( $children ) ) {
			$only = $children[0];
			if ( $only instanceof WP_MySQL_Token ) {
				return 'numLiteral' === $node->rule_name && preg_match( '/^\d*\.?(\d*)$/', $only->get_value(), $match ) ? strlen( $match[1] ) : null;
			}
			if ( 'columnRef' === $only->rule_name ) {
				$parts = $only->get_descendant_nodes( 'identifier' );
				$name  = $this->unquote_sqlite_identifier( $this->translate( end( $parts ) ) );
				foreach ( $statement->get_descendant_nodes( 'tableRef' ) as $ref ) {
					if ( 'information_schema' === strtolower( $this->get_database_name( $ref ) ) ) {
						continue;
					}
					$scale = $this->column_scale( $this->unquote_sqlite_identifier( $this->translate( $ref ) ), $name );
					if ( null !== $scale ) {
						return $scale;
					}
				}
				return null;
			}
			return $this->scale_of( $only, $statement );
		}
		$scales = function ( array $nodes ) use ( $statement ) {
			$found = array();
			foreach ( $nodes as $each ) {
				$scale = $each instanceof WP_Parser_Node ? $this->scale_of( $each, $statement ) : null;
				if ( null === $scale ) {
					return null;
				}
				$found[] = $scale;
			}
			return $found;
		};
		if ( 'bitExpr' === $node->rule_name ) {
			list( $values, $operators ) = $this->chain_of( $node );
			$found                      = $scales( $values );
			if ( null === $found || count( $found ) !== count( $operators ) + 1 || array_diff( $operators, array( '+', '-', '*', '/', '%', 'MOD' ) ) ) {
				return null;
			}
			return $this->join_chain(
				$found,
				$operators,
				function ( $operator, $a, $b ) {
					return array( '*' === $operator ? $a + $b : ( '/' === $operator ? $a + 4 : max( $a, $b ) ) );
				}
			);
		}
		if ( 'simpleExprBody' === $node->rule_name || 'exprListWithParentheses' === $node->rule_name ) {
			$list = $node->get_child_nodes();
			$type = $node->get_first_child_node( 'castType' );
			if ( null !== $type ) {
				$text = substr( $this->last_mysql_query, $type->get_start(), $type->get_length() );
				return preg_match( '/^(?:DECIMAL|DEC|NUMERIC)\b(?:.*,\s*(\d+))?/is', $text, $match ) ? (int) ( $match[1] ?? 0 ) : null;
			}
			return 1 === count( $list ) ? $this->scale_of( $list[0], $statement ) : null;
		}
		$first = $node->get_first_child();
		if ( 'sumExpr' === $node->rule_name && $first instanceof WP_MySQL_Token ) {
			$expr  = $node->get_child_nodes()[0] ?? null;
			$scale = null === $expr ? null : $this->scale_of( $expr, $statement );
			switch ( strtoupper( $first->get_value() ) ) {
				case 'SUM':
				case 'MIN':
				case 'MAX':
					return $scale;
				case 'AVG':
				case 'STD':
				case 'STDDEV':
				case 'STDDEV_POP':
				case 'STDDEV_SAMP':
				case 'VARIANCE':
				case 'VAR_POP':
				case 'VAR_SAMP':
					return null === $scale ? null : $scale + 4;
			}
			return null;
		}
		if ( 'windowFunctionCall' === $node->rule_name && $first instanceof WP_MySQL_Token ) {
			return in_array( strtoupper( $first->get_value() ), array( 'PERCENT_RANK', 'CUME_DIST' ), true ) ? 10 : null;
		}
		if ( 'functionCall' === $node->rule_name || 'runtimeFunctionCall' === $node->rule_name ) {
			$name = strtoupper( $first instanceof WP_MySQL_Token ? $first->get_value() : $this->unquote_sqlite_identifier( $this->translate( $first ) ) );
			$args = array();
			foreach ( array_slice( $node->get_child_nodes(), $first instanceof WP_MySQL_Token ? 0 : 1 ) as $child ) {
				$args = array_merge( $args, in_array( $child->rule_name, array( 'exprList', 'udfExprList', 'exprListWithParentheses' ), true ) ? $child->get_child_nodes() : array( $child ) );
			}
			switch ( $name ) {
				case 'PI':
					return 6;
				case 'ABS':
				case 'COALESCE':
				case 'IFNULL':
				case 'GREATEST':
				case 'LEAST':
					$found = $scales( $args );
					return $found ? max( $found ) : null;
				case 'IF':
					$found = $scales( array_slice( $args, 1 ) );
					return $found ? max( $found ) : null;
				case 'ROUND':
				case 'TRUNCATE':
					$scale  = isset( $args[0] ) ? $this->scale_of( $args[0], $statement ) : null;
					$digits = isset( $args[1] ) ? trim( substr( $this->last_mysql_query, $args[1]->get_start(), $args[1]->get_length() ) ) : '0';
					if ( ! ctype_digit( $digits ) ) {
						return null;
					}
					if ( null === $scale && (int) $digits > 0 && isset( $args[0] ) && ( 'sumExpr' === $this->innermost( $args[0] )->rule_name || in_array( $this->value_of( $args[0] )[2]['DATA_TYPE'] ?? '', array( 'varchar', 'longtext', 'text', 'double' ), true ) ) ) {
						// Numbers with a point are rounded, and written, to so many digits.
						return (int) $digits;
					}
					return null === $scale ? null : min( $scale, (int) $digits );
			}
		}
		return null;
	}

	/** A value as MySQL writes it. */
	public static function written( $value, ?int $scale ) {
		if ( null === $value || ! is_numeric( $value ) ) {
			return $value;
		}
		if ( 0 === $scale && ( is_int( $value ) || ( is_string( $value ) && preg_match( '/^-?\d+$/', $value ) ) ) ) {
			// More digits than a number with a point can hold.
			return (string) $value;
		}
		if ( null !== $scale ) {
			return number_format( (float) $value, $scale, '.', '' );
		}
		return is_string( $value ) ? preg_replace( '/\.0$/', '', $value ) : $value;
	}
}
