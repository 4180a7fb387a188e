<?php
/**
 * What the translation of MySQL to SQLite has beside upstream's own.
 *
 * It is part of WP_MySQL_On_SQLite, which asks it first: for a node of a statement, for a kind of statement, and about
 * the rows that a statement changed. Whatever it does not know goes on as upstream has it.
 */
trait Stead_MySQL_More {
	/** @var Stead_MySQL_Functions|null */
	private $more_functions = null;
	/** Column and value of each assignment of the last list that was translated. */
	private $more_assignments = array();
	/** How columns of the last answer are written: by number, digits after the point, or null for a number as it is. */
	private $more_formats = array();
	/** Column of a table, and what it is; of this request. */
	private $more_columns = array();
	/** Whether the statement sets user variables row by row. */
	private $more_assigns = false;
	/** The statement that runs. */
	private $more_statement = null;
	private $more_row_count = -1;
	/** The same of the statement that runs. */
	private $more_rows_changed = -1;
	/** Id that the last INSERT gave. */
	private $more_last_id = 0;

	/** Functions that SQLite has as MySQL has them, or that upstream translates well. */
	private static $more_native = array( 'DATABASE', 'SCHEMA', 'VERSION', 'COALESCE', 'IFNULL', 'ABS', 'RAND', 'CONCAT', 'FROM_BASE64', 'TO_BASE64' );

	/**
	 * Rules of the grammar that may be ours; those with true even when they have a single part. Expressions are nested ten
	 * deep, and nearly all of it is rules with a single part: they are passed by before anything is called.
	 */
	private static $more_rules = array(
		'runtimeFunctionCall' => true,
		'functionCall'        => true,
		'trimFunction'        => true,
		'sumExpr'             => true,
		'bitExpr'             => false,
		'expr'                => false,
		'boolPri'             => false,
		'predicate'           => false,
		'simpleExpr'          => false,
		'simpleExprBody'      => false,
		'limitOption'         => true,
		'selectOption'        => true,
		'queryExpressionBody' => false,
		'userVariable'        => true,
		'systemVariable'      => true,
		'textLiteral'         => true,
		'temporalLiteral'     => true,
		'innerJoinType'       => true,
		'substringFunction'   => true,
		'selectItem'          => true,
		'selectItemList'      => true,
		'querySpecification'  => true,
	);

	/** Our functions that answer with a number. */
	private static $more_numbers = array(
		'timestampdiff', 'extract', 'year', 'month', 'day', 'dayofmonth', 'hour', 'minute', 'second', 'microsecond', 'quarter',
		'to_days', 'to_seconds', 'weekday', 'dayofweek', 'dayofyear', 'week', 'weekofyear', 'yearweek', 'time_to_sec', 'datediff',
		'period_add', 'period_diff', 'unix_timestamp', 'locate', 'instr', 'strcmp', 'field', 'find_in_set', 'ascii', 'ord', 'crc32',
		'inet_aton', 'is_ipv4', 'is_ipv6', 'regexp_like', 'regexp_instr', 'round', 'truncate', 'ceil', 'ceiling', 'floor', 'mod',
		'sign', 'pow', 'power', 'sqrt', 'exp', 'ln', 'log', 'log2', 'log10', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2',
		'radians', 'degrees', 'pi', 'bit_xor', 'bit_count', 'interval', 'cast_decimal', 'json_length', 'json_valid',
		'json_contains', 'json_contains_path', 'json_depth', 'json_exists', 'number_of_date', 'uuid_short', 'benchmark', 'uncompressed_length', 'get_lock', 'release_lock', 'is_free_lock',
	);

	private function more_functions(): Stead_MySQL_Functions {
		if ( null === $this->more_functions ) {
			$this->more_functions = new Stead_MySQL_Functions( $this->connection->get_pdo() );
		}
		return $this->more_functions;
	}

	/**
	 * A call of one of our functions. What is a number is cast to one, so that SQLite compares it with '3' as MySQL does:
	 * by itself the answer of a function has no type, and every number is less than every text.
	 */
	private function more_call( string $name, string ...$args ): string {
		$call = $this->more_functions()->name_of( $name ) . '(' . implode( ', ', $args ) . ')';
		return in_array( strtolower( $name ), self::$more_numbers, true ) ? "CAST($call AS NUMERIC)" : $call;
	}

	/**
	 * The translation of a node that is ours, or null for upstream's.
	 *
	 * @param WP_Parser_Node $node Any node of a statement.
	 */
	private function translate_more( WP_Parser_Node $node ): ?string {
		switch ( $node->rule_name ) {
			case 'runtimeFunctionCall':
			case 'functionCall':
				return $this->translate_more_function( $node );
			case 'trimFunction':
				return $this->translate_trim( $node );
			case 'sumExpr':
				return $this->translate_aggregate( $node );
			case 'bitExpr':
				return $this->translate_more_operation( $node );
			case 'expr':
				return $this->translate_more_logic( $node );
			case 'boolPri':
				return $this->translate_comparison( $node );
			case 'predicate':
				return $this->translate_more_predicate( $node );
			case 'simpleExpr':
				return $this->translate_more_simple( $node );
			case 'simpleExprBody':
				return $this->translate_more_body( $node );
			case 'limitOption':
				$token = $node->get_first_child_token();
				$value = null === $token ? trim( (string) $this->translate_sequence( $node->get_children() ) ) : $token->get_value();
				return ctype_digit( $value ) && ( strlen( $value ) > 18 ) ? '1000000000000000000' : null;
			case 'selectOption':
				$token = $node->get_first_descendant_token();
				$words = array( 'DISTINCT', 'DISTINCTROW', 'ALL', 'SQL_CALC_FOUND_ROWS' );
				if ( ! in_array( strtoupper( $token->get_value() ), $words, true ) ) {
					return '';
				}
				return 'DISTINCTROW' === strtoupper( $token->get_value() ) ? 'DISTINCT' : null;
			case 'queryExpressionBody':
				return $this->translate_union( $node );
			case 'userVariable':
				if ( ! $this->more_assigns ) {
					return null;
				}
				return $this->more_call( 'variable', $this->quote_sqlite_value( $this->variable_name( $node ) ) );
			case 'systemVariable':
				return $this->translate_known_variable( $node );
			case 'textLiteral':
				return $this->translate_text_literal( $node );
			case 'temporalLiteral':
				return $this->translate( $node->get_first_child_node() );
			case 'innerJoinType':
				return $node->has_child_token( WP_MySQL_Lexer::STRAIGHT_JOIN_SYMBOL ) ? 'JOIN' : null;
			case 'substringFunction':
				return $this->translate_substring( $node );
			case 'selectItem':
				return $this->translate_distinct_item( $node );
			case 'selectItemList':
				if ( $this->more_total !== $node->get_start() ) {
					return null;
				}
				$this->more_total = null;
				return $this->translate( $node ) . ', COUNT(*) OVER () AS `stead_total`';
			case 'querySpecification':
				return $this->note_distinct( $node );
		}
		return null;
	}

	private function variable_name( WP_Parser_Node $node ): string {
		$name = $this->unquote_sqlite_identifier( (string) $this->translate( $node->get_first_child() ) );
		return strtolower( ltrim( $name, '@' ) );
	}

	/** 'a' 'b' is one text; _utf8mb4'a' and N'a' are texts as any. */
	private function translate_text_literal( WP_Parser_Node $node ): ?string {
		$texts = $node->get_child_nodes( 'textStringLiteral' );
		if ( count( $texts ) === count( $node->get_children() ) && 1 === count( $texts ) ) {
			return null;
		}
		if ( 0 === count( $texts ) ) {
			$token = $node->get_first_child_token();
			return preg_match( "/^[Nn]'/", $token->get_bytes() ) ? substr( $token->get_bytes(), 1 ) : null;
		}
		return '(' . implode( ' || ', array_map( array( $this, 'translate' ), $texts ) ) . ')';
	}

	/** @return string[] Translated arguments of a call. */
	private function more_arguments( WP_Parser_Node $node, bool $is_named ): array {
		return array_map( array( $this, 'translate' ), $this->argument_nodes( $node, $is_named ) );
	}

	/** @return WP_Parser_Node[] */
	private function argument_nodes( WP_Parser_Node $node, bool $is_named ): array {
		$nodes = $node->get_child_nodes();
		if ( $is_named ) {
			array_shift( $nodes );
		}
		$args = array();
		foreach ( $nodes as $child ) {
			if ( in_array( $child->rule_name, array( 'timeFunctionParameters', 'parentheses' ), true ) ) {
				continue;
			}
			$list = in_array( $child->rule_name, array( 'exprList', 'udfExprList', 'exprListWithParentheses', 'exprWithParentheses' ), true );
			foreach ( $list ? $child->get_child_nodes() : array( $child ) as $each ) {
				$args[] = $each;
			}
		}
		return $args;
	}

	private function translate_more_function( WP_Parser_Node $node ): ?string {
		$first    = $node->get_first_child();
		$is_named = 'functionCall' === $node->rule_name;
		if ( ! $is_named && $first instanceof WP_Parser_Node ) {
			return null;
		}
		$name = strtoupper( $is_named ? $this->unquote_sqlite_identifier( $this->translate( $first ) ) : $first->get_value() );
		$unit = $node->get_first_child_node( 'interval' );
		if ( null !== $unit && ! $is_named ) {
			$unit = $this->quote_sqlite_value( trim( (string) $this->translate_sequence( $unit->get_children() ) ) );
			$args = array();
			foreach ( $node->get_child_nodes() as $child ) {
				if ( 'interval' !== $child->rule_name ) {
					$args[] = $this->translate( $child );
				}
			}
			switch ( $name ) {
				case 'DATE_ADD':
				case 'ADDDATE':
					return $this->more_call( 'date_move', $args[0], $args[1], $unit, '1' );
				case 'DATE_SUB':
				case 'SUBDATE':
					return $this->more_call( 'date_move', $args[0], $args[1], $unit, '-1' );
				case 'EXTRACT':
					return $this->more_call( 'extract', $unit, $args[0] );
			}
			return null;
		}
		if ( in_array( $name, self::$more_native, true ) ) {
			return null;
		}
		if ( 'TIMESTAMPDIFF' === $name || 'TIMESTAMPADD' === $name || ( null !== $unit && 0 === strpos( $name, 'TIMESTAMP' ) ) ) {
			return $this->translate_timestamp_function( $name, $node );
		}
		$args  = $this->more_arguments( $node, $is_named );
		$count = count( $args );
		switch ( $name ) {
			case 'IF':
				return 3 === $count ? sprintf( 'CASE WHEN %s THEN %s ELSE %s END', ...$args ) : null;
			case 'ISNULL':
				return "({$args[0]} IS NULL)";
			case 'GREATEST':
			case 'LEAST':
				if ( $count < 2 ) {
					return null;
				}
				foreach ( $this->argument_nodes( $node, $is_named ) as $each ) {
					if ( 'text' === $this->value_of( $each )[0] && ! preg_match( '/^\'[\d.]*\'$/', $args[0] ) ) {
						$args[0] .= ' COLLATE ' . $this->collation();
						break;
					}
				}
				return ( 'LEAST' === $name ? 'MIN(' : 'MAX(' ) . implode( ', ', $args ) . ')';
			case 'NULLIF':
				$nodes = $this->argument_nodes( $node, $is_named );
				$sides = 2 === count( $nodes ) ? $this->compared( $nodes[0], $nodes[1], '=' ) : null;
				return null === $sides ? null : sprintf( 'CASE WHEN %s = %s THEN NULL ELSE %s END', $sides[0], $sides[1], $args[0] );
			case 'ANY_VALUE':
				return "({$args[0]})";
			case 'NOW':
			case 'CURRENT_TIMESTAMP':
			case 'LOCALTIME':
			case 'LOCALTIMESTAMP':
			case 'SYSDATE':
			case 'UTC_TIMESTAMP':
				return 'CURRENT_TIMESTAMP';
			case 'CURDATE':
			case 'CURRENT_DATE':
			case 'UTC_DATE':
				return 'CURRENT_DATE';
			case 'CURTIME':
			case 'CURRENT_TIME':
			case 'UTC_TIME':
				return 'CURRENT_TIME';
			case 'ADDDATE':
			case 'SUBDATE':
				return 2 === $count ? $this->more_call( 'date_move', $args[0], $args[1], "'DAY'", 'ADDDATE' === $name ? '1' : '-1' ) : null;
			case 'CHAR_LENGTH':
			case 'CHARACTER_LENGTH':
				return "CAST(LENGTH({$args[0]}) AS INTEGER)";
			case 'LENGTH':
			case 'OCTET_LENGTH':
				return "CAST(LENGTH(CAST({$args[0]} AS BLOB)) AS INTEGER)";
			case 'BIT_LENGTH':
				return "(8 * LENGTH(CAST({$args[0]} AS BLOB)))";
			case 'POSITION':
				return $this->more_call( 'locate', ...$args );
			case 'FOUND_ROWS':
				return (string) $this->count_found_rows();
			case 'LAST_INSERT_ID':
				return 0 === $count
					? (string) (int) ( $this->more_functions()->kept_id ?? $this->more_last_id )
					: $this->more_call( 'keep_id', $args[0] );
			case 'ROW_COUNT':
				return (string) $this->more_row_count;
			case 'USER':
			case 'CURRENT_USER':
			case 'SESSION_USER':
			case 'SYSTEM_USER':
				return "'root@localhost'";
			case 'CHARSET':
				return "'utf8mb4'";
			case 'COLLATION':
				return "'utf8mb4_unicode_520_ci'";
			case 'JSON_ARRAYAGG':
			case 'JSON_OBJECTAGG':
				return $this->more_functions()->aggregate( strtolower( $name ) ) . '(' . implode( ', ', $args ) . ')';
			case 'VALUES':
				return null;
			case 'DATE_FORMAT':
				// WordPress compares hours, minutes and seconds with a number.
				if ( in_array( $args[1] ?? '', array( "'%H.%i'", "'%H.%i%s'", "'0.%i%s'" ), true ) ) {
					return 'CAST(' . $this->more_call( 'date_format', ...$args ) . ' AS REAL)';
				}
				break;
		}
		if ( $this->more_functions()->has( $name ) ) {
			return $this->more_call( $name, ...$args );
		}
		return null;
	}

	private function translate_timestamp_function( string $name, WP_Parser_Node $node ): ?string {
		$nodes = $node->get_child_nodes();
		if ( 'functionCall' === $node->rule_name ) {
			$nodes = $nodes[1]->get_child_nodes();
		}
		if ( 3 !== count( $nodes ) ) {
			return null;
		}
		$unit = substr( $this->last_mysql_query, $nodes[0]->get_start(), $nodes[0]->get_length() );
		$unit = $this->quote_sqlite_value( preg_replace( '/^SQL_TSI_/i', '', trim( $unit ) ) );
		$a    = $this->translate( $nodes[1] );
		$b    = $this->translate( $nodes[2] );
		return 0 === strpos( $name, 'TIMESTAMPDIFF' )
			? $this->more_call( 'timestampdiff', $unit, $a, $b )
			: $this->more_call( 'date_move', $b, $a, $unit, '1' );
	}

	/** Where the list begins that a count of all rows is to be added to. */
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
		$this->more_total = $list->get_start();
		try {
			$sql = $this->translate( $query );
		} finally {
			$this->more_total = null;
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

	/** Upstream takes the first digit of the count. */
	private function count_found_rows(): int {
		if ( is_int( $this->found_rows ) || null === $this->found_rows ) {
			return (int) $this->found_rows;
		}
		list( $query, $params ) = is_array( $this->found_rows ) ? $this->found_rows + array( 1 => array() ) : array( $this->found_rows, array() );
		return (int) $this->execute_sqlite_query( sprintf( 'SELECT COUNT(*) FROM (%s)', $query ), $params )->fetchColumn();
	}

	private function translate_trim( WP_Parser_Node $node ): ?string {
		$args = array_map( array( $this, 'translate' ), $node->get_child_nodes() );
		$side = 'BOTH';
		foreach ( $node->get_child_tokens() as $token ) {
			if ( in_array( strtoupper( $token->get_value() ), array( 'LEADING', 'TRAILING' ), true ) ) {
				$side = strtoupper( $token->get_value() );
			}
		}
		if ( 1 === count( $args ) ) {
			array_unshift( $args, "' '" );
		}
		return $this->more_call( 'trim_of', "'$side'", $args[0], $args[1] );
	}

	private function translate_aggregate( WP_Parser_Node $node ): ?string {
		$first = $node->get_first_child();
		if ( $first instanceof WP_Parser_Node ) {
			if ( 'jsonFunction' !== $first->rule_name ) {
				return null;
			}
			$args = array();
			foreach ( $first->get_child_nodes() as $child ) {
				if ( 'windowingClause' !== $child->rule_name ) {
					$args[] = $this->translate( $child );
				}
			}
			$name = strtolower( $first->get_first_child_token()->get_value() );
			return $this->more_functions()->aggregate( $name ) . '(' . implode( ', ', $args ) . ')';
		}
		$name      = strtoupper( $first->get_value() );
		$is_once   = $node->has_child_token( WP_MySQL_Lexer::DISTINCT_SYMBOL );
		$functions = array(
			'BIT_OR'      => 'bit_or',
			'BIT_AND'     => 'bit_and',
			'BIT_XOR'     => 'bit_xor_all',
			'STD'         => 'stddev_pop',
			'STDDEV'      => 'stddev_pop',
			'STDDEV_POP'  => 'stddev_pop',
			'STDDEV_SAMP' => 'stddev_samp',
			'VARIANCE'    => 'var_pop',
			'VAR_POP'     => 'var_pop',
			'VAR_SAMP'    => 'var_samp',
		);
		if ( isset( $functions[ $name ] ) && ! $node->has_child_node( 'windowingClause' ) ) {
			$expr = $node->get_child_nodes()[0];
			return sprintf( '%s(%s%s)', $this->more_functions()->aggregate( $functions[ $name ] ), $is_once ? 'DISTINCT ' : '', $this->translate( $expr ) );
		}
		$list = $node->get_first_child_node( 'exprList' );
		if ( 'COUNT' === $name && null !== $list && count( $list->get_child_nodes() ) > 1 ) {
			$values = array_map( array( $this, 'translate' ), $list->get_child_nodes() );
			$quoted = array_map(
				function ( $value ) {
					return "QUOTE($value)";
				},
				$values
			);
			return sprintf(
				"COUNT(DISTINCT CASE WHEN %s IS NOT NULL THEN %s END COLLATE NOCASE)",
				implode( ' IS NOT NULL AND ', $values ),
				implode( " || ',' || ", $quoted )
			);
		}
		if ( ( 'MAX' === $name || 'MIN' === $name || ( 'COUNT' === $name && $is_once ) ) && ! $node->has_child_node( 'windowingClause' ) ) {
			$nodes = null === $list ? $node->get_child_nodes() : $list->get_child_nodes();
			if ( 1 === count( $nodes ) && $this->is_text_for_people( $nodes[0] ) ) {
				return sprintf( '%s(%s%s COLLATE %s)', $name, 'COUNT' === $name ? 'DISTINCT ' : '', $this->translate( $nodes[0] ), $this->collation() );
			}
		}
		if ( 'GROUP_CONCAT' === $name ) {
			return $this->translate_group_concat( $node, $is_once );
		}
		return null;
	}

	private function translate_group_concat( WP_Parser_Node $node, bool $is_once ): string {
		$values    = array();
		$separator = "','";
		$keys      = array();
		foreach ( $node->get_child_nodes() as $child ) {
			if ( 'orderClause' === $child->rule_name ) {
				foreach ( $child->get_first_child_node( 'orderList' )->get_child_nodes() as $order ) {
					$direction = $order->get_first_child_node( 'direction' );
					$keys[]    = $this->translate( $order->get_first_child_node( 'expr' ) );
					$keys[]    = null !== $direction && 'DESC' === strtoupper( trim( $this->translate( $direction ) ) ) ? '-1' : '1';
				}
			} elseif ( 'textString' === $child->rule_name ) {
				$separator = $this->translate( $child );
			} elseif ( 'exprList' === $child->rule_name ) {
				$values = array_merge( $values, array_map( array( $this, 'translate' ), $child->get_child_nodes() ) );
			} else {
				$values[] = $this->translate( $child );
			}
		}
		$value = 1 === count( $values ) ? $values[0] : '(' . implode( ' || ', $values ) . ')';
		if ( ! $is_once && array() === $keys ) {
			return "GROUP_CONCAT($value, $separator)";
		}
		return sprintf(
			'%s(%s)',
			$this->more_functions()->aggregate( 'group_concat' ),
			implode( ', ', array_merge( array( $value, $separator, $is_once ? '1' : '0' ), $keys ) )
		);
	}

	/** How strongly operators bind, the strongest first. */
	private static $more_strength = array(
		'^'   => 6,
		'*'   => 5,
		'/'   => 5,
		'DIV' => 5,
		'%'   => 5,
		'MOD' => 5,
		'+'   => 4,
		'-'   => 4,
		'<<'  => 3,
		'>>'  => 3,
		'&'   => 2,
		'|'   => 1,
	);

	/**
	 * Values and the operators between them, in the order of the statement: the parser nests them to the right, whatever
	 * binds more strongly.
	 *
	 * @return array[] A list of values (a node, or value and unit of an interval), and one of operators.
	 */
	private function chain_of( WP_Parser_Node $node ): array {
		$values    = array();
		$operators = array();
		$children  = $node->get_children();
		$count     = count( $children );
		for ( $i = 0; $i < $count; $i++ ) {
			$child = $children[ $i ];
			if ( $child instanceof WP_MySQL_Token ) {
				if ( 'INTERVAL' === strtoupper( $child->get_value() ) ) {
					$values[] = array( $children[ $i + 1 ], $children[ $i + 2 ] );
					$i       += 2;
				} else {
					$operators[] = strtoupper( $child->get_value() );
				}
			} elseif ( 'bitExpr' === $child->rule_name && count( $child->get_children() ) > 1 ) {
				list( $more, $between ) = $this->chain_of( $child );
				$values                 = array_merge( $values, $more );
				$operators              = array_merge( $operators, $between );
			} else {
				$values[] = $child;
			}
		}
		return array( $values, $operators );
	}

	/**
	 * Puts a chain together, what binds most strongly first, and from the left.
	 *
	 * @param callable $join Makes one of an operator and what is on its two sides.
	 */
	private function join_chain( array $values, array $operators, callable $join ) {
		for ( $strength = 6; $strength > 0; $strength-- ) {
			for ( $i = 0; $i < count( $operators ); $i++ ) {
				if ( ( self::$more_strength[ $operators[ $i ] ] ?? 1 ) !== $strength ) {
					continue;
				}
				array_splice( $values, $i, 2, $join( $operators[ $i ], $values[ $i ], $values[ $i + 1 ] ) );
				array_splice( $operators, $i, 1 );
				--$i;
			}
		}
		return $values[0];
	}

	/** Operators between values. */
	private function translate_more_operation( WP_Parser_Node $node ): ?string {
		list( $values, $operators ) = $this->chain_of( $node );
		if ( count( $values ) !== count( $operators ) + 1 || is_array( $values[0] ) ) {
			return null;
		}
		if ( array( '+' ) === $operators && ! is_array( $values[1] ) && '0' === trim( (string) $this->translate( $values[1] ) ) ) {
			$number = $this->translate_number_of_enum( $values[0] );
			if ( null !== $number ) {
				return $number;
			}
		}
		foreach ( $values as $i => $value ) {
			$values[ $i ] = is_array( $value )
				? (object) array(
					'amount' => $this->translate( $value[0] ),
					'unit'   => $this->quote_sqlite_value( trim( (string) $this->translate( $value[1] ) ) ),
				)
				: $this->translate_operand( $value, $operators );
		}
		return $this->join_chain( array_map( array( $this, 'in_list' ), $values ), $operators, array( $this, 'operation' ) )[0];
	}

	/** A value that is counted with: a day is a number of its digits, and so are bits. */
	private function translate_operand( WP_Parser_Node $value, array $operators ): string {
		$sql   = (string) $this->translate( $value );
		$inner = $this->innermost( $value );
		$first = $inner->get_first_child();
		if ( $first instanceof WP_MySQL_Token && preg_match( "/^(?:0x|x')([0-9a-f]{1,15})'?$/i", $first->get_bytes(), $match ) ) {
			return (string) hexdec( $match[1] );
		}
		if ( $first instanceof WP_MySQL_Token && preg_match( "/^(?:0b|b')([01]{1,62})'?$/i", $first->get_bytes(), $match ) ) {
			return (string) bindec( $match[1] );
		}
		$next = array_intersect( $operators, array( '+', '-', '*', '/', 'DIV', '%', 'MOD' ) );
		if ( $next && in_array( $this->value_of( $value )[0], array( 'day', 'moment' ), true ) && false === strpos( $this->last_mysql_query, 'INTERVAL' ) && false === stripos( $this->last_mysql_query, 'interval' ) ) {
			return $this->more_call( 'number_of_date', $sql );
		}
		return $sql;
	}

	/** So that array_splice() puts one thing in, whatever it is. */
	private function in_list( $value ): array {
		return array( $value );
	}

	private function operation( string $operator, array $left, array $right ): array {
		list( $a ) = $left;
		list( $b ) = $right;
		if ( is_object( $b ) ) {
			return array( array( $this->more_call( 'date_move', $a, $b->amount, $b->unit, '-' === $operator ? '-1' : '1' ) ) );
		}
		switch ( $operator ) {
			case '+':
			case '-':
			case '*':
				return array( array( "CAST($a $operator $b AS NUMERIC)" ) );
			case '/':
				return array( array( "CAST(($a) * 1.0 / ($b) AS NUMERIC)" ) );
			case 'DIV':
				return array( array( "CAST((($a) / ($b)) AS INTEGER)" ) );
			case '^':
				return array( array( $this->more_call( 'bit_xor', $a, $b ) ) );
			case '%':
			case 'MOD':
				return array( array( $this->more_call( 'mod', $a, $b ) ) );
			default:
				return array( array( "($a $operator $b)" ) );
		}
	}

	/** The number of an enum's value, which "+ 0" asks for. */
	private function translate_number_of_enum( WP_Parser_Node $value ): ?string {
		$sql = (string) $this->translate( $value );
		if ( null === $this->more_statement || ! preg_match( '/^(?:`[^`]+`\.)?`([^`]+)`$/', $sql, $match ) ) {
			return null;
		}
		foreach ( $this->more_statement->get_descendant_nodes( 'tableRef' ) as $ref ) {
			$type = $this->column_type( $this->unquote_sqlite_identifier( $this->translate( $ref ) ), $match[1] );
			if ( 'enum' === ( $type['DATA_TYPE'] ?? '' ) && preg_match_all( "/'(?:[^']|'')*'/", $type['COLUMN_TYPE'], $values ) ) {
				$number = 0;
				$cases  = '';
				foreach ( $values[0] as $each ) {
					$cases .= " WHEN $each THEN " . ++$number;
				}
				return "CASE $sql WHEN '' THEN 0$cases END";
			}
		}
		return null;
	}

	/** AND, XOR and OR: the parser nests them to the right as well. */
	private function translate_more_logic( WP_Parser_Node $node ): ?string {
		if ( null === $this->word_between( $node ) ) {
			$last = $node->get_children();
			$last = end( $last );
			if ( $last instanceof WP_MySQL_Token && 'UNKNOWN' === strtoupper( $last->get_value() ) ) {
				return $this->translate( $node->get_first_child() ) . ' IS ' . ( $node->has_child_node( 'notRule' ) ? 'NOT ' : '' ) . 'NULL';
			}
			return null;
		}
		$parts = array();
		for ( $rest = $node; null !== $rest; ) {
			$word = $this->word_between( $rest );
			if ( null === $word ) {
				$parts[] = $this->translate( $rest );
				break;
			}
			$children = $rest->get_children();
			$parts[]  = $this->translate( $children[0] );
			if ( '||' === $word && $this->is_sql_mode_active( 'PIPES_AS_CONCAT' ) ) {
				return null;
			}
			$words   = array(
				'||' => 'OR',
				'&&' => 'AND',
			);
			$parts[] = $words[ $word ] ?? $word;
			$rest    = $children[2];
		}
		if ( ! in_array( 'XOR', $parts, true ) ) {
			return implode( ' ', $parts );
		}
		// AND binds more strongly than XOR, and that more than OR.
		$either = array();
		foreach ( $this->split_list( $parts, 'OR' ) as $segment ) {
			$sides = array_map(
				function ( $side ) {
					return '((' . implode( ' ', $side ) . ') <> 0)';
				},
				$this->split_list( $segment, 'XOR' )
			);
			$joined = array_shift( $sides );
			foreach ( $sides as $side ) {
				$joined = "($joined <> $side)";
			}
			$either[] = $joined;
		}
		return implode( ' OR ', $either );
	}

	/** The word of logic between the two parts of an expression, null when it is another. */
	private function word_between( WP_Parser_Node $node ): ?string {
		$children = $node->get_children();
		if ( 3 !== count( $children ) || ! $children[1] instanceof WP_MySQL_Token || ! $children[2] instanceof WP_Parser_Node ) {
			return null;
		}
		$word = strtoupper( $children[1]->get_value() );
		return in_array( $word, array( 'AND', 'OR', 'XOR', '&&', '||' ), true ) ? $word : null;
	}

	private function split_list( array $list, string $at ): array {
		$lists = array( array() );
		foreach ( $list as $each ) {
			if ( $at === $each ) {
				$lists[] = array();
			} else {
				$lists[ count( $lists ) - 1 ][] = $each;
			}
		}
		return $lists;
	}

	/** <=>, and = with a text that has letters with accents: SQLite knows their other case from no collation. */
	private function translate_comparison( WP_Parser_Node $node ): ?string {
		return $this->compare_nodes( $node->get_children() );
	}

	/** @param array $children What is compared, the operator between. */
	private function compare_nodes( array $children ): ?string {
		if ( 4 === count( $children ) && $children[1] instanceof WP_Parser_Node && 'compOp' === $children[1]->rule_name && $children[2] instanceof WP_MySQL_Token ) {
			return $this->translate_quantified( $children );
		}
		if ( 3 !== count( $children ) || ! $children[1] instanceof WP_Parser_Node || 'compOp' !== $children[1]->rule_name ) {
			return null;
		}
		$operator = $children[1]->get_first_child_token()->get_value();
		if ( '<=>' === $operator ) {
			return $this->translate( $children[0] ) . ' IS ' . $this->translate( $children[2] );
		}
		$source = array();
		foreach ( array( 0, 2 ) as $side ) {
			$source[ $side ] = trim( substr( $this->last_mysql_query, $children[ $side ]->get_start(), $children[ $side ]->get_length() ) );
		}
		if ( preg_match( '/^(count|sum|avg)\s*\(/i', $source[0] ) && preg_match( '/^([\'"])-?[\d.]+\1$/', $source[2] ) ) {
			return sprintf( 'CAST(%s AS NUMERIC) %s %s', $this->translate( $children[0] ), '!=' === $operator ? '<>' : $operator, $this->translate( $children[2] ) );
		}
		$literal = null;
		if ( ! preg_match( '/^[`\w.]+$/', $source[0] ) || ! $this->is_machine_word( $children[0] ) || ! preg_match( '/^([\'"])[^0-9+\-.\'"\\\\\x80-\xff][^\'"\\\\\x80-\xff]*\1$/', $source[2] ) ) {
			$sides = $this->compared_json( $children[0], $children[2] ) ?? $this->compared( $children[0], $children[2], $operator );
			if ( null !== $sides ) {
				return implode( ' ' . ( '!=' === $operator ? '<>' : $operator ) . ' ', $sides );
			}
			$literal = $this->text_of( $children[2] );
		}
		if ( null === $literal || ! preg_match( '/[a-z\x80-\xff]/i', $literal ) ) {
			return null;
		}
		$left = $this->translate( $children[0] );
		if ( false !== strpos( $left, 'COLLATE' ) ) {
			return null;
		}
		list( , , $column ) = $this->value_of( $children[0] );
		if ( in_array( $operator, array( '<', '>', '<=', '>=' ), true ) ) {
			return $this->is_for_people( $children[0], $column )
				? sprintf( '%s %s %s', $this->more_call( 'sort_key', $left ), $operator, $this->quote_sqlite_value( $this->more_functions()->mysql_sort_key( $literal ) ) )
				: null;
		}
		if ( $this->is_for_people( $children[0], $column ) ) {
			$is = $this->is_equal_text( $left, $literal );
		} elseif ( preg_match( '/[^\x00-\x7f]/', $literal ) && 'BINARY' !== $this->collation_of( $column ) ) {
			$forms = Stead_MySQL_Functions::forms( $literal );
			$is    = $left . ' IN (' . implode( ', ', array_map( array( $this, 'quote_sqlite_value' ), $forms ) ) . ')';
		} else {
			return null;
		}
		return '=' === $operator ? $is : "NOT $is";
	}

	/** What is cut out of a document is compared without its quotes. */
	private function compared_json( WP_Parser_Node $a, WP_Parser_Node $b ): ?array {
		$sides = array();
		$any   = false;
		foreach ( array( $a, $b ) as $node ) {
			$sql     = (string) $this->translate( $node );
			$is_json = 0 === strpos( $sql, 'mysql_json_extract(' );
			$any     = $any || $is_json;
			$sides[] = $is_json ? $this->more_functions()->name_of( 'json_bare' ) . '(' . $sql . ')' : $sql;
		}
		if ( ! $any ) {
			return null;
		}
		foreach ( array( $a, $b ) as $i => $node ) {
			if ( 'number' === $this->value_of( $node )[0] ) {
				$sides[ 1 - $i ] = 'CAST(' . $sides[ 1 - $i ] . ' AS NUMERIC)';
			}
		}
		return $sides;
	}

	/** A comparison with ANY or ALL of what a query finds. */
	private function translate_quantified( array $children ): string {
		$value    = $this->translate( $children[0] );
		$operator = $children[1]->get_first_child_token()->get_value();
		$operator = '!=' === $operator ? '<>' : $operator;
		$query    = $this->translate( $children[3] );
		$is_all   = 'ALL' === strtoupper( $children[2]->get_value() );
		if ( ! $is_all && '=' === $operator ) {
			return "$value IN $query";
		}
		if ( $is_all && '<>' === $operator ) {
			return "$value NOT IN $query";
		}
		$test = "WITH stead_each(one) AS $query SELECT 1 FROM stead_each WHERE ";
		return $is_all
			? "NOT EXISTS ($test NOT COALESCE($value $operator one, 0))"
			: "EXISTS ($test $value $operator one)";
	}

	/** SUBSTRING: what begins at 0 is empty. */
	private function translate_substring( WP_Parser_Node $node ): ?string {
		$parts = array_map( array( $this, 'translate' ), $node->get_child_nodes() );
		$start = trim( $parts[1] ?? '' );
		if ( preg_match( '/^-?[1-9]\d*$/', $start ) ) {
			return null;
		}
		$call = 'SUBSTR(' . implode( ', ', $parts ) . ')';
		return '0' === $start ? "''" : "CASE WHEN ($start) = 0 THEN '' ELSE $call END";
	}

	/** Where lists of items of a SELECT DISTINCT begin. */
	private $more_distinct = array();

	private function note_distinct( WP_Parser_Node $node ): ?string {
		foreach ( $node->get_child_nodes( 'selectOption' ) as $option ) {
			if ( 0 === strpos( strtoupper( $option->get_first_descendant_token()->get_value() ), 'DISTINCT' ) ) {
				foreach ( $node->get_first_child_node( 'selectItemList' )->get_child_nodes( 'selectItem' ) as $item ) {
					$this->more_distinct[ $item->get_start() ] = true;
				}
			}
		}
		$group = $node->get_first_child_node( 'groupByClause' );
		if ( null !== $group && $group->has_child_node( 'olapOption' ) ) {
			throw $this->new_not_supported_exception( 'GROUP BY … WITH ROLLUP' );
		}
		return null;
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
		unset( $this->more_distinct[ $node->get_start() ] );
		$expr = $node->get_first_child_node( 'expr' );
		if ( null === $expr || ! $this->is_text_for_people( $expr ) ) {
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
		return $this->translate( $expr ) . ' COLLATE ' . $this->collation() . " AS $name";
	}

	/** What an answer is grouped by: texts without case and accents. */
	private function grouped_by( WP_Parser_Node $expr, string $sql, WP_Parser_Node $select ): string {
		return $this->is_text_for_people( $this->aliased( $expr, $select ) ) ? $sql . ' COLLATE ' . $this->collation() : $sql;
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

	/** A column of texts that people write, or a text that is made. */
	private function is_text_for_people( WP_Parser_Node $node ): bool {
		$inner = $this->innermost( $node );
		list( $kind, $literal, $column ) = $this->value_of( $inner );
		return 'text' === $kind && null === $literal && ( null === $column || $this->is_for_people( $inner, $column ) );
	}

	private static $more_equal = null;

	/** The node of an equals sign, for what is compared without one. */
	private function parse_equal(): WP_Parser_Node {
		if ( null === self::$more_equal ) {
			self::$more_equal = $this->create_parser( 'SELECT 1 = 1' )->parse()->get_first_descendant_node( 'compOp' );
		}
		return self::$more_equal;
	}

	/** The text that a node is, null when it is anything else. */
	private function text_of( WP_Parser_Node $node ): ?string {
		list( $kind, $literal ) = $this->value_of( $node );
		return 'text' === $kind ? $literal : null;
	}

	private function translate_more_predicate( WP_Parser_Node $node ): ?string {
		$children = $node->get_children();
		if ( count( $children ) >= 4 && $children[1] instanceof WP_MySQL_Token && 'SOUNDS' === strtoupper( $children[1]->get_value() ) ) {
			return $this->more_call( 'soundex', $this->translate( $children[0] ) ) . ' = ' . $this->more_call( 'soundex', $this->translate( $children[3] ) );
		}
		$operation = $node->get_first_child_node( 'predicateOperations' );
		$token     = null === $operation ? null : $operation->get_first_child();
		if ( ! $token instanceof WP_MySQL_Token ) {
			return null;
		}
		if ( WP_MySQL_Lexer::REGEXP_SYMBOL === $token->id ) {
			$this->more_functions()->take_regexp();
			return null;
		}
		if ( WP_MySQL_Lexer::LIKE_SYMBOL === $token->id ) {
			return $this->translate_folded_like( $node, $operation );
		}
		if ( WP_MySQL_Lexer::IN_SYMBOL === $token->id ) {
			return $this->translate_compared_list( $node, $operation ) ?? $this->translate_folded_list( $node, $operation );
		}
		if ( WP_MySQL_Lexer::BETWEEN_SYMBOL === $token->id ) {
			$bounds = $operation->get_child_nodes();
			$value  = $node->get_children()[0];
			$low    = $this->compared( $value, $bounds[0], '>=' );
			$high   = $this->compared( $value, $bounds[1], '<=' );
			list( , , $column ) = $this->value_of( $value );
			if ( null === $low && null === $high && $this->is_for_people( $this->innermost( $value ), $column ) ) {
				$key  = $this->more_call( 'sort_key', $this->translate( $value ) );
				$low  = array( $key, $this->more_call( 'sort_key', $this->translate( $bounds[0] ) ) );
				$high = array( $key, $this->more_call( 'sort_key', $this->translate( $bounds[1] ) ) );
			}
			if ( null === $low && null === $high ) {
				return null;
			}
			$low  = implode( ' >= ', $low ?? array( $this->translate( $value ), $this->translate( $bounds[0] ) ) );
			$high = implode( ' <= ', $high ?? array( $this->translate( $value ), $this->translate( $bounds[1] ) ) );
			return ( $node->has_child_node( 'notRule' ) ? 'NOT ' : '' ) . "($low AND $high)";
		}
		return null;
	}

	/**
	 * LIKE with a text as its pattern: without case and accents.
	 *
	 * A letter that was written with an accent is found in both cases and without it, all by SQLite's own LIKE. Whether a
	 * letter without one stands for one with, only PHP knows: it looks at names that could be meant.
	 */
	private function translate_folded_like( WP_Parser_Node $node, WP_Parser_Node $operation ): ?string {
		$parts = $operation->get_children();
		if ( 2 !== count( $parts ) || ! $parts[1] instanceof WP_Parser_Node || $this->is_sql_mode_active( 'NO_BACKSLASH_ESCAPES' ) ) {
			return null;
		}
		$literal = $this->translate( $parts[1] );
		if ( ! preg_match( "/^\s*'((?:[^']|'')*)'\s*$/u", (string) $literal, $match ) ) {
			list( , , $column ) = $this->value_of( $node->get_children()[0] );
			$is_binary          = 1 === preg_match( '/^\s*LIKE\s+BINARY\b/i', substr( $this->last_mysql_query, $operation->get_start(), $operation->get_length() ) );
			if ( null === $column || $is_binary || ! in_array( $column['DATA_TYPE'], array( 'char', 'varchar', 'tinytext' ), true ) || ! $this->is_for_people( $this->innermost( $node->get_children()[0] ), $column ) ) {
				return null;
			}
			return ( $node->has_child_node( 'notRule' ) ? 'NOT ' : '' ) . $this->more_call( 'like', $this->translate( $node->get_children()[0] ), $literal );
		}
		$pattern = str_replace( "''", "'", $match[1] );
		$value   = $this->translate( $node->get_children()[0] );
		$like    = function ( string $wanted ) use ( $value ) {
			return "$value LIKE " . $this->quote_sqlite_value( $wanted ) . " ESCAPE '\\'";
		};
		if ( preg_match( '/[^\x00-\x7f]/', $pattern ) ) {
			$forms = array_unique( Stead_MySQL_Functions::forms( $pattern ) );
			if ( count( $forms ) < 2 ) {
				return null;
			}
			$is = '(' . implode( ' OR ', array_map( $like, $forms ) ) . ')';
			if ( ! preg_match( '/ß|æ|œ/iu', $pattern ) ) {
				// Each letter stands for one: what cannot be meant is passed by at once.
				$is = '(' . $like( preg_replace( '/[^\x00-\x7f]/u', '_', $pattern ) ) . " AND $is)";
			}
		} elseif ( $this->is_name( $value, $node->get_children()[0] ) ) {
			// Accents of consonants other than these are rare; with fewer than two letters left too much could be meant.
			$loose = preg_replace( '/(?<!\\\\)[aceinosuyz]/i', '_', $pattern );
			if ( $loose === $pattern || strlen( preg_replace( '/[^a-z]/i', '', $loose ) ) < 2 ) {
				return null;
			}
			$is = sprintf( '(%s AND (%s OR %s))', $like( $loose ), $like( $pattern ), $this->more_call( 'like', $value, $literal ) );
		} else {
			return null;
		}
		return $node->has_child_node( 'notRule' ) ? "NOT $is" : $is;
	}

	/** IN with values of another kind than what is looked for. */
	private function translate_compared_list( WP_Parser_Node $node, WP_Parser_Node $operation ): ?string {
		$list  = $operation->get_first_child_node( 'exprList' );
		$value = $node->get_children()[0];
		if ( null === $list || $this->is_machine_word( $value ) ) {
			return null;
		}
		// The commonest of all.
		if ( preg_match( '/(^|[_.`])id`?\s*$/i', substr( $this->last_mysql_query, $value->get_start(), $value->get_length() ) ) && preg_match( '/^[\s\d,]+$/', substr( $this->last_mysql_query, $list->get_start(), $list->get_length() ) ) ) {
			return null;
		}
		list( $kind, , $column ) = $this->value_of( $value );
		if ( 'number' === $kind && preg_match( '/^[\s\d,]+$/', substr( $this->last_mysql_query, $list->get_start(), $list->get_length() ) ) ) {
			return null;
		}
		if ( null !== $column && $this->is_for_people( $this->innermost( $value ), $column ) ) {
			$left  = (string) $this->translate( $value );
			$texts = array_map( array( $this, 'text_of' ), $list->get_child_nodes() );
			if ( count( $texts ) < 6 && ! in_array( null, $texts, true ) ) {
				$each = array();
				foreach ( $texts as $text ) {
					$each[] = $this->is_equal_text( $left, $text );
				}
				return ( $node->has_child_node( 'notRule' ) ? 'NOT ' : '' ) . '(' . implode( ' OR ', $each ) . ')';
			}
			if ( ! in_array( null, $texts, true ) ) {
				$keys    = array_unique( array_map( array( $this->more_functions(), 'mysql_sort_key' ), $texts ) );
				$keys    = implode( ', ', array_map( array( $this, 'quote_sqlite_value' ), $keys ) );
				$is      = sprintf( "(%s IN (%s) OR (%s GLOB '*[^ -~]*' AND %s IN (%s)))", $left, $keys, $left, $this->more_call( 'sort_key', $left ), $keys );
				return ( $node->has_child_node( 'notRule' ) ? 'NOT ' : '' ) . $is;
			}
		}
		$left  = null;
		$items = array();
		foreach ( $list->get_child_nodes() as $item ) {
			$sides = $this->compared_json( $value, $item ) ?? $this->compared( $value, $item, '=' );
			if ( null !== $sides && null !== $left && $left !== $sides[0] ) {
				return null;
			}
			$left    = null === $sides ? $left : $sides[0];
			$items[] = null === $sides ? $this->translate( $item ) : $sides[1];
		}
		return null === $left ? null : $left . ( $node->has_child_node( 'notRule' ) ? ' NOT' : '' ) . ' IN (' . implode( ', ', $items ) . ')';
	}

	/** IN with texts that have letters with accents: all that equals them. */
	private function translate_folded_list( WP_Parser_Node $node, WP_Parser_Node $operation ): ?string {
		if ( ! preg_match( '/[^\x00-\x7f]/', substr( $this->last_mysql_query, $operation->get_start(), $operation->get_length() ) ) ) {
			return null;
		}
		$list  = $operation->get_first_child_node( 'exprList' ) ?? $operation->get_first_descendant_node( 'exprList' );
		$forms = array();
		foreach ( null === $list ? array() : $list->get_child_nodes() as $each ) {
			if ( ! preg_match( "/^\s*'((?:[^']|'')*)'\s*$/u", (string) $this->translate( $each ), $match ) ) {
				return null;
			}
			$forms = array_merge( $forms, Stead_MySQL_Functions::forms( str_replace( "''", "'", $match[1] ) ) );
		}
		if ( array() === $forms ) {
			return null;
		}
		$forms = implode( ', ', array_map( array( $this, 'quote_sqlite_value' ), array_unique( $forms ) ) );
		return $this->translate( $node->get_children()[0] ) . ( $node->has_child_node( 'notRule' ) ? ' NOT' : '' ) . " IN ($forms)";
	}

	/** Names, titles and texts of people. */
	private function is_name( string $sql, WP_Parser_Node $node ): bool {
		list( , , $column ) = $this->value_of( $node );
		return null !== $column && $this->is_for_people( $this->innermost( $node ), $column );
	}

	private function translate_more_simple( WP_Parser_Node $node ): ?string {
		if ( ! $node->has_child_token( WP_MySQL_Lexer::COLLATE_SYMBOL ) ) {
			return null;
		}
		$nodes = $node->get_child_nodes();
		$name  = $this->unquote_sqlite_identifier( trim( (string) $this->translate( end( $nodes ) ) ) );
		return sprintf( '%s COLLATE %s', $this->translate( $nodes[0] ), preg_match( '/(^|_)bin(ary)?$/i', $name ) ? 'BINARY' : 'NOCASE' );
	}

	private function translate_more_body( WP_Parser_Node $node ): ?string {
		$children = $node->get_children();
		$first    = $children[0];
		if ( $first instanceof WP_Parser_Node ) {
			if ( 'not2Rule' === $first->rule_name ) {
				return '(NOT ' . $this->translate( $children[1] ) . ')';
			}
			$json = $node->get_first_child_node( 'jsonOperator' );
			if ( null !== $json ) {
				return $this->more_call( 'json_extract', $this->translate( $first ), $this->translate( $json->get_first_child_node() ) );
			}
			if ( 'variable' === $first->rule_name && isset( $children[2] ) ) {
				$variable = $first->get_first_descendant_node( 'userVariable' );
				return null === $variable
					? null
					: $this->more_call( 'assign', $this->quote_sqlite_value( $this->variable_name( $variable ) ), $this->translate( $children[2] ) );
			}
			return null;
		}
		$word = strtoupper( $first->get_value() );
		if ( 'CASE' === $word && $children[1] instanceof WP_Parser_Node && 'expr' === $children[1]->rule_name ) {
			$cases = array();
			foreach ( $node->get_child_nodes( 'whenExpression' ) as $i => $when ) {
				$equal   = $this->parse_equal();
				$test    = $this->compare_nodes( array( $children[1], $equal, $when->get_first_child_node( 'expr' ) ) )
					?? $this->translate( $children[1] ) . ' = ' . $this->translate( $when->get_first_child_node( 'expr' ) );
				$cases[] = "WHEN $test " . $this->translate( $node->get_child_nodes( 'thenExpression' )[ $i ] );
			}
			$else = $node->get_first_child_node( 'elseExpression' );
			return 'CASE ' . implode( ' ', $cases ) . ( null === $else ? '' : ' ' . $this->translate( $else ) ) . ' END';
		}
		if ( 'ROW' === $word ) {
			return '(' . $this->translate( $node->get_first_child_node( 'exprList' ) ) . ')';
		}
		if ( '~' === $word ) {
			return $this->more_call( 'bit_not', $this->translate( $children[1] ) );
		}
		if ( 'INTERVAL' === $word ) {
			return $this->more_call(
				'date_move',
				$this->translate( $children[4] ),
				$this->translate( $children[1] ),
				$this->quote_sqlite_value( trim( (string) $this->translate( $children[2] ) ) ),
				'1'
			);
		}
		if ( 'MATCH' === $word ) {
			$columns = array();
			$list    = $node->get_first_child_node( 'identListArg' );
			foreach ( $list->get_descendant_nodes( 'simpleIdentifier' ) as $column ) {
				$columns[] = $this->translate( $column );
			}
			$search  = $node->get_first_child_node( 'bitExpr' ) ?? $node->get_child_nodes()[1];
			$options = $node->get_first_child_node( 'fulltextOptions' );
			$mode    = null !== $options && false !== stripos( (string) $this->translate( $options ), 'BOOLEAN' ) ? 'BOOLEAN' : 'NATURAL';
			return $this->more_call( 'match', "'$mode'", $this->translate( $search ), ...$columns );
		}
		if ( 'CAST' === $word || 'CONVERT' === $word ) {
			$type = $node->get_first_child_node( 'castType' );
			return null === $type ? null : $this->translate_more_cast( $this->translate( $node->get_first_child_node( 'expr' ) ), $type );
		}
		return null;
	}

	private function translate_more_cast( string $value, WP_Parser_Node $type ): ?string {
		preg_match_all( '/\d+/', substr( $this->last_mysql_query, $type->get_start(), $type->get_length() ), $numbers );
		$numbers = $numbers[0];
		switch ( strtoupper( $type->get_first_descendant_token()->get_value() ) ) {
			case 'DECIMAL':
			case 'DEC':
			case 'NUMERIC':
				return $this->more_call( 'cast_decimal', $value, $numbers[1] ?? '0' );
			case 'SIGNED':
				return 'CAST(' . $this->more_call( 'cast_integer', $value, '0' ) . ' AS INTEGER)';
			case 'UNSIGNED':
				return 'CAST(' . $this->more_call( 'cast_integer', $value, '1' ) . ' AS NUMERIC)';
			case 'DATE':
				return $this->more_call( 'date', $value );
			case 'DATETIME':
				return $this->more_call( 'timestamp', $value );
			case 'TIME':
				return $this->more_call( 'time', $value );
			case 'CHAR':
				return isset( $numbers[0] ) ? "SUBSTR(CAST($value AS TEXT), 1, {$numbers[0]})" : null;
		}
		return null;
	}

	/** SQLite takes no parentheses around the parts of a UNION. */
	private function translate_union( WP_Parser_Node $node ): ?string {
		$parts  = array();
		$is_any = false;
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
		return $sql;
	}

	/** Variables of the server that plugins ask for. */
	private function known_variables(): array {
		return array(
			'autocommit'               => 1,
			'auto_increment_increment' => 1,
			'auto_increment_offset'    => 1,
			'character_set_client'     => 'utf8mb4',
			'character_set_connection' => 'utf8mb4',
			'character_set_database'   => 'utf8mb4',
			'character_set_results'    => 'utf8mb4',
			'character_set_server'     => 'utf8mb4',
			'character_set_system'     => 'utf8mb3',
			'collation_connection'     => 'utf8mb4_unicode_520_ci',
			'collation_database'       => 'utf8mb4_unicode_520_ci',
			'collation_server'         => 'utf8mb4_unicode_520_ci',
			'default_storage_engine'   => 'InnoDB',
			'foreign_key_checks'       => 1,
			'group_concat_max_len'     => 1048576,
			'hostname'                 => 'localhost',
			'innodb_buffer_pool_size'  => 134217728,
			'innodb_file_per_table'    => 1,
			'interactive_timeout'      => 28800,
			'lower_case_table_names'   => 0,
			'max_allowed_packet'       => 16777216,
			'max_connections'          => 151,
			'max_execution_time'       => 0,
			'max_join_size'            => 18446744073709551615,
			'net_read_timeout'         => 30,
			'net_write_timeout'        => 60,
			'port'                     => 3306,
			'protocol_version'         => 10,
			'query_cache_size'         => 0,
			'query_cache_type'         => 'OFF',
			'sql_big_selects'          => 1,
			'sql_mode'                 => implode( ',', $this->shown_modes() ),
			'system_time_zone'         => 'UTC',
			'time_zone'                => 'SYSTEM',
			'transaction_isolation'    => 'REPEATABLE-READ',
			'tx_isolation'             => 'REPEATABLE-READ',
			'unique_checks'            => 1,
			'version'                  => $this->get_mysql_server_version_string(),
			'version_comment'          => $this->get_mysql_server_version_comment(),
			'wait_timeout'             => 28800,
		);
	}

	private function translate_known_variable( WP_Parser_Node $node ): ?string {
		$name  = strtolower( $this->unquote_sqlite_identifier( $this->translate( $node->get_first_child_node( 'textOrIdentifier' ) ) ) );
		$value = $this->known_variables()[ $name ] ?? null;
		if ( 'sql_mode' === $name ) {
			return $this->quote_sqlite_value( $value );
		}
		if ( in_array( $name, array( 'version', 'version_comment' ), true ) || isset( $this->session_system_variables[ $name ] ) || null === $value ) {
			return null;
		}
		return is_string( $value ) ? $this->quote_sqlite_value( $value ) : sprintf( '%.0F', $value );
	}

	// Statements.

	/** Runs a statement of a kind that is ours, or says that it is not. */
	private function execute_more( WP_Parser_Node $node ): bool {
		$this->more_statement = $node;
		if ( $this->more_assigns ) {
			// Rows are made as they are fetched: what the last of them set is known only now.
			$this->user_variables = $this->more_functions()->variables;
		}
		$this->more_row_count    = $this->more_rows_changed;
		$this->more_rows_changed = -1;
		$this->more_assigns = 'selectStatement' === $node->rule_name && false !== strpos( $this->last_mysql_query, ':=' )
			&& null !== $this->find_assignment( $node );
		if ( $this->more_assigns ) {
			$this->more_functions()->variables = $this->user_variables;
			// "(SELECT @n := 0) r" sets a variable before all rows. SQLite leaves out what nobody reads.
			foreach ( $node->get_descendant_nodes( 'derivedTable' ) as $derived ) {
				if ( null === $derived->get_first_descendant_node( 'fromClause' ) && null !== $this->find_assignment( $derived ) ) {
					$this->execute_sqlite_query( 'SELECT * FROM ' . $this->translate( $derived->get_first_child_node() ) )->fetchAll();
				}
			}
		}
		switch ( $node->rule_name ) {
			case 'selectStatement':
				return $this->execute_select_into( $node );
			case 'preparedStatement':
			case 'executeStatement':
				return $this->execute_prepared( $node );
			case 'setStatement':
				return $this->execute_more_set( $node );
			case 'updateStatement':
				if ( $this->execute_joined_update( $node ) ) {
					$this->more_rows_changed = $this->last_affected_rows;
					return true;
				}
				$this->execute_update_statement( $node );
				$this->more_rows_changed = $this->last_affected_rows ?? $this->last_result_statement->rowCount();
				return true;
			case 'deleteStatement':
				$this->execute_delete_statement( $node );
				$this->more_rows_changed = $this->last_affected_rows ?? $this->last_result_statement->rowCount();
				return true;
			case 'tableAdministrationStatement':
				return $this->execute_optimize( $node );
			case 'doStatement':
				$query = preg_replace( '/^\s*DO\b/i', 'SELECT', $this->last_mysql_query, 1 );
				$this->run_mysql( $query );
				$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
				$this->last_column_meta      = array();
				return true;
			case 'renameTableStatement':
				$this->more_columns = array();
				foreach ( $node->get_child_nodes( 'renamePair' ) as $pair ) {
					$names = array_map( array( $this, 'translate' ), $pair->get_child_nodes() );
					$this->rename_table( ...array_map( array( $this, 'unquote_sqlite_identifier' ), $names ) );
				}
				return true;
			case 'createStatement':
				$this->more_columns = array();
				$this->more_keys    = array();
				return $this->execute_create_view( $node ) || $this->execute_create_from( $node->get_first_child_node() );
			case 'alterStatement':
				$this->more_columns = array();
				$this->more_keys    = array();
				return $this->execute_alter_rename( $node ) || $this->execute_more_alter( $node );
			case 'dropStatement':
				$this->more_columns = array();
				$this->more_keys    = array();
				return $this->execute_drop_view( $node );
			case 'showStatement':
				return $this->execute_more_show( $node );
			case 'otherAdministrativeStatement':
				// FLUSH has nothing to do; KILL nobody to end.
				if ( 'FLUSH' === strtoupper( $node->get_first_child_token()->get_value() ) ) {
					return true;
				}
				return false;
		}
		return false;
	}

	private function find_assignment( WP_Parser_Node $node ): ?WP_Parser_Node {
		foreach ( $node->get_descendant_nodes( 'equal' ) as $equal ) {
			if ( ':=' === $equal->get_first_child_token()->get_value() ) {
				return $equal;
			}
		}
		return null;
	}

	/** ALTER TABLE … RENAME TO, alone or at the end of other changes: upstream passes over it. */
	private function execute_alter_rename( WP_Parser_Node $node ): bool {
		$alter = $node->get_first_child_node( 'alterTable' );
		if ( null === $alter ) {
			return false;
		}
		$items = $alter->get_descendant_nodes( 'alterListItem' );
		foreach ( $items as $item ) {
			$new = $item->get_first_child_node( 'tableName' );
			if ( null === $new || ! $item->has_child_token( WP_MySQL_Lexer::RENAME_SYMBOL ) ) {
				continue;
			}
			if ( count( $items ) > 1 ) {
				$this->execute_alter_table_statement( $node );
			}
			$old = $alter->get_first_child_node( 'tableRef' );
			$this->rename_table( $this->unquote_sqlite_identifier( $this->translate( $old ) ), $this->unquote_sqlite_identifier( $this->translate( $new ) ) );
			return true;
		}
		return false;
	}

	private function rename_table( string $old, string $new ): void {
		$builder = $this->information_schema_builder;
		$is_temp = $builder->temporary_table_exists( $old );
		if ( array() === $this->columns_of( $old ) ) {
			throw $this->new_table_not_found_exception( $old );
		}
		if ( array() !== $this->columns_of( $new ) ) {
			throw $this->new_driver_exception( "SQLSTATE[42S01]: Base table or view already exists: 1050 Table '$new' already exists", '42S01' );
		}
		$this->execute_sqlite_query( sprintf( 'ALTER TABLE %s RENAME TO %s', $this->quote_sqlite_identifier( $old ), $this->quote_sqlite_identifier( $new ) ) );
		$schema = $this->get_saved_db_name();
		foreach ( array( 'tables', 'columns', 'statistics', 'table_constraints', 'referential_constraints', 'key_column_usage' ) as $kind ) {
			$table = $this->quote_sqlite_identifier( $builder->get_table_name( $is_temp, $kind ) );
			$by    = 'table_schema';
			if ( 'referential_constraints' === $kind ) {
				$by = 'constraint_schema';
			}
			$this->execute_sqlite_query( "UPDATE $table SET table_name = ? WHERE $by = ? AND table_name = ?", array( $new, $schema, $old ) );
			if ( 'referential_constraints' === $kind || 'key_column_usage' === $kind ) {
				$this->execute_sqlite_query( "UPDATE $table SET referenced_table_name = ? WHERE $by = ? AND referenced_table_name = ?", array( $new, $schema, $old ) );
			}
		}
		// Indexes and triggers are named after their table.
		$this->recreate_table_from_information_schema( $is_temp, $new );
		$this->more_columns = array();
	}

	private function columns_of( string $table ): array {
		$this->column_type( $table, '' );
		return $this->more_columns[ $table ];
	}

	/** Another statement of MySQL, as part of the one that runs. */
	private function run_mysql( string $query ): void {
		$outer                  = $this->last_mysql_query;
		$this->last_mysql_query = $query;
		$parser                 = $this->create_parser( $query );
		$parser->next_query();
		$tree = $parser->get_query_ast();
		if ( null === $tree ) {
			throw $this->new_driver_exception( 'Failed to parse the MySQL query.' );
		}
		$this->execute_mysql_query( $tree );
		$this->last_mysql_query = $outer;
	}

	/** CREATE TABLE … LIKE, and CREATE TABLE … AS SELECT. */
	private function execute_create_from( WP_Parser_Node $create ): bool {
		if ( 'createTable' !== $create->rule_name || $create->has_child_node( 'tableElementList' ) ) {
			return false;
		}
		$name    = $this->unquote_sqlite_identifier( $this->translate( $create->get_first_child_node( 'tableName' ) ) );
		$is_temp = $create->has_child_token( WP_MySQL_Lexer::TEMPORARY_SYMBOL );
		$head    = sprintf( 'CREATE %sTABLE %s', $is_temp ? 'TEMPORARY ' : '', $create->has_child_node( 'ifNotExists' ) ? 'IF NOT EXISTS ' : '' );
		$like    = $create->get_first_child_node( 'tableRef' );
		if ( null !== $like ) {
			$source     = $this->unquote_sqlite_identifier( $this->translate( $like ) );
			$definition = $this->get_mysql_create_table_statement( $this->information_schema_builder->temporary_table_exists( $source ), $source );
			if ( null === $definition ) {
				throw $this->new_table_not_found_exception( $source );
			}
			$definition = preg_replace( '/ AUTO_INCREMENT=\d+/', '', $definition );
			$body       = substr( $definition, strpos( $definition, '(' ) );
			$this->run_mysql( $head . $this->quote_mysql_identifier( $name ) . ' ' . $body );
			return true;
		}
		$select = $create->get_first_child_node( 'duplicateAsQueryExpression' );
		if ( null === $select ) {
			return false;
		}
		$exists = $this->execute_sqlite_query( "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE", array( $name ) )->fetchColumn();
		if ( $exists && $create->has_child_node( 'ifNotExists' ) ) {
			return true;
		}
		$query   = $select->get_child_nodes();
		$query   = end( $query );
		$text    = substr( $this->last_mysql_query, $query->get_start(), $query->get_length() );
		$columns = array();
		$stmt    = $this->execute_sqlite_query( $this->translate( $query ) );
		for ( $i = 0; $i < $stmt->columnCount(); $i++ ) {
			$meta      = $stmt->getColumnMeta( $i );
			$type      = isset( $meta['table'] ) ? $this->column_type( $meta['table'], $meta['name'] ) : null;
			$types     = array(
				'integer' => 'bigint(20)',
				'double'  => 'double',
			);
			$type      = $type['COLUMN_TYPE'] ?? $types[ $meta['native_type'] ?? '' ] ?? 'longtext';
			$columns[] = $this->quote_mysql_identifier( $meta['name'] ) . ' ' . $type;
		}
		$stmt->closeCursor();
		$this->run_mysql( $head . $this->quote_mysql_identifier( $name ) . ' (' . implode( ', ', $columns ) . ')' );
		$this->run_mysql( 'INSERT INTO ' . $this->quote_mysql_identifier( $name ) . ' ' . $text );
		return true;
	}

	/** What the information schema has of a column. */
	private function column_type( string $table, string $column ): ?array {
		if ( ! isset( $this->more_columns[ $table ] ) ) {
			$is_temporary = $this->information_schema_builder->temporary_table_exists( $table );
			$rows         = $this->execute_sqlite_query(
				sprintf(
					'SELECT LOWER(column_name) AS NAME, data_type AS DATA_TYPE, column_type AS COLUMN_TYPE, collation_name AS COLLATION_NAME, extra AS EXTRA, column_name AS COLUMN_NAME, is_nullable AS IS_NULLABLE, column_default AS COLUMN_DEFAULT, character_maximum_length AS CHARACTER_MAXIMUM_LENGTH FROM %s WHERE table_schema = ? AND table_name = ?',
					$this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( $is_temporary, 'columns' ) )
				),
				array( $this->get_saved_db_name( $this->main_db_name ), $table )
			)->fetchAll( PDO::FETCH_ASSOC );

			$this->more_columns[ $table ] = array_combine( array_column( $rows, 'NAME' ), $rows );
		}
		return $this->more_columns[ $table ][ strtolower( $column ) ] ?? null;
	}

	private function execute_more_show( WP_Parser_Node $node ): bool {
		$words = array();
		foreach ( $node->get_descendant_tokens() as $token ) {
			$words[] = strtoupper( $token->get_value() );
		}
		array_shift( $words );
		if ( in_array( $words[0] ?? '', array( 'SESSION', 'GLOBAL', 'LOCAL', 'FULL' ), true ) && ! in_array( $words[1] ?? '', array( 'TABLES', 'COLUMNS', 'FIELDS' ), true ) ) {
			array_shift( $words );
		}
		$filter = $node->get_first_descendant_node( 'likeOrWhere' );
		if ( $this->execute_show_of_tables( $node, $words, $filter ) ) {
			return true;
		}
		switch ( $words[0] ?? '' ) {
			case 'VARIABLES':
				$this->answer_filtered( array( 'Variable_name', 'Value' ), $this->pairs( array_map( array( $this, 'shown' ), $this->known_variables() ) ), $filter );
				return true;
			case 'STATUS':
				$this->answer_filtered(
					array( 'Variable_name', 'Value' ),
					$this->pairs(
						array(
							'Connections'       => '1',
							'Questions'         => '1',
							'Slow_queries'      => '0',
							'Threads_connected' => '1',
							'Uptime'            => (string) max( 1, time() - (int) ( $_SERVER['REQUEST_TIME'] ?? time() ) ),
						)
					),
					$filter
				);
				return true;
			case 'ENGINES':
				$this->answer_filtered(
					array( 'Engine', 'Support', 'Comment', 'Transactions', 'XA', 'Savepoints' ),
					$this->engines(),
					null
				);
				return true;
			case 'WARNINGS':
			case 'ERRORS':
				$this->answer_filtered( array( 'Level', 'Code', 'Message' ), array(), null );
				return true;
			case 'COUNT':
				$name = '@@session.' . ( in_array( 'ERRORS', $words, true ) ? 'error_count' : 'warning_count' );
				$this->answer_filtered( array( $name ), array( array( '0' ) ), null );
				return true;
			case 'CHARACTER':
			case 'CHARSET':
				$this->answer_filtered(
					array( 'Charset', 'Description', 'Default collation', 'Maxlen' ),
					array(
						array( 'binary', 'Binary pseudo charset', 'binary', '1' ),
						array( 'utf8mb3', 'UTF-8 Unicode', 'utf8mb3_general_ci', '3' ),
						array( 'utf8mb4', 'UTF-8 Unicode', 'utf8mb4_general_ci', '4' ),
					),
					$filter
				);
				return true;
			case 'PROCESSLIST':
				$this->answer_filtered(
					array( 'Id', 'User', 'Host', 'db', 'Command', 'Time', 'State', 'Info' ),
					array( array( '1', 'root', 'localhost', $this->db_name, 'Query', '0', 'starting', $this->last_mysql_query ) ),
					null
				);
				return true;
			case 'PLUGINS':
				$this->answer_filtered( array( 'Name', 'Status', 'Type', 'Library', 'License' ), array(), null );
				return true;
			case 'TRIGGERS':
				$this->answer_filtered( array( 'Trigger', 'Event', 'Table', 'Statement', 'Timing', 'Created', 'sql_mode', 'Definer', 'character_set_client', 'collation_connection', 'Database Collation' ), array(), null );
				return true;
			case 'EVENTS':
				$this->answer_filtered( array( 'Db', 'Name', 'Definer', 'Time zone', 'Type', 'Status' ), array(), null );
				return true;
			case 'PROCEDURE':
			case 'FUNCTION':
				$this->answer_filtered( array( 'Db', 'Name', 'Type', 'Definer', 'Modified', 'Created' ), array(), null );
				return true;
			case 'CREATE':
				if ( 'DATABASE' === ( $words[1] ?? '' ) || 'SCHEMA' === ( $words[1] ?? '' ) ) {
					$this->answer_filtered(
						array( 'Database', 'Create Database' ),
						array( array( $this->db_name, 'CREATE DATABASE ' . $this->quote_mysql_identifier( $this->db_name ) . ' /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci */' ) ),
						null
					);
					return true;
				}
				return false;
		}
		return false;
	}

	private function pairs( array $values ): array {
		return array_map( null, array_keys( $values ), array_values( $values ) );
	}

	private function shown( $value ): string {
		return is_string( $value ) ? $value : sprintf( '%.0F', $value );
	}

	private function quoted_or_null( $value ): string {
		return null === $value ? 'NULL' : $this->quote_sqlite_value( (string) $value );
	}

	/** Rows as an answer, those only that LIKE or WHERE leaves. */
	private function answer_filtered( array $columns, array $rows, ?WP_Parser_Node $filter ): void {
		$lists = array();
		foreach ( $rows as $row ) {
			$lists[] = '(' . implode( ', ', array_map( array( $this, 'quoted_or_null' ), $row ) ) . ')';
		}
		$names = array();
		foreach ( $columns as $i => $name ) {
			$names[] = ( array() === $rows ? 'NULL' : 'column' . ( $i + 1 ) ) . ' AS ' . $this->quote_sqlite_identifier( $name );
		}
		$where = null === $filter ? '' : $this->translate_show_like_or_where_condition( $filter, $columns[0] );
		$query = sprintf(
			'SELECT * FROM (SELECT %s%s) WHERE %s %s',
			implode( ', ', $names ),
			array() === $rows ? '' : ' FROM (VALUES ' . implode( ', ', $lists ) . ')',
			array() === $rows ? 'FALSE' : 'TRUE',
			$where
		);
		$stmt  = $this->execute_sqlite_query( $query );
		$this->store_last_column_meta_from_statement( $stmt );
		$this->last_result_statement = $stmt;
		$this->found_rows            = $query;
	}

	// Rows that were changed.

	/** Whether the values that an UPDATE sets are there already. A very long statement is not made twice as long for it. */
	private function is_unchanged( ?string $target ): string {
		if ( strlen( $this->last_mysql_query ) > 1 << 20 ) {
			return '0';
		}
		$same = array();
		foreach ( $this->more_assignments as list( $column, $value ) ) {
			$same[] = sprintf( '%s%s IS (%s) COLLATE BINARY', null === $target ? '' : $this->quote_sqlite_identifier( $target ) . '.', $column, $value );
		}
		return implode( ' AND ', $same );
	}

	/** The list of ON DUPLICATE KEY UPDATE, of which the first value counts the rows. */
	private function counted_update_list( string $table ): string {
		$functions            = $this->more_functions();
		$functions->changed   = 0;
		$functions->unchanged = 0;
		$functions->last_id   = 0;

		$id    = $this->auto_increment_of( $table );
		$touch = $functions->name_of( 'touched' ) . '(' . $this->is_unchanged( $table ) . ', ' . ( null === $id ? '0' : $this->quote_sqlite_identifier( $table ) . '.' . $this->quote_sqlite_identifier( $id ) ) . ')';
		$list  = array();
		foreach ( $this->more_assignments as $i => list( $column, $value ) ) {
			$list[] = $column . ' = ' . ( 0 === $i ? "CASE WHEN $touch THEN $value END" : $value );
		}
		return implode( ', ', $list );
	}

	private function auto_increment_of( string $table ): ?string {
		foreach ( $this->columns_of( $table ) as $name => $column ) {
			if ( false !== strpos( $column['EXTRA'], 'auto_increment' ) ) {
				return $name;
			}
		}
		return null;
	}

	private function table_rows( string $table ): int {
		return (int) $this->execute_sqlite_query( 'SELECT COUNT(*) FROM ' . $this->quote_sqlite_identifier( $table ) )->fetchColumn();
	}

	/** INSERT and REPLACE with the rows and the id that MySQL says. */
	private function execute_counted_insert( WP_Parser_Node $node ): void {
		$table  = $this->unquote_sqlite_identifier( $this->translate( $node->get_first_child_node( 'tableRef' ) ) );
		$before = 'replaceStatement' === $node->rule_name && array() !== $this->columns_of( $table ) ? $this->table_rows( $table ) : null;
		$this->more_functions()->kept_id = null;
		$id                              = $this->auto_increment_of( $table );
		$is_named                        = null !== $id && $this->gives_id( $node, $table, $id );
		$this->more_burnt                = null === $id || $is_named ? null : array( $table, count( $node->get_descendant_nodes( 'values' ) ) );
		if ( null !== $id && preg_match( '/\(\s*\)\s*VALUES?\s*\(\s*\)\s*;?\s*$/i', $this->last_mysql_query ) ) {
			// A row of defaults alone.
			$this->run_mysql( preg_replace( '/\(\s*\)\s*(VALUES?)\s*\(\s*\)\s*;?\s*$/i', '(' . $this->quote_mysql_identifier( $id ) . ') $1 (NULL)', $this->last_mysql_query ) );
			return;
		}
		$this->execute_insert_or_replace_statement( $node );
		$count = $this->last_result_statement->rowCount();
		if ( null !== $before ) {
			// Rows that went are counted, too.
			$this->last_affected_rows = 2 * $count - ( $this->table_rows( $table ) - $before );
		}
		$added = $count;
		if ( $node->has_child_node( 'insertUpdateList' ) ) {
			$functions                = $this->more_functions();
			$added                    = $count - $functions->changed - $functions->unchanged;
			$this->last_affected_rows = $added + 2 * $functions->changed;
		}
		$this->more_rows_changed = $this->last_affected_rows ?? $count;
		if ( null === $id ) {
			$this->last_insert_id = 0;
		} elseif ( 0 === $added ) {
			$this->last_insert_id = $node->has_child_node( 'insertUpdateList' ) ? $this->more_functions()->last_id : 0;
		} elseif ( $added > 1 && ! $is_named ) {
			// MySQL says the first of the ids that it gave.
			$this->last_insert_id = (string) ( (int) $this->last_insert_id - $added + 1 );
		}
		if ( null !== $id && $added > 0 ) {
			$this->more_last_id = (int) $this->last_insert_id;
			if ( 'savepoint' === $this->wrapper_transaction_type ) {
				$this->more_given[ $table ] = max( $this->more_given[ $table ] ?? 0, $this->more_last_id + $added - 1 );
			}
			if ( $added > 1 && ! $is_named && null !== $node->get_first_child_node( 'insertQueryExpression' ) ) {
				// For rows whose number it does not know, MySQL takes ids 1, 2, 4, 8 … at a time.
				$this->advance_sequence( $table, (int) $this->last_insert_id + 2 ** (int) ceil( log( $added + 1, 2 ) ) - 2 );
			}
		}
		$this->more_burnt = null;
	}

	/** Table and number of the ids that an INSERT uses up when it fails. */
	private $more_burnt = null;

	private function advance_sequence( string $table, int $last ): void {
		if ( ! $this->information_schema_builder->temporary_table_exists( $table ) ) {
			$this->execute_sqlite_query( 'UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?', array( $last, $table, $last ) );
		}
	}

	/** Whether rows bring their ids along: NULL and 0 ask for new ones. */
	private function gives_id( WP_Parser_Node $node, string $table, string $id ): bool {
		if ( ! $this->names_column( $node, $table, $id ) ) {
			return false;
		}
		$place  = 0;
		$fields = $node->get_first_descendant_node( 'fields' );
		if ( null !== $fields ) {
			foreach ( $fields->get_child_nodes() as $i => $field ) {
				$parts = $field->get_descendant_nodes( 'identifier' );
				if ( 0 === strcasecmp( $id, $this->unquote_sqlite_identifier( $this->translate( end( $parts ) ) ) ) ) {
					$place = $i;
				}
			}
		} else {
			$place = array_search( strtolower( $id ), array_keys( $this->columns_of( $table ) ), true );
		}
		$first = $node->get_first_descendant_node( 'values' );
		$list  = $node->get_first_descendant_node( 'selectItemList' );
		$item  = null !== $first ? ( array_values( array_filter( $first->get_children(), array( $this, 'is_no_comma' ) ) )[ $place ] ?? null ) : ( null === $list ? null : ( $list->get_child_nodes( 'selectItem' )[ $place ] ?? null ) );
		$text  = null === $item ? '1' : strtoupper( trim( substr( $this->last_mysql_query, $item->get_start(), $item->get_length() ) ) );
		return ! in_array( $text, array( 'NULL', '0', 'DEFAULT', "''", "'0'" ), true );
	}

	private function is_no_comma( $node ): bool {
		return ! $node instanceof WP_MySQL_Token || ',' !== $node->get_value();
	}

	private function names_column( WP_Parser_Node $node, string $table, string $column ): bool {
		$fields = $node->get_first_descendant_node( 'fields' );
		if ( null === $fields ) {
			return ! $node->has_child_node( 'updateList' );
		}
		foreach ( $fields->get_child_nodes() as $field ) {
			$parts = $field->get_descendant_nodes( 'identifier' );
			if ( 0 === strcasecmp( $column, $this->unquote_sqlite_identifier( $this->translate( end( $parts ) ) ) ) ) {
				return true;
			}
		}
		return false;
	}

	// Numbers as MySQL writes them.

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
					return null === $scale || ! ctype_digit( $digits ) ? null : min( $scale, (int) $digits );
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
