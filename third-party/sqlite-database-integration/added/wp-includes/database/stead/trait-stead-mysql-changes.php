<?php
/**
 * Rows that INSERT, REPLACE and UPDATE change, and the ids that they give, as MySQL counts them. Part of
 * WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Changes {
	/** Column and value of each assignment of the last list that was translated. */
	private $more_assignments = array();
	private $more_row_count = -1;
	/** The same of the statement that runs. */
	private $more_rows_changed = -1;
	/** Id that the last INSERT gave. */
	private $more_last_id = 0;

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
		$this->more_functions()->kept_id   = null;
		$this->more_functions()->spellings = array();
		$this->more_is_list                = null !== $before || null !== $node->get_first_child_node( 'insertQueryExpression' ) || count( $node->get_descendant_nodes( 'values' ) ) > 1;
		$id                                = $this->auto_increment_of( $table );
		$is_named                          = null !== $id && $this->gives_id( $node, $table, $id );
		$this->more_burnt                  = null === $id || $is_named ? null : array( $table, count( $node->get_descendant_nodes( 'values' ) ) );
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
			$this->spell_as_given( $table );
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
			$this->last_insert_id = $node->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL )
				? (string) $this->execute_sqlite_query( sprintf( 'SELECT MIN(id) FROM (SELECT %1$s AS id FROM %2$s ORDER BY 1 DESC LIMIT %3$d)', $this->quote_sqlite_identifier( $id ), $this->quote_sqlite_identifier( $table ), $added ) )->fetchColumn()
				: (string) ( (int) $this->last_insert_id - $added + 1 );
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

	/** Whether an INSERT gives a column that takes no NULL its implicit default instead: with IGNORE, and of several rows. */
	private function fills_in_nulls( WP_Parser_Node $body ): bool {
		if ( null !== $this->more_statement && 'insertStatement' === $this->more_statement->rule_name && $this->more_statement->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL ) ) {
			return true;
		}
		$values = $body->get_first_child_node( 'insertValues' );
		$list   = null === $values ? null : $values->get_first_child_node( 'valueList' );
		return null !== $list && count( $list->get_child_nodes( 'values' ) ) > 1;
	}
}
