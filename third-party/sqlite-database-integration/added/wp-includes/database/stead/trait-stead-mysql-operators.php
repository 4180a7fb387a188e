<?php
/**
 * Operators between values, by what binds more strongly in MySQL, and within the bounds of its numbers. Part of
 * WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Operators {
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
		$bounds = $this->bounds_of( $values, $operators );
		foreach ( $values as $i => $value ) {
			$values[ $i ] = is_array( $value )
				? (object) array(
					'amount' => $this->translate( $value[0] ),
					'unit'   => $this->quote_sqlite_value( trim( (string) $this->translate( $value[1] ) ) ),
				)
				: $this->translate_operand( $value, $operators );
		}
		$sql = $this->join_chain( array_map( array( $this, 'in_list' ), $values ), $operators, array( $this, 'operation' ) )[0];
		return null === $bounds ? $sql : "CASE WHEN $bounds THEN $sql END";
	}

	/**
	 * A condition under which whole numbers can be counted with, or null when there is nothing to check: what is over the
	 * bounds of MySQL's numbers is an error there, and no number with a point, nor a negative one without a sign.
	 *
	 * @param array    $values    As chain_of() has them.
	 * @param string[] $operators Between them.
	 */
	private function bounds_of( array $values, array $operators ): ?string {
		if ( array_diff( $operators, array( '+', '-', '*' ) ) ) {
			return null;
		}
		$is_unsigned = false;
		$is_large    = false;
		foreach ( $values as $value ) {
			$inner = is_array( $value ) ? null : $this->innermost( $value );
			if ( null === $inner ) {
				return null;
			}
			$text = substr( $this->last_mysql_query, $inner->get_start(), $inner->get_length() );
			if ( ctype_digit( $text ) ) {
				$is_large = $is_large || strlen( $text ) > 15;
				continue;
			}
			if ( 'columnRef' !== $inner->rule_name && ! preg_match( '/^(?:CAST|CONVERT)\s*\(.*\b(UN)?SIGNED\b/is', $text, $cast ) ) {
				return null;
			}
			if ( 'columnRef' !== $inner->rule_name ) {
				$is_unsigned = $is_unsigned || '' !== ( $cast[1] ?? '' );
				continue;
			}
			$type = $this->column_of( $inner );
			if ( null === $type || ! in_array( $type['DATA_TYPE'], array( 'tinyint', 'smallint', 'mediumint', 'int', 'bigint' ), true ) ) {
				return null;
			}
			$is_unsigned = $is_unsigned || false !== strpos( $type['COLUMN_TYPE'], 'unsigned' );
		}
		$sides = array_map( array( $this, 'translate' ), $values );
		$sql   = array_shift( $sides );
		foreach ( $sides as $i => $side ) {
			$sql .= " {$operators[ $i ]} $side";
		}
		$why = function ( string $type ) {
			return 'THROW(' . $this->quote_sqlite_value( "SQLSTATE[22003]: Numeric value out of range: 1690 $type value is out of range" ) . ')';
		};
		if ( $is_unsigned && in_array( '-', $operators, true ) && ! $this->is_sql_mode_active( 'NO_UNSIGNED_SUBTRACTION' ) ) {
			return "CASE WHEN ($sql) < 0 THEN " . $why( 'BIGINT UNSIGNED' ) . ' ELSE 1 END';
		}
		return $is_large && ! $is_unsigned ? "CASE TYPEOF($sql) WHEN 'real' THEN " . $why( 'BIGINT' ) . ' ELSE 1 END' : null;
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
		return $this->more_examines && $next && false === stripos( $this->last_mysql_query, 'interval' ) && 'text' === $this->value_of( $value )[0] ? $this->more_call( 'noted_number', $sql, "'DOUBLE'" ) : $sql;
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
		if ( $this->more_examines && in_array( $operator, array( '/', 'DIV' ), true ) ) {
			$b = $this->more_call( 'noted_divisor', $b );
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
}
