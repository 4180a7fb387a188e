<?php
/**
 * Comparisons, lists and patterns: what MySQL finds equal to what. Part of WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Comparisons {
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
		$binary = $this->compared_binary( $children[0], array( $children[2] ), in_array( $operator, array( '<>', '!=' ), true ), $operator );
		if ( null !== $binary ) {
			return $binary;
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
			$sides = $this->compared_json( $children[0], $children[2] )
				?? $this->compared_decimals( $children[0], $children[2] )
				?? $this->compared( $children[0], $children[2], $operator );
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

	private $more_has_binary = null;

	/** Whether any column of the database tells case. Nearly no site has one, so this is asked first. */
	private function has_binary_columns(): bool {
		if ( null === $this->more_has_binary ) {
			$table = $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( false, 'columns' ) );

			$this->more_has_binary = (bool) $this->execute_sqlite_query( "SELECT 1 FROM $table WHERE collation_name LIKE '%\_bin' ESCAPE '\' LIMIT 1" )->fetchColumn();
		}
		return $this->more_has_binary;
	}

	/**
	 * A column whose collation tells case, and texts: SQLite finds them by the index, which does not, and then compares each
	 * byte.
	 *
	 * @param WP_Parser_Node[] $texts What it is compared with.
	 */
	private function compared_binary( WP_Parser_Node $value, array $texts, bool $is_not, string $operator ): ?string {
		if ( ! in_array( $operator, array( '=', '<>', '!=', 'IN' ), true ) || ! $this->has_binary_columns() ) {
			return null;
		}
		list( , , $column ) = $this->value_of( $value );
		if ( null === $column || 'BINARY' !== $this->collation_of( $column ) || in_array( null, array_map( array( $this, 'text_of' ), $texts ), true ) ) {
			return null;
		}
		$left = $this->translate( $value );
		$list = implode( ', ', array_map( array( $this, 'translate' ), $texts ) );
		return ( $is_not ? 'NOT ' : '' ) . "($left IN ($list) AND $left COLLATE BINARY IN ($list))";
	}

	/** What is counted with decimals is compared with as many digits as they have: 0.1 + 0.2 is 0.3. */
	private function compared_decimals( WP_Parser_Node $a, WP_Parser_Node $b ): ?array {
		$sides    = array();
		$computed = array();
		$most     = 0;
		foreach ( array( $a, $b ) as $i => $node ) {
			$inner          = $this->innermost( $node );
			$computed[ $i ] = in_array( $inner->rule_name, array( 'bitExpr', 'sumExpr' ), true );
			$sides[ $i ]    = $node;
		}
		if ( ! in_array( true, $computed, true ) || null === $this->more_statement ) {
			return null;
		}
		foreach ( $sides as $node ) {
			$scale = $this->scale_of( $this->innermost( $node ), $this->more_statement );
			if ( null === $scale ) {
				return null;
			}
			$most = max( $most, $scale );
		}
		if ( $most < 1 || $most > 10 ) {
			return null;
		}
		foreach ( $sides as $i => $node ) {
			$sides[ $i ] = $computed[ $i ] ? sprintf( 'ROUND(%s, %d)', $this->translate( $node ), $most ) : $this->translate( $node );
		}
		return $sides;
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
			$list = $operation->get_first_child_node( 'exprList' );
			return ( null === $list ? null : $this->compared_binary( $node->get_children()[0], $list->get_child_nodes(), $node->has_child_node( 'notRule' ), 'IN' ) )
				?? $this->translate_compared_list( $node, $operation )
				?? $this->translate_folded_list( $node, $operation );
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
		if ( $this->has_binary_columns() && 'BINARY' === $this->collation_of( $this->value_of( $node->get_children()[0] )[2] ) ) {
			return "$value " . ( $node->has_child_node( 'notRule' ) ? 'NOT ' : '' ) . 'GLOB ' . $this->quote_sqlite_value( $this->glob_of_like( $pattern ) );
		}
		$like    = function ( string $wanted ) use ( $value ) {
			return "$value LIKE " . $this->quote_sqlite_value( $wanted ) . " ESCAPE '\\'";
		};
		if ( preg_match( '/[^\x00-\x7f]/', $pattern ) ) {
			// LIKE compares letter by letter: "ß" is not "ss" to it.
			$letters = function ( string $text ): int {
				return (int) preg_match_all( '/./su', $text );
			};
			$forms   = array_unique( Stead_MySQL_Functions::forms( $pattern ) );
			$forms   = array_filter(
				$forms,
				function ( $form ) use ( $letters, $pattern ) {
					return $letters( $form ) === $letters( $pattern );
				}
			);
			if ( count( $forms ) < 2 ) {
				return null;
			}
			$is = '(' . implode( ' OR ', array_map( $like, $forms ) ) . ')';
			// What cannot be meant is passed by at once.
			$is = '(' . $like( preg_replace( '/[^\x00-\x7f]/u', '_', $pattern ) ) . " AND $is)";
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

	/** The pattern of GLOB, which tells case, for one of LIKE. */
	private function glob_of_like( string $pattern ): string {
		return preg_replace_callback(
			'/\\\\(.)|[%_*?\[]/su',
			function ( $match ) {
				$wild = array(
					'%' => '*',
					'_' => '?',
				);
				$text = $match[1] ?? $match[0];
				return isset( $match[1] ) || ! isset( $wild[ $text ] ) ? ( false !== strpos( '*?[', $text ) ? "[$text]" : $text ) : $wild[ $text ];
			},
			$pattern
		);
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
				$is      = sprintf( "(%s IN (%s) OR ((%s GLOB '*[^ -~]*' OR %s GLOB '* ') AND %s IN (%s)))", $left, $keys, $left, $left, $this->more_call( 'sort_key', $left ), $keys );
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
		// A list in a subquery is not this one.
		$list  = $operation->get_first_child_node( 'exprList' );
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
}
