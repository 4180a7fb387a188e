<?php
/**
 * Statements that are run here: those that create and rename tables, SHOW, and variables of the server. Part of
 * WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Statements {
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
		if ( 'warning_count' === $name || 'error_count' === $name ) {
			return (string) count( 'error_count' === $name ? $this->errors() : $this->warnings() );
		}
		$value = $this->known_variables()[ $name ] ?? null;
		if ( 'sql_mode' === $name ) {
			return $this->quote_sqlite_value( $value );
		}
		if ( in_array( $name, array( 'version', 'version_comment' ), true ) || isset( $this->session_system_variables[ $name ] ) || null === $value ) {
			return null;
		}
		return is_string( $value ) ? $this->quote_sqlite_value( $value ) : sprintf( '%.0F', $value );
	}

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
				$this->more_has_binary = null;
				$this->note_passed_over( $node );
				$this->more_columns = array();
				return $this->execute_create_view( $node ) || $this->execute_create_unique( $node ) || $this->execute_create_from( $node->get_first_child_node() );
			case 'alterStatement':
				$this->more_columns = array();
				$this->more_keys    = array();
				$this->more_has_binary = null;
				$this->note_passed_over( $node );
				$this->more_columns = array();
				return $this->execute_alter_rename( $node ) || $this->execute_more_alter( $node );
			case 'dropStatement':
				$this->more_columns = array();
				$this->more_keys    = array();
				$this->more_has_binary = null;
				$this->note_passed_over( $node );
				$this->more_columns = array();
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

	/** CREATE UNIQUE INDEX adds a constraint, as ALTER TABLE does. */
	private function execute_create_unique( WP_Parser_Node $node ): bool {
		$create = $node->get_first_child_node( 'createIndex' );
		$target = null === $create ? null : $create->get_first_child_node( 'createIndexTarget' );
		$name   = null === $create || ! $create->has_child_token( WP_MySQL_Lexer::UNIQUE_SYMBOL ) ? null : $create->get_first_descendant_node( 'indexName' );
		if ( null === $target || null === $name ) {
			return false;
		}
		$text = function ( WP_Parser_Node $part ) {
			return substr( $this->last_mysql_query, $part->get_start(), $part->get_length() );
		};
		$list = $target->get_first_child_node( 'keyListVariants' ) ?? $target->get_child_nodes()[1];
		$this->run_mysql( sprintf( 'ALTER TABLE %s ADD UNIQUE INDEX %s %s', $text( $target->get_first_child_node( 'tableRef' ) ), $text( $name ), $text( $list ) ) );
		return true;
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
				$rows = 'ERRORS' === $words[0] ? $this->errors() : $this->warnings();
				if ( preg_match( '/\bLIMIT\s+(?:(\d+)\s*,\s*)?(\d+)/i', $this->last_mysql_query, $limit ) ) {
					$rows = array_slice( $rows, (int) $limit[1], (int) $limit[2] );
				}
				$this->answer_filtered( array( 'Level', 'Code', 'Message' ), $rows, null );
				return true;
			case 'COUNT':
				$is_errors = in_array( 'ERRORS', $words, true );
				$this->answer_filtered( array( $is_errors ? '@@session.error_count' : '@@session.warning_count' ), array( array( (string) count( $is_errors ? $this->errors() : $this->warnings() ) ) ), null );
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
}
