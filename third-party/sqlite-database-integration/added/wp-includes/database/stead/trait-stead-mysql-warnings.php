<?php
/**
 * Warnings of a statement. A statement pays nothing for them: it is examined only when the next one is SHOW WARNINGS, or asks
 * for @@warning_count. Part of WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Warnings {
	/** Statements that the list of warnings may be of, the last first: text, failure, notes, rows added, last row of SQLite. */
	private $more_asked = array();
	/** What only the moment of a statement can tell, as rows of the list. */
	private $more_notes = array();
	/** The list, once somebody has asked for it. */
	private $more_warnings = null;
	/** Whether a statement is examined: what is converted says so. */
	private $more_examines = false;

	/** Statements without a table leave the list as it is, unless they have warnings of their own. So many are kept. */
	private static $most_asked = 8;
	/** As max_error_count. */
	private static $most_warnings = 64;

	/** Remembers a statement until the next one that clears the list. */
	private function note_statement( string $query, ?Throwable $error ): void {
		$notes            = $this->more_notes;
		$this->more_notes = array();
		if ( preg_match( '/^\s*SHOW\s+(?:COUNT|WARNINGS|ERRORS)\b/i', $query ) ) {
			return;
		}
		$has_no_table = null === $error && array() === $notes && preg_match( '/^\s*(?:SELECT|SET|DO|BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i', $query ) && ! preg_match( '/\bFROM\b/i', $query );
		if ( $has_no_table && preg_match( '/@@(?:\w+\.)?(?:warning|error)_count\b/i', $query ) ) {
			return;
		}
		$ignored = null === $error && preg_match( '/^\s*INSERT\s.{0,40}\bIGNORE\b/is', $query );
		$asked   = array( $query, $error, $notes, $this->more_rows_changed, $ignored ? (int) $this->connection->get_last_insert_id() : 0 );

		$this->more_warnings = null;
		if ( ! $has_no_table ) {
			$this->more_asked = array( $asked );
			return;
		}
		array_unshift( $this->more_asked, $asked );
		if ( count( $this->more_asked ) > self::$most_asked ) {
			array_splice( $this->more_asked, -2, 1 );
		}
	}

	/** Rows of SHOW WARNINGS: level, code, message. */
	private function warnings(): array {
		if ( null === $this->more_warnings ) {
			$this->more_warnings = array();
			foreach ( $this->more_asked as $asked ) {
				$this->more_warnings = array_slice( $this->examined( ...$asked ), 0, self::$most_warnings );
				if ( array() !== $this->more_warnings ) {
					break;
				}
			}
			// Statements without a table may follow, and leave it as it is.
			$this->more_asked = array( array( '', null, $this->more_warnings, 0, 0 ) );
		}
		return $this->more_warnings;
	}

	private function errors(): array {
		return array_values(
			array_filter(
				$this->warnings(),
				function ( $row ) {
					return 'Error' === $row[0];
				}
			)
		);
	}

	private function examined( string $query, ?Throwable $error, array $notes, int $changed, int $last ): array {
		if ( null !== $error ) {
			list( $code, $message ) = Stead_Failed_Statements::code_and_message( $error, $query );
			return array_merge( $notes, array( array( 'Error', $code, $message ) ) );
		}
		if ( ! preg_match( '/^[\s(]*(?:SELECT|INSERT|REPLACE|UPDATE|DO|SET)\b/i', $query ) ) {
			return $notes;
		}
		$functions = $this->more_functions();
		$outer     = array( $this->last_mysql_query, $this->more_statement, $this->more_formats, $functions->variables );
		try {
			$this->last_mysql_query = $query;
			$parser                 = $this->create_parser( $query );
			$parser->next_query();
			$statement            = $parser->get_query_ast()->get_first_child_node()->get_first_child_node();
			$this->more_statement = $statement;
			$this->more_examines  = true;
			$functions->warned    = $notes;
			switch ( $statement->rule_name ) {
				case 'selectStatement':
					$this->execute_sqlite_query( $this->translate( $statement->get_first_child_node( 'queryExpression' ) ) )->fetchAll( PDO::FETCH_NUM );
					break;
				case 'insertStatement':
				case 'replaceStatement':
					$this->examine_insert( $statement, $changed, $last );
					break;
				case 'updateStatement':
					$this->examine_update( $statement, $changed );
					break;
			}
		} catch ( Throwable $e ) {
			// It did run: what cannot be examined has the warnings that were found.
			unset( $e );
		} finally {
			$found             = $functions->warned;
			$functions->warned = null;

			$this->more_examines = false;
			list( $this->last_mysql_query, $this->more_statement, $this->more_formats, $functions->variables ) = $outer;
		}
		return $found ?? $notes;
	}

	private function warn( string $level, string $code, string $message ): void {
		$this->more_functions()->warned[] = array( $level, $code, $message );
	}

	private function has_warned_enough(): bool {
		return count( $this->more_functions()->warned ) >= self::$most_warnings;
	}

	/** Values and types of expressions, as SQLite computes them. */
	private function computed( array $expressions ): array {
		$list = array();
		foreach ( $expressions as $sql ) {
			$list[] = "$sql, TYPEOF($sql)";
		}
		$row = $this->execute_sqlite_query( 'SELECT ' . implode( ', ', $list ) )->fetch( PDO::FETCH_NUM );
		return array_chunk( $row, 2 );
	}

	private function examine_insert( WP_Parser_Node $node, int $added, int $last ): void {
		$table   = $this->unquote_sqlite_identifier( $this->translate( $node->get_first_child_node( 'tableRef' ) ) );
		$columns = $this->columns_of( $table );
		$rows    = $this->given_rows( $node, $names );
		if ( null === $names ) {
			return;
		}
		foreach ( $columns as $name => $column ) {
			if ( ! in_array( $name, $names, true ) && 'NO' === $column['IS_NULLABLE'] && null === $column['COLUMN_DEFAULT'] && '' === (string) $column['EXTRA'] ) {
				$this->warn( 'Warning', '1364', "Field '{$column['COLUMN_NAME']}' doesn't have a default value" );
			}
		}
		$is_ignored = $node->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL );
		$taken      = array();
		foreach ( $rows as $n => $row ) {
			if ( $this->has_warned_enough() ) {
				return;
			}
			$computed = array() === $row ? array() : array_combine( array_keys( $row ), $this->computed( $row ) );
			foreach ( array_intersect_key( $computed, $columns ) as $name => list( $value, $type ) ) {
				if ( in_array( $name, $this->generated_of( $table ), true ) ) {
					$this->warn( 'Warning', '1906', "The value specified for generated column '{$columns[ $name ]['COLUMN_NAME']}' in table '$table' has been ignored" );
					continue;
				}
				$this->warn_of_value( $table, $columns[ $name ], $value, $type, $n + 1 );
			}
			if ( $is_ignored && $added < count( $rows ) ) {
				$this->warn_of_duplicate( $table, $columns, $computed, array( $last - count( $rows ), $last, $added ), $taken );
			}
		}
	}

	/**
	 * Rows of an INSERT with VALUES or SET, or the one of an UPDATE that is not computed of columns: translated, by column.
	 * Of a SELECT there are none.
	 *
	 * @param string[]|null $names The columns that the statement names, null for a SELECT.
	 */
	private function given_rows( WP_Parser_Node $node, ?array &$names = null ): array {
		$last_name = function ( WP_Parser_Node $part ) {
			$parts = $part->get_descendant_nodes( 'identifier' );
			return strtolower( $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) ) );
		};
		$names     = null;
		$set       = $node->get_first_child_node( 'updateList' );
		$from      = $node->get_first_child_node( 'insertFromConstructor' );
		if ( null !== $set ) {
			$names = array();
			$row   = array();
			foreach ( $set->get_child_nodes( 'updateElement' ) as $element ) {
				$name    = $last_name( $element->get_first_child_node( 'columnRef' ) );
				$value   = $element->get_first_child_node( 'expr' );
				$names[] = $name;
				if ( null !== $value && null === $value->get_first_descendant_node( 'columnRef' ) ) {
					$row[ $name ] = (string) $this->translate( $value );
				}
			}
			return array( $row );
		}
		if ( null === $from ) {
			return array();
		}
		$fields = $from->get_first_child_node( 'fields' );
		$first  = $from->get_first_descendant_node( 'values' );
		$table  = $this->unquote_sqlite_identifier( $this->translate( $node->get_first_child_node( 'tableRef' ) ) );
		$names  = null === $fields
			? ( null === $first ? array() : array_keys( $this->columns_of( $table ) ) )
			: array_map( $last_name, $fields->get_child_nodes() );
		$rows   = array();
		foreach ( $from->get_descendant_nodes( 'values' ) as $values ) {
			$row = array();
			foreach ( array_values( array_filter( $values->get_children(), array( $this, 'is_no_comma' ) ) ) as $i => $value ) {
				if ( $value instanceof WP_Parser_Node && isset( $names[ $i ] ) ) {
					// As it is written: upstream turns "…T10:00:00Z" into a moment.
					list( $kind, $literal )  = $this->value_of( $value );
					$row[ $names[ $i ] ] = 'text' === $kind && null !== $literal ? $this->quote_sqlite_value( $literal ) : (string) $this->translate( $value );
				}
			}
			$rows[] = $row;
		}
		return $rows;
	}

	/**
	 * A row that INSERT IGNORE left out. The rows that it added are the last of the table.
	 *
	 * @param int[] $range Between which rows of the table those are that it added, and how many it added.
	 * @param array $taken Rows of the table that are rows of the statement.
	 */
	private function warn_of_duplicate( string $table, array $columns, array $computed, array $range, array &$taken ): void {
		list( $before, $last, $added ) = $range;
		foreach ( $this->unique_keys( $table ) as $key => $parts ) {
			$conditions = array();
			$texts      = array();
			foreach ( $parts as $part ) {
				$value = $computed[ $part ][0] ?? ( isset( $computed[ $part ] ) ? null : ( $columns[ $part ]['COLUMN_DEFAULT'] ?? null ) );
				if ( null === $value ) {
					continue 2;
				}
				$conditions[] = $this->is_same_in( $table, $part, (string) $value );
				$texts[]      = (string) $value;
			}
			$row = $this->execute_sqlite_query( sprintf( 'SELECT rowid FROM %s WHERE %s', $this->quote_sqlite_identifier( $table ), implode( ' AND ', $conditions ) ) )->fetchColumn();
			if ( false === $row ) {
				continue;
			}
			if ( ! isset( $taken[ $row ] ) && count( $taken ) < $added && $row > $before && $row <= $last ) {
				$taken[ $row ] = true;
				return;
			}
			$this->warn( 'Warning', '1062', sprintf( "Duplicate entry '%s' for key '%s'", implode( '-', $texts ), $key ) );
			return;
		}
	}

	/** Columns of each unique key, the primary one first. */
	private function unique_keys( string $table ): array {
		$is_temporary = $this->information_schema_builder->temporary_table_exists( $table );
		$rows         = $this->execute_sqlite_query(
			sprintf(
				"SELECT index_name, LOWER(column_name) FROM %s WHERE table_schema = ? AND table_name = ? AND non_unique = 0 ORDER BY index_name <> 'PRIMARY', rowid",
				$this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( $is_temporary, 'statistics' ) )
			),
			array( $this->get_saved_db_name( $this->main_db_name ), $table )
		)->fetchAll( PDO::FETCH_NUM );
		$keys         = array();
		foreach ( $rows as list( $key, $column ) ) {
			$keys[ $key ][] = $column;
		}
		return $keys;
	}

	/** What an UPDATE of one table sets that is not computed of columns: the same for each row that it changed. */
	private function examine_update( WP_Parser_Node $node, int $changed ): void {
		$refs = $node->get_first_child_node( 'tableReferenceList' )->get_descendant_nodes( 'tableRef' );
		if ( 1 !== count( $refs ) ) {
			return;
		}
		$table   = $this->unquote_sqlite_identifier( $this->translate( $refs[0] ) );
		$columns = $this->columns_of( $table );
		list( $given ) = $this->given_rows( $node );
		$computed = array() === $given ? array() : array_combine( array_keys( $given ), $this->computed( $given ) );
		for ( $row = 1; $row <= $changed && ! $this->has_warned_enough(); $row++ ) {
			foreach ( array_intersect_key( $computed, $columns ) as $name => list( $value, $type ) ) {
				$this->warn_of_value( $table, $columns[ $name ], $value, $type, $row );
			}
		}
	}

	/** What a column makes of a value, without the warnings of the functions that make it. */
	private function saved_as( string $table, array $column, string $sql ) {
		$functions         = $this->more_functions();
		$warned            = $functions->warned;
		$functions->warned = null;
		try {
			return $this->computed( array( $this->saved_value( $column, $sql, $table ) ) )[0][0];
		} finally {
			$functions->warned = $warned;
		}
	}

	/**
	 * A failure of a unique key in MySQL's words, which name the key and the values.
	 *
	 * @param WP_MySQL_On_SQLite_Exception $error Any failure.
	 */
	private function with_duplicate_entry( WP_MySQL_On_SQLite_Exception $error, string $query ): WP_MySQL_On_SQLite_Exception {
		if ( ! preg_match( '/UNIQUE constraint failed: ([^.]+)\.(.*)$/', $error->getMessage(), $match ) ) {
			return $error;
		}
		list( , $table, $list ) = $match;
		$columns                = explode( ", $table.", strtolower( $list ) );
		$name                   = implode( ', ', $columns );
		$entry                  = '';
		try {
			foreach ( $this->unique_keys( $table ) as $key => $parts ) {
				if ( $parts === $columns ) {
					$name  = $key;
					$entry = $this->duplicate_entry( $table, $columns, $query );
				}
			}
		} catch ( Throwable $e ) {
			// The failure itself is what counts.
			unset( $e );
		}
		$message = "Duplicate entry $entry" . ( '' === $entry ? '' : ' ' ) . "for key '$name'";
		return $this->new_driver_exception( "SQLSTATE[23000]: Integrity constraint violation: 1062 $message", '23000', $error, array( '23000', 1062, $message ) );
	}

	/** Values of the first row that has what another has, '' when that cannot be said. */
	private function duplicate_entry( string $table, array $columns, string $query ): string {
		$outer = array( $this->last_mysql_query, $this->more_statement );
		try {
			$this->last_mysql_query = $query;
			$parser                 = $this->create_parser( $query );
			$parser->next_query();
			$this->more_statement = $parser->get_query_ast()->get_first_child_node()->get_first_child_node();

			$seen = array();
			foreach ( $this->given_rows( $this->more_statement ) as $row ) {
				$conditions = array();
				$values     = array();
				foreach ( $columns as $column ) {
					$value = isset( $row[ $column ] ) ? $this->computed( array( $row[ $column ] ) )[0][0] : ( $this->column_type( $table, $column )['COLUMN_DEFAULT'] ?? null );
					if ( null === $value ) {
						continue 2;
					}
					$values[]     = (string) $value;
					$conditions[] = $this->is_same_in( $table, $column, (string) $value );
				}
				$key = Stead_MySQL_Functions::folded( implode( '-', $values ) );
				if ( isset( $seen[ $key ] ) || false !== $this->execute_sqlite_query( sprintf( 'SELECT 1 FROM %s WHERE %s', $this->quote_sqlite_identifier( $table ), implode( ' AND ', $conditions ) ) )->fetchColumn() ) {
					return "'" . implode( '-', $values ) . "'";
				}
				$seen[ $key ] = true;
			}
		} finally {
			list( $this->last_mysql_query, $this->more_statement ) = $outer;
		}
		return '';
	}

	/** A condition for rows that have a value, as a unique key of MySQL compares it. */
	private function is_same_in( string $table, string $name, string $value ): string {
		$info   = $this->column_type( $table, $name );
		$column = $this->quote_sqlite_identifier( $name );
		$saved  = $this->saved_value( $info, $this->quote_sqlite_value( $value ), $table );
		return $this->is_spelled( $name, $info )
			? $this->more_call( 'sort_key', $column ) . ' = ' . $this->more_call( 'sort_key', $saved )
			: "$column = $saved";
	}

	/** A value that does not fit its column. */
	private function warn_of_value( string $table, array $column, $value, string $type, int $row ): void {
		$name = $column['COLUMN_NAME'];
		if ( null === $value ) {
			if ( 'NO' === $column['IS_NULLABLE'] && false === strpos( (string) $column['EXTRA'], 'auto_increment' ) && 'timestamp' !== $column['DATA_TYPE'] ) {
				$this->warn( 'Warning', '1048', "Column '$name' cannot be null" );
			}
			return;
		}
		$cut  = function ( string $level ) use ( $name, $row ) {
			$this->warn( $level, '1265', "Data truncated for column '$name' at row $row" );
		};
		$text = (string) $value;
		$kind = $column['DATA_TYPE'];
		switch ( $kind ) {
			case 'tinyint':
			case 'smallint':
			case 'mediumint':
			case 'int':
			case 'bigint':
			case 'year':
			case 'decimal':
			case 'float':
			case 'double':
				$words  = array(
					'decimal' => 'decimal',
					'float'   => 'double',
					'double'  => 'double',
				);
				$is_cut = false;
				if ( 'text' === $type ) {
					if ( ! preg_match( '/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i', $text, $match ) ) {
						$this->warn( 'Warning', '1366', sprintf( "Incorrect %s value: '%s' for column `%s`.`%s`.`%s` at row %d", $words[ $kind ] ?? 'integer', $text, $this->db_name, $table, $name, $row ) );
						return;
					}
					$rest   = substr( $text, strlen( $match[0] ) );
					$is_cut = '' !== $rest;
					if ( $is_cut && '' === trim( $rest ) ) {
						$cut( 'Note' );
						return;
					}
				}
				$saved = $this->saved_as( $table, $column, $this->quote_sqlite_value( $text ) );
				if ( ! isset( $words[ $kind ] ) && abs( (float) $saved - (float) $text ) >= 1 ) {
					$this->warn( 'Warning', '1264', "Out of range value for column '$name' at row $row" );
				} elseif ( 'decimal' === $kind && preg_match( '/\((\d+)(?:,\s*(\d+))?\)/', $column['COLUMN_TYPE'], $digits ) ) {
					$scale = (int) ( $digits[2] ?? 0 );
					if ( abs( (float) $saved - (float) $text ) >= 10 ** -$scale ) {
						$this->warn( 'Warning', '1264', "Out of range value for column '$name' at row $row" );
					} elseif ( $is_cut ) {
						$cut( 'Warning' );
					} elseif ( preg_match( '/\.(\d*?)0*$/', $text, $point ) && strlen( $point[1] ) > $scale ) {
						$cut( 'Note' );
					}
				} elseif ( $is_cut ) {
					$cut( 'Warning' );
				}
				return;
			case 'char':
			case 'varchar':
				$most = (int) ( $column['CHARACTER_MAXIMUM_LENGTH'] ?? 0 );
				if ( $most > 0 && strlen( $text ) > $most && strlen( $this->more_functions()->mysql_saved_text( $text, $most, 0 ) ) < strlen( $text ) ) {
					$cut( '' === trim( substr( $text, strlen( $this->more_functions()->mysql_saved_text( $text, $most, 0 ) ) ), ' ' ) ? 'Note' : 'Warning' );
				}
				return;
			case 'varbinary':
			case 'binary':
			case 'tinytext':
			case 'text':
			case 'mediumtext':
				$bytes = array(
					'tinytext'   => 255,
					'text'       => 65535,
					'mediumtext' => 16777215,
				);
				$most  = $bytes[ $kind ] ?? (int) ( $column['CHARACTER_MAXIMUM_LENGTH'] ?? 0 );
				if ( $most > 0 && strlen( $text ) > $most ) {
					$cut( 'Warning' );
				}
				return;
			case 'date':
			case 'datetime':
			case 'timestamp':
			case 'time':
				$saved = (string) $this->saved_as( $table, $column, $this->quote_sqlite_value( $text ) );
				$is_as = 'time' === $kind || is_numeric( $text ) || preg_match( '/^\s*\d+[-\/.]\d+[-\/.]\d+(?:[ T]\d+(?::\d+(?::\d+(?:\.\d*)?)?)?)?\s*$/', $text );
				if ( ! $is_as || ( preg_match( '/^[0: -]*$/', $saved ) && ! preg_match( '/^[0:. -]+$/', $text ) ) ) {
					$cut( 'Warning' );
				} elseif ( 'date' === $kind && preg_match( '/^\d{4}-\d+-\d+[ T].*[1-9]/', $text ) ) {
					$cut( 'Note' );
				}
				return;
			case 'enum':
				$saved = (string) $this->saved_as( $table, $column, 'text' === $type ? $this->quote_sqlite_value( $text ) : $text );
				if ( '' === $saved && ! preg_match( "/[(,]''[),]/", $column['COLUMN_TYPE'] ) ) {
					$cut( 'Warning' );
				}
				return;
		}
	}

	/** Whether a table is there, or a view: for the notes of IF EXISTS and IF NOT EXISTS. */
	private function is_there( string $table ): bool {
		return array() !== $this->columns_of( $table ) || isset( $this->views()[ $table ] );
	}

	/** Notes of statements that pass over what is there, or is not, before they run; and of what no table here has. */
	private function note_passed_over( WP_Parser_Node $node ): void {
		$action = $node->get_first_child_node();
		if ( null !== $action && 'alterTable' === $action->rule_name ) {
			$parts = $action->get_first_child_node( 'tableRef' )->get_descendant_nodes( 'identifier' );
			$table = $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) );
			if ( preg_match( '/\b(?:DISABLE|ENABLE)\s+KEYS\s*;?\s*$/i', $this->last_mysql_query ) ) {
				$this->more_notes[] = array( 'Note', '1031', "Storage engine InnoDB of the table `{$this->db_name}`.`$table` doesn't have this option" );
			} elseif ( preg_match( '/^\s*ALTER\s+TABLE\s+\S+\s+ORDER\s+BY\b/i', $this->last_mysql_query ) ) {
				$this->more_notes[] = array( 'Warning', '1105', "ORDER BY ignored as there is a user-defined clustered index in the table '$table'" );
			}
			return;
		}
		if ( null === $action || ! in_array( $action->rule_name, array( 'createTable', 'dropTable' ), true ) ) {
			return;
		}
		$name_of = function ( WP_Parser_Node $ref ) {
			$parts = $ref->get_descendant_nodes( 'identifier' );
			return $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) );
		};
		if ( 'createTable' === $action->rule_name ) {
			$name = $action->has_child_node( 'ifNotExists' ) ? $name_of( $action->get_first_child_node( 'tableName' ) ) : '';
			if ( '' !== $name && $this->is_there( $name ) ) {
				$this->more_notes[] = array( 'Note', '1050', "Table '$name' already exists" );
			}
			return;
		}
		$missing = array();
		foreach ( $action->has_child_node( 'ifExists' ) ? $action->get_descendant_nodes( 'tableRef' ) : array() as $ref ) {
			if ( ! $this->is_there( $name_of( $ref ) ) ) {
				$missing[] = $this->db_name . '.' . $name_of( $ref );
			}
		}
		if ( array() !== $missing ) {
			$this->more_notes[] = array( 'Note', '1051', "Unknown table '" . implode( ',', $missing ) . "'" );
		}
	}
}
