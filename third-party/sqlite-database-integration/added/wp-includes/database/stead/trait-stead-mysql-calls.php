<?php
/**
 * Calls of functions, aggregates, casts and literals. Part of WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Calls {
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
				if ( $this->more_examines && 'text' === $this->value_of( $this->argument_nodes( $node, $is_named )[0] )[0] ) {
					$args[0] = $this->more_call( 'noted_number', $args[0], "'DOUBLE'" );
				}
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
		if ( $this->more_examines && ! $is_once && in_array( $name, array( 'SUM', 'AVG' ), true ) && 'text' === $this->value_of( $node->get_child_nodes()[0] )[0] && ! $node->has_child_node( 'windowingClause' ) ) {
			return "$name(" . $this->more_call( 'noted_number', (string) $this->translate( $node->get_child_nodes()[0] ), "'DOUBLE'" ) . ')';
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
				if ( isset( $numbers[0] ) && $this->more_examines ) {
					$value = $this->more_call( 'noted_text', $value, $numbers[0] );
				}
				return isset( $numbers[0] ) ? "SUBSTR(CAST($value AS TEXT), 1, {$numbers[0]})" : null;
		}
		return null;
	}
}
