<?php
/**
 * What values are: how MySQL compares those of two kinds, which texts are equal to it, and what it makes of a value that
 * does not fit its column. Part of WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Values {
	/** Tables of the statement that runs, by the names that it gives them. */
	private $more_tables = null;
	/** The statement that they are of. */
	private $more_tables_of = null;
	private $more_has_collation = false;

	/** Columns of words for machines: nobody writes them with accents, and SQLite finds them by an index. */
	private static $machine_words = '/(^|_)(option_name|autoload|meta_key|taxonomy|slug|key|keys|type|status|hook|token|hash|guid|uuid|sku|code|url|uri|path|ip|login|nicename|email|password|pass|mime_type|locale|post_name|session_id|k|post_parent|comment_approved|ping_status)$/';

	/** Functions whose answer is a text. */
	private static $text_functions = array(
		'CONCAT', 'CONCAT_WS', 'LOWER', 'LCASE', 'UPPER', 'UCASE', 'SUBSTRING', 'SUBSTR', 'MID', 'LEFT', 'RIGHT', 'REPLACE', 'REVERSE',
		'REPEAT', 'LPAD', 'RPAD', 'LTRIM', 'RTRIM', 'SUBSTRING_INDEX', 'MD5', 'SHA1', 'SHA2', 'HEX', 'QUOTE', 'FORMAT', 'CHAR', 'SPACE',
		'REGEXP_REPLACE', 'REGEXP_SUBSTR', 'JSON_UNQUOTE', 'DAYNAME', 'MONTHNAME', 'ELT', 'INSERT', 'SOUNDEX', 'UUID',
	);

	/** A collation for expressions of a statement. It may not become part of the schema: other programs read the file. */
	private function collation(): string {
		if ( ! $this->more_has_collation ) {
			$pdo       = $this->connection->get_pdo();
			$method    = method_exists( $pdo, 'createCollation' ) ? 'createCollation' : 'sqliteCreateCollation';
			$functions = $this->more_functions();
			$pdo->$method(
				'stead_ci',
				function ( $a, $b ) use ( $functions ) {
					return strcmp( $functions->mysql_sort_key( (string) $a ), $functions->mysql_sort_key( (string) $b ) );
				}
			);
			$this->more_has_collation = true;
		}
		return 'stead_ci';
	}

	/** Tables of the statement that runs: alias and name. */
	private function tables_of_statement(): array {
		if ( null === $this->more_statement ) {
			return array();
		}
		if ( $this->more_tables_of !== $this->more_statement ) {
			$this->more_tables_of = $this->more_statement;
			$this->more_tables    = array();
			$seen                 = array();
			foreach ( $this->more_statement->get_descendant_nodes( 'singleTable' ) as $single ) {
				$ref   = $single->get_first_child_node( 'tableRef' );
				$alias = $single->get_first_child_node( 'tableAlias' );
				$this->note_table( $ref, $alias, $seen );
			}
			foreach ( $this->more_statement->get_descendant_nodes( 'tableRef' ) as $ref ) {
				if ( ! isset( $seen[ $ref->get_start() ] ) ) {
					$this->note_table( $ref, null, $seen );
				}
			}
		}
		return $this->more_tables;
	}

	private function note_table( WP_Parser_Node $ref, ?WP_Parser_Node $alias, array &$seen ): void {
		$seen[ $ref->get_start() ] = true;
		if ( 'information_schema' === strtolower( $this->get_database_name( $ref ) ) ) {
			return;
		}
		$parts = $ref->get_descendant_nodes( 'identifier' );
		$name  = $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) );
		$alias = null === $alias ? $name : $this->unquote_sqlite_identifier( (string) $this->translate( $alias->get_first_child_node( 'identifier' ) ?? $alias->get_first_child_node() ) );

		$this->more_tables[] = array( strtolower( $alias ), $name );
	}

	/** What is known of the column that a node is, or null when it is none, or one of two kinds. */
	private function column_of( WP_Parser_Node $node ): ?array {
		$sql = trim( (string) $this->translate( $node ) );
		if ( ! preg_match( '/^(?:`([^`]+)`\.)?`([^`]+)`$/', $sql, $match ) ) {
			return null;
		}
		$found = null;
		foreach ( $this->tables_of_statement() as list( $alias, $table ) ) {
			if ( '' !== $match[1] && strtolower( $match[1] ) !== $alias ) {
				continue;
			}
			$column = $this->column_type( $table, $match[2] );
			if ( null === $column ) {
				continue;
			}
			if ( null !== $found && $found['DATA_TYPE'] !== $column['DATA_TYPE'] ) {
				return null;
			}
			$found = $column;
		}
		return $found;
	}

	/** The only thing that a node holds, however deep it is nested. */
	private function innermost( WP_Parser_Node $node ): WP_Parser_Node {
		for ( ;; ) {
			$children = $node->get_children();
			if ( 'exprListWithParentheses' === $node->rule_name || ( 'simpleExprBody' === $node->rule_name && 3 === count( $children ) && $children[0] instanceof WP_MySQL_Token && '(' === $children[0]->get_value() ) ) {
				$nodes = $node->get_child_nodes();
				if ( 1 === count( $nodes ) && 'subquery' !== $nodes[0]->rule_name ) {
					$node = $nodes[0];
					continue;
				}
				return $node;
			}
			if ( 1 !== count( $children ) || ! $children[0] instanceof WP_Parser_Node || 'columnRef' === $node->rule_name ) {
				return $node;
			}
			$node = $children[0];
		}
	}

	/**
	 * What kind of value a node is: number, text, day, moment; '' when that cannot be said.
	 *
	 * @return array Kind; the value of a literal or null; the column or null.
	 */
	private function value_of( WP_Parser_Node $node ): array {
		$inner = $this->innermost( $node );
		if ( 'columnRef' === $inner->rule_name ) {
			$column = $this->column_of( $inner );
			return array( null === $column ? '' : $this->kind_of_type( $column['DATA_TYPE'] ), null, $column );
		}
		$first = $inner->get_first_child();
		if ( $first instanceof WP_MySQL_Token && 1 === count( $inner->get_children() ) ) {
			$text = $first->get_value();
			if ( 'textStringLiteral' === $inner->rule_name ) {
				return array( 'text', $text, null );
			}
			if ( preg_match( '/^\d*\.?\d+(e[+-]?\d+)?$|^\d+\.$/i', $text ) ) {
				return array( 'number', $text, null );
			}
			if ( in_array( strtoupper( $text ), array( 'TRUE', 'FALSE' ), true ) ) {
				return array( 'number', 'TRUE' === strtoupper( $text ) ? '1' : '0', null );
			}
			return array( '', null, null );
		}
		if ( 'simpleExprBody' === $inner->rule_name && $first instanceof WP_MySQL_Token && in_array( $first->get_value(), array( '-', '+' ), true ) ) {
			list( $kind, $literal ) = $this->value_of( $inner->get_child_nodes()[0] );
			return array( 'number', 'number' === $kind && null !== $literal ? $first->get_value() . $literal : null, null );
		}
		switch ( $inner->rule_name ) {
			case 'bitExpr':
				list( $values ) = $this->chain_of( $inner );
				foreach ( $values as $value ) {
					if ( is_array( $value ) ) {
						return array( '', null, null );
					}
				}
				return array( 'number', null, null );
			case 'sumExpr':
				$name = $first instanceof WP_MySQL_Token ? strtoupper( $first->get_value() ) : '';
				return array( in_array( $name, array( 'COUNT', 'SUM', 'AVG', 'STD', 'STDDEV', 'VARIANCE', 'BIT_OR', 'BIT_AND' ), true ) ? 'number' : '', null, null );
			case 'trimFunction':
			case 'substringFunction':
				return array( 'text', null, null );
			case 'functionCall':
			case 'runtimeFunctionCall':
				$name = strtoupper( $first instanceof WP_MySQL_Token ? $first->get_value() : $this->unquote_sqlite_identifier( (string) $this->translate( $first ) ) );
				if ( in_array( strtolower( $name ), self::$more_numbers, true ) || in_array( $name, array( 'LENGTH', 'CHAR_LENGTH', 'CHARACTER_LENGTH', 'ISNULL', 'LAST_INSERT_ID', 'FOUND_ROWS', 'ROW_COUNT', 'ABS' ), true ) ) {
					return array( 'number', null, null );
				}
				if ( in_array( $name, self::$text_functions, true ) ) {
					return array( 'text', null, null );
				}
				if ( in_array( $name, array( 'NOW', 'CURRENT_TIMESTAMP', 'UTC_TIMESTAMP', 'SYSDATE', 'LOCALTIME', 'LOCALTIMESTAMP', 'FROM_UNIXTIME', 'TIMESTAMP' ), true ) ) {
					return array( 'moment', null, null );
				}
				return array( in_array( $name, array( 'DATE', 'CURDATE', 'CURRENT_DATE', 'UTC_DATE', 'LAST_DAY', 'MAKEDATE', 'FROM_DAYS' ), true ) ? 'day' : '', null, null );
			case 'simpleExprBody':
				$type = $inner->get_first_child_node( 'castType' );
				if ( null !== $type ) {
					$words = array(
						'SIGNED'   => 'number',
						'UNSIGNED' => 'number',
						'DECIMAL'  => 'number',
						'DOUBLE'   => 'number',
						'FLOAT'    => 'number',
						'CHAR'     => 'text',
						'DATE'     => 'day',
						'DATETIME' => 'moment',
					);
					return array( $words[ strtoupper( $type->get_first_descendant_token()->get_value() ) ] ?? '', null, null );
				}
		}
		return array( '', null, null );
	}

	private function kind_of_type( string $type ): string {
		switch ( $type ) {
			case 'tinyint':
			case 'smallint':
			case 'mediumint':
			case 'int':
			case 'bigint':
			case 'decimal':
			case 'float':
			case 'double':
			case 'year':
				return 'number';
			case 'date':
				return 'day';
			case 'datetime':
			case 'timestamp':
				return 'moment';
			case 'char':
			case 'varchar':
			case 'tinytext':
			case 'text':
			case 'mediumtext':
			case 'longtext':
				return 'text';
		}
		return '';
	}

	/** The number that MySQL reads at the beginning of a text. */
	private function number_of_text( string $text ): string {
		return preg_match( '/^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i', $text, $match ) ? ltrim( $match[1], '+' ) : '0';
	}

	/**
	 * The two sides of a comparison, each as it has to be for SQLite to find what MySQL finds, or null when nothing is to be
	 * done.
	 *
	 * @return string[]|null
	 */
	private function compared( WP_Parser_Node $a, WP_Parser_Node $b, string $operator ): ?array {
		$nodes  = array( $a, $b );
		$values = array( $this->value_of( $a ), $this->value_of( $b ) );
		$kinds  = array( $values[0][0], $values[1][0] );
		if ( '' === $kinds[0] || '' === $kinds[1] ) {
			return null;
		}
		$sides = null;
		foreach ( array( 0, 1 ) as $i ) {
			$other = 1 - $i;
			list( $kind, $literal, $column ) = $values[ $i ];
			if ( 'text' === $kind && 'number' === $kinds[ $other ] && $this->more_examines && ( null !== $column || null === $values[ $other ][2] ) ) {
				$sides[ $i ] = 'CAST(' . $this->more_call( 'noted_number', (string) $this->translate( $nodes[ $i ] ), "'DECIMAL'" ) . ' AS NUMERIC)';
			} elseif ( 'text' === $kind && 'number' === $kinds[ $other ] ) {
				$sides[ $i ] = null !== $literal
					? $this->number_of_text( $literal )
					: 'CAST(' . $this->translate( $nodes[ $i ] ) . ' AS NUMERIC)';
			} elseif ( null !== $literal && in_array( $kinds[ $other ], array( 'day', 'moment' ), true ) && ( 'text' === $kind || 'number' === $kind ) ) {
				$when = $this->more_functions()->written_date( $literal, $kinds[ $other ] );
				if ( null !== $when && ( 'number' === $kind || $when !== $literal ) ) {
					$sides[ $i ] = $this->quote_sqlite_value( $when );
				}
			}
		}
		if ( null === $sides && 'text' === $kinds[0] && 'text' === $kinds[1] && null === $values[0][2] && null === $values[1][2] ) {
			return array( $this->translate( $a ), $this->translate( $b ) . ' COLLATE ' . $this->collation() );
		}
		if ( null === $sides && '=' === $operator && 'text' === $kinds[0] && 'text' === $kinds[1] && null !== $values[0][2] && null !== $values[1][2]
			&& $this->is_for_people( $a, $values[0][2] ) && $this->is_for_people( $b, $values[1][2] ) ) {
			Stead_Failed_Statements::tell_difference( $this->last_mysql_query, 'accents count where a text column is compared with another' );
		}
		return null === $sides ? null : array( $sides[0] ?? $this->translate( $a ), $sides[1] ?? $this->translate( $b ) );
	}

	/** Whether a column holds texts that are compared without case and accents, and that people write. */
	private function is_for_people( WP_Parser_Node $node, ?array $column ): bool {
		return null !== $column && 1 === preg_match( '/_ci$/', (string) $column['COLLATION_NAME'] ) && ! $this->is_machine_word( $node );
	}

	private function is_machine_word( WP_Parser_Node $node ): bool {
		$text = substr( $this->last_mysql_query, $node->get_start(), $node->get_length() );
		return 1 === preg_match( self::$machine_words, strtolower( trim( $text, " \t\r\n`" ) ) );
	}

	/**
	 * A text column and a text: equal but for case and accents. What has no accents SQLite finds by its index; of what has
	 * some it looks at those that begin with the same letter, or with one that has an accent.
	 */
	private function is_equal_text( string $column, string $literal ): string {
		$key    = $this->more_functions()->mysql_sort_key( $literal );
		$quoted = $this->quote_sqlite_value( $key );
		$equals = $this->more_call( 'sort_key', $column ) . " = $quoted";
		$plain  = "$column = $quoted OR " . $this->is_with_spaces( $column, $quoted );
		if ( ! preg_match( '/^[a-z0-9]/', $key ) ) {
			return preg_match( '/[^\x00-\x7f]/', $key ) ? "($column GLOB '*[^ -~]*' AND $equals)" : "($plain OR ($column GLOB '*[^ -~]*' AND $equals))";
		}
		$accents = sprintf( "(%s >= '%s' AND %s < '%s' AND %s GLOB '*[^ -~]*' AND %s) OR (%s >= '" . "\u{80}" . "' AND %s)", $column, $key[0], $column, chr( ord( $key[0] ) + 1 ), $column, $equals, $column, $equals );
		return preg_match( '/[^\x00-\x7f]/', $key ) ? "($accents)" : "($plain OR $accents)";
	}

	/** A column that has the text, and spaces after it, which do not count. The index of the column finds it. */
	private function is_with_spaces( string $column, string $text ): string {
		return "($column >= $text || ' ' AND $column < $text || '!' AND RTRIM($column, ' ') = $text COLLATE NOCASE)";
	}

	/** How SQLite is to compare a column: BINARY where case counts. */
	private function collation_of( ?array $column ): string {
		return null !== $column && preg_match( '/(^|_)bin(ary)?$/', (string) $column['COLLATION_NAME'] ) ? 'BINARY' : 'NOCASE';
	}

	/** Bounds of whole numbers, by type. */
	private static $integer_bounds = array(
		'tinyint'   => array( -128, 127, 255 ),
		'smallint'  => array( -32768, 32767, 65535 ),
		'mediumint' => array( -8388608, 8388607, 16777215 ),
		'int'       => array( -2147483648, 2147483647, 4294967295 ),
	);

	/**
	 * The value that a column gets, as MySQL makes it fit: cut, bounded, rounded, or a zero. In strict mode what does not
	 * fit is refused.
	 *
	 * @param array  $column What the information schema has of the column.
	 * @param string $sql    The value, translated.
	 */
	private function saved_value( array $column, string $sql, string $table = '' ): string {
		$type      = strtolower( $column['DATA_TYPE'] );
		$full      = strtolower( $column['COLUMN_TYPE'] ?? '' );
		$is_strict = $this->is_sql_mode_active( 'STRICT_TRANS_TABLES' ) || $this->is_sql_mode_active( 'STRICT_ALL_TABLES' );
		if ( 'text' === $this->kind_of_type( $type ) && preg_match( '/^CAST\(.* AS NUMERIC\)$/s', $sql ) ) {
			// What was counted is written without a point where nothing follows it: "7", not "7.0".
			$sql = $this->more_call( 'written_number', $sql );
		}
		$upstream = $this->cast_value_for_saving( $type, $sql );
		switch ( $type ) {
			case 'char':
			case 'varchar':
				$length = (int) ( $column['CHARACTER_MAXIMUM_LENGTH'] ?? 0 );
				if ( $length <= 0 ) {
					return $upstream;
				}
				if ( ! $is_strict ) {
					return "SUBSTR($upstream, 1, $length)";
				}
				$why = $this->quote_sqlite_value( sprintf( "Data too long for column '%s'", $column['COLUMN_NAME'] ) );
				return "CASE WHEN LENGTH(RTRIM($upstream)) > $length THEN THROW($why) ELSE SUBSTR($upstream, 1, $length) END";
			case 'varbinary':
			case 'binary':
				$length = (int) ( $column['CHARACTER_MAXIMUM_LENGTH'] ?? 0 );
				return $is_strict || $length <= 0 ? $upstream : "CASE WHEN LENGTH(CAST($sql AS BLOB)) > $length THEN SUBSTR(CAST($sql AS BLOB), 1, $length) ELSE $upstream END";
			case 'tinytext':
			case 'text':
				$bytes = 'text' === $type ? 65535 : 255;
				return $is_strict || ! $this->is_simple( $sql ) ? $upstream : sprintf( 'CASE WHEN LENGTH(%1$s) > %2$d THEN %3$s ELSE %1$s END', $upstream, intdiv( $bytes, 4 ), $this->more_call( 'saved_text', $sql, '0', (string) $bytes ) );
			case 'tinyint':
			case 'smallint':
			case 'mediumint':
			case 'int':
				list( $least, $most, $unsigned ) = self::$integer_bounds[ $type ];
				if ( false !== strpos( $full, 'unsigned' ) ) {
					$least = 0;
					$most  = $unsigned;
				}
				if ( preg_match( '/^\d{1,9}$/', $sql ) && (int) $sql <= $most ) {
					return $sql;
				}
				return $is_strict ? $upstream : "MAX($least, MIN($most, CAST(ROUND($sql) AS INTEGER)))";
			case 'bigint':
				if ( $is_strict || preg_match( '/^\d{1,18}$/', $sql ) ) {
					return $upstream;
				}
				$value = $this->is_simple( $sql )
					? "CASE TYPEOF($sql) WHEN 'real' THEN CAST(ROUND($sql) AS INTEGER) ELSE CAST($sql AS INTEGER) END"
					: "CAST($sql AS INTEGER)";
				return false !== strpos( $full, 'unsigned' ) ? "MAX(0, $value)" : $value;
			case 'decimal':
				if ( $is_strict || ! preg_match( '/\((\d+)(?:,\s*(\d+))?\)/', $full, $digits ) ) {
					$digits = preg_match( '/\((\d+)(?:,\s*(\d+))?\)/', $full, $digits ) ? $digits : array( '', '10', '0' );
				}
				return $this->more_call( 'saved_decimal', $sql, $digits[1], $digits[2] ?? '0', false !== strpos( $full, 'unsigned' ) ? '1' : '0' );
			case 'enum':
				if ( ! preg_match_all( "/'((?:[^']|'')*)'/", $column['COLUMN_TYPE'] ?? '', $values ) ) {
					return $upstream;
				}
				return $this->more_call( 'saved_enum', $sql, ...array_map( array( $this, 'quote_sqlite_value' ), array_map( function ( $value ) { return str_replace( "''", "'", $value ); }, $values[1] ) ) );
			case 'bit':
				preg_match( '/\((\d+)\)/', $full, $digits );
				return $this->more_call( 'saved_bit', $sql, $digits[1] ?? '1' );
			case 'date':
			case 'datetime':
			case 'timestamp':
			case 'time':
				if ( $is_strict ) {
					return $upstream;
				}
				if ( 'CURRENT_TIMESTAMP' === trim( $sql ) && 'date' !== $type && 'time' !== $type ) {
					return 'CURRENT_TIMESTAMP';
				}
				$zeros = array(
					'date' => '0000-00-00',
					'time' => '00:00:00',
				);
				$zero = "'" . ( $zeros[ $type ] ?? '0000-00-00 00:00:00' ) . "'";
				return 'time' === $type ? $this->more_call( 'saved_time', $sql, $zero ) : $this->more_call( 'saved_date', $sql, "'$type'", $zero );
		}
		return $upstream;
	}

	/** A column or a literal, which may be written twice. */
	private function is_simple( string $sql ): bool {
		return 1 === preg_match( '/^\s*(`[^`]+`(\.`[^`]+`)?|-?[\d.]+|\'[^\']*\'|NULL)\s*$/', $sql );
	}

	// Unique keys. SQLite's index tells "Ärger" from "arger". So a value that equals one that is there is given as that one
	// is spelled, and the index finds the two the same.

	/** Columns of the unique keys of a table that hold texts of people: of each key, its columns. */
	private $more_keys = array();

	private function text_keys( string $table ): array {
		if ( isset( $this->more_keys[ $table ] ) ) {
			return $this->more_keys[ $table ];
		}
		$this->more_keys[ $table ] = array();
		$any                       = false;
		foreach ( $this->columns_of( $table ) as $name => $column ) {
			$any = $any || $this->is_spelled( $name, $column );
		}
		if ( ! $any ) {
			return array();
		}
		$is_temporary = $this->information_schema_builder->temporary_table_exists( $table );
		$rows         = $this->execute_sqlite_query(
			sprintf(
				'SELECT index_name, LOWER(column_name) FROM %s WHERE table_schema = ? AND table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index',
				$this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( $is_temporary, 'statistics' ) )
			),
			array( $this->get_saved_db_name( $this->main_db_name ), $table )
		)->fetchAll( PDO::FETCH_NUM );
		$keys         = array();
		foreach ( $rows as list( $key, $column ) ) {
			$keys[ $key ][] = $column;
		}
		foreach ( $keys as $columns ) {
			foreach ( $columns as $column ) {
				if ( $this->is_spelled( $column, $this->column_type( $table, $column ) ?? array() ) ) {
					$this->more_keys[ $table ][] = $columns;
					break;
				}
			}
		}
		return $this->more_keys[ $table ];
	}

	private function is_spelled( string $name, array $column ): bool {
		return 'text' === $this->kind_of_type( $column['DATA_TYPE'] ?? '' )
			&& 1 === preg_match( '/_ci$/', (string) $column['COLLATION_NAME'] )
			&& ! preg_match( self::$machine_words, strtolower( $name ) );
	}

	/**
	 * Values for a row, those of unique keys as the row that has them already spells them.
	 *
	 * @param string[] $values   By column, in lower case.
	 * @param string   $others   A condition that leaves the row itself out, '' for a new one.
	 * @param callable $value_of What a column has that gets no value.
	 * @return string[]
	 */
	private function spelled_as_kept( string $table, array $values, string $others, callable $value_of ): array {
		$spelled = $values;
		foreach ( $this->text_keys( $table ) as $columns ) {
			$conditions = array();
			$texts      = array();
			foreach ( $columns as $column ) {
				$value = $values[ $column ] ?? $value_of( $column );
				if ( null === $value ) {
					continue 2;
				}
				$kept = 'kept.' . $this->quote_sqlite_identifier( $column );
				if ( ! $this->is_spelled( $column, $this->column_type( $table, $column ) ?? array() ) ) {
					$conditions[] = "$kept = $value";
					continue;
				}
				$key          = $this->more_call( 'sort_key', $value );
				$conditions[] = sprintf( "(%s = %s OR ((%s GLOB '*[^ -~]*' OR %s GLOB '* ') AND %s = %s))", $kept, $key, $kept, $kept, $this->more_call( 'sort_key', $kept ), $key );
				if ( isset( $values[ $column ] ) ) {
					$texts[] = $column;
				}
			}
			foreach ( $texts as $column ) {
				$kept               = sprintf(
					'COALESCE((SELECT kept.%s FROM %s AS kept WHERE %s%s LIMIT 1), %s)',
					$this->quote_sqlite_identifier( $column ),
					$this->quote_sqlite_identifier( $table ),
					'' === $others ? '' : "$others AND ",
					implode( ' AND ', $conditions ),
					$values[ $column ]
				);
				$spelled[ $column ] = '' === $others && $this->more_is_list ? $this->spelled_as_before( $table, $columns, $column, $kept, $values ) : $kept;
			}
		}
		return $spelled;
	}

	/** Whether the INSERT or REPLACE that runs may have rows of one key, or is to spell a key in a new way. */
	private $more_is_list = false;

	/** A value of a key as the statement's first row that has the key spells it. */
	private function spelled_as_before( string $table, array $columns, string $column, string $kept, array $values ): string {
		$parts = array();
		foreach ( $columns as $each ) {
			$is_text = $this->is_spelled( $each, $this->column_type( $table, $each ) ?? array() );
			$parts[] = $is_text ? $this->more_call( 'sort_key', $values[ $each ] ) : $values[ $each ];
		}
		$place = $this->quote_sqlite_value( json_encode( array( $column, $columns ) ) );
		return $this->more_call( 'first_spelling', $place, $kept, $values[ $column ], ...$parts );
	}

	/** Spells keys as REPLACE gave them. Its rows took the places of those that it found by the spelling that they had. */
	private function spell_as_given( string $table ): void {
		foreach ( $this->more_functions()->spellings as $place => list( $kept, $given, $parts ) ) {
			if ( $kept === $given ) {
				continue;
			}
			list( $column, $columns ) = json_decode( strtok( $place, "\0" ), true );
			$conditions               = array( $this->quote_sqlite_identifier( $column ) . ' = ' . $this->quoted_or_null( $kept ) );
			foreach ( $columns as $i => $each ) {
				$name         = $this->quote_sqlite_identifier( $each );
				$is_text      = $this->is_spelled( $each, $this->column_type( $table, $each ) ?? array() );
				$conditions[] = ( $is_text ? $this->more_call( 'sort_key', $name ) : $name ) . ' = ' . $this->quoted_or_null( $parts[ $i ] );
			}
			$this->execute_sqlite_query( sprintf( 'UPDATE %s SET %s = %s WHERE %s', $this->quote_sqlite_identifier( $table ), $this->quote_sqlite_identifier( $column ), $this->quoted_or_null( $given ), implode( ' AND ', $conditions ) ) );
		}
	}
}
