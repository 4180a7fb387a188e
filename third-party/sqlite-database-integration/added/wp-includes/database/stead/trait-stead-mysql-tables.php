<?php
/**
 * Transactions, and what statements say of tables, as MySQL has them. Part of WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Tables {
	/** Whether a transaction was begun by the layer itself, which makes tables in one, not by a statement. */
	private $more_begun_by_program = false;

	/** Before a statement: MySQL ends a transaction when tables change, and begins one when nothing is committed by itself. */
	private function begin_as_mysql( ?WP_Parser_Node $node ): void {
		$statement = null === $node || 'simpleStatement' !== $node->rule_name ? null : $node->get_first_child_node();
		if ( null === $statement ) {
			return;
		}
		$rule = $statement->rule_name;
		if ( $this->in_transaction ) {
			if ( 'setStatement' === $rule && preg_match( '/\bautocommit\s*:?=\s*[\'"]?(1|on|true)\b/i', $this->last_mysql_query ) ) {
				$this->commit_user_transaction();
				return;
			}
			$changes_tables = in_array( $rule, array( 'createStatement', 'alterStatement', 'dropStatement', 'truncateTableStatement', 'renameTableStatement' ), true );
			if ( $changes_tables && ! $this->table_lock_active && ! $this->more_begun_by_program && ! preg_match( '/^\s*(CREATE|DROP)\s+TEMPORARY\b/i', $this->last_mysql_query ) ) {
				$this->commit_user_transaction();
			}
		} elseif (
			'0' === (string) ( $this->session_system_variables['autocommit'] ?? '1' )
			&& in_array( $rule, array( 'insertStatement', 'replaceStatement', 'updateStatement', 'deleteStatement' ), true )
		) {
			$this->begin_user_transaction();
		}
	}

	/** Last ids that a transaction gave, by table. */
	private $more_given = array();

	/** After a transaction was taken back: an id that was given is never given again. */
	private function keep_given_ids(): void {
		foreach ( $this->more_given as $table => $id ) {
			$this->connection->query( 'UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?', array( $id, $table, $id ) );
		}
		$this->more_given = array();
	}

	/** Takes back what a statement that failed has done, and nothing else. */
	private function rollback_statement(): void {
		if ( null === $this->wrapper_transaction_type ) {
			return;
		}
		$type                           = $this->wrapper_transaction_type;
		$this->wrapper_transaction_type = null;
		try {
			if ( 'savepoint' === $type ) {
				$name = $this->get_internal_savepoint_name( 'wrapper' );
				$this->connection->query( 'ROLLBACK TO SAVEPOINT ' . $name );
				$this->connection->query( 'RELEASE SAVEPOINT ' . $name );
			} else {
				$this->rollback_user_transaction();
			}
			if ( null !== $this->more_burnt ) {
				// An id that was given is never given again.
				list( $table, $count ) = $this->more_burnt;
				$this->more_burnt      = null;
				$this->connection->query( 'UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?', array( $count, $table ) );
			}
		} catch ( Throwable $e ) {
			// SQLite has ended it itself, as it does when the disk is full.
			$this->in_transaction    = false;
			$this->table_lock_active = false;
			$this->savepoint_names   = array();
		}
	}

	// Assignments of an UPDATE.

	/** A value that an UPDATE sets: what it reads of columns that were set before it in the list is what they were set to. */
	private function with_assigned( string $value ): string {
		if ( array() === $this->more_assignments || count( $this->tables_of_statement() ) > 1 || false === strpos( $value, '`' ) ) {
			return $value;
		}
		list( $alias, $name ) = $this->tables_of_statement()[0] ?? array( '', '' );
		foreach ( $this->more_assignments as list( $column, $set ) ) {
			$parts = preg_split( "/('(?:[^']|'')*')/", $value, -1, PREG_SPLIT_DELIM_CAPTURE );
			foreach ( $parts as $i => $part ) {
				if ( 0 === $i % 2 ) {
					$pattern     = sprintf( '/(?<![.`])(?:(?:`%s`|`%s`)\.)?%s(?!\s*[.(`])/i', preg_quote( $alias, '/' ), preg_quote( $name, '/' ), preg_quote( $column, '/' ) );
					$parts[ $i ] = preg_replace_callback(
						$pattern,
						function () use ( $set ) {
							return "($set)";
						},
						$part
					);
				}
			}
			$value = implode( '', $parts );
		}
		return $value;
	}

	/** What an UPDATE sets at last: a column that is set twice keeps the second value. */
	private function last_assignments(): array {
		$last = array();
		foreach ( $this->more_assignments as $each ) {
			$last[ strtolower( $each[0] ) ] = $each;
		}
		$last = array_values( $last );
		if ( 1 !== count( $this->tables_of_statement() ) || 'updateStatement' !== ( null === $this->more_statement ? '' : $this->more_statement->rule_name ) ) {
			return $last;
		}
		list( $alias, $table ) = $this->tables_of_statement()[0];
		if ( array() === $this->text_keys( $table ) ) {
			return $last;
		}
		$values = array();
		foreach ( $last as list( $column, $value ) ) {
			$values[ strtolower( $this->unquote_sqlite_identifier( $column ) ) ] = $value;
		}
		$row = $this->quote_sqlite_identifier( $alias );
		// A key is another one when any of its columns is.
		foreach ( $this->text_keys( $table ) as $columns ) {
			if ( array_intersect( $columns, array_keys( $values ) ) ) {
				foreach ( $columns as $column ) {
					$info = $this->column_type( $table, $column );
					if ( ! isset( $values[ $column ] ) && $this->is_spelled( $column, $info ?? array() ) ) {
						$values[ $column ] = $row . '.' . $this->quote_sqlite_identifier( $info['COLUMN_NAME'] );
						$last[]            = array( $this->quote_sqlite_identifier( $info['COLUMN_NAME'] ), $values[ $column ] );
					}
				}
			}
		}
		$spelled = $this->spelled_as_kept(
			$table,
			$values,
			"kept.rowid <> $row.rowid",
			function ( $column ) use ( $row ) {
				return $row . '.' . $this->quote_sqlite_identifier( $column );
			}
		);
		foreach ( $last as $i => list( $column ) ) {
			$last[ $i ][1] = $spelled[ strtolower( $this->unquote_sqlite_identifier( $column ) ) ];
		}
		return $last;
	}

	/** The list of an UPDATE, each column once. */
	private function assigned_list(): string {
		$list = array();
		foreach ( $this->more_assignments as list( $column, $value ) ) {
			$list[ strtolower( $column ) ] = "$column = $value";
		}
		return implode( ', ', $list );
	}

	/**
	 * UPDATE of several tables, or of one by an outer join: what is to be set is found first, then it is set table by table.
	 */
	private function execute_joined_update( WP_Parser_Node $node ): bool {
		$references = $node->get_first_child_node( 'tableReferenceList' );
		if ( null === $references || ! preg_match( '/,|\bJOIN\b/i', substr( $this->last_mysql_query, $references->get_start(), $references->get_length() ) ) ) {
			return false;
		}
		$tables = array();
		foreach ( $references->get_descendant_nodes( 'singleTable' ) as $single ) {
			$seen = array();
			$this->more_tables_of = $node;
			$this->more_tables    = array();
			$this->note_table( $single->get_first_child_node( 'tableRef' ), $single->get_first_child_node( 'tableAlias' ), $seen );
			foreach ( $this->more_tables as list( $alias, $name ) ) {
				$tables[ $alias ] = $name;
			}
		}
		$this->more_tables_of = null;

		$assignments = array();
		foreach ( $node->get_first_child_node( 'updateList' )->get_child_nodes( 'updateElement' ) as $element ) {
			$parts  = $element->get_first_child_node( 'columnRef' )->get_descendant_nodes( 'identifier' );
			$column = $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) );
			$alias  = count( $parts ) > 1 ? strtolower( $this->unquote_sqlite_identifier( (string) $this->translate( $parts[ count( $parts ) - 2 ] ) ) ) : null;
			if ( null === $alias ) {
				foreach ( $tables as $each => $name ) {
					if ( null !== $this->column_type( $name, $column ) ) {
						$alias = $each;
						break;
					}
				}
			}
			$info = null === $alias || ! isset( $tables[ $alias ] ) ? null : $this->column_type( $tables[ $alias ], $column );
			if ( null === $info ) {
				return false;
			}
			$assignments[ $alias ][] = array( $info, $element->get_first_child_node( 'expr' ) );
		}
		if ( count( $assignments ) < 2 && null === $references->get_first_descendant_node( 'outerJoinType' ) ) {
			return false;
		}
		if ( $node->has_child_node( 'orderClause' ) || $node->has_child_node( 'simpleLimitClause' ) ) {
			return false;
		}
		$found  = self::RESERVED_PREFIX . 'stead_update';
		$select = array();
		foreach ( array_keys( $assignments ) as $i => $alias ) {
			$select[] = $this->quote_sqlite_identifier( $alias ) . ".rowid AS r$i";
			foreach ( $assignments[ $alias ] as $n => list( $info, $expr ) ) {
				$value    = null === $expr ? ( null === $info['COLUMN_DEFAULT'] ? 'NULL' : $this->format_sqlite_column_default( $info ) ) : $this->translate( $expr );
				$select[] = "($value) AS v{$i}_$n";
			}
		}
		$this->execute_sqlite_query( "DROP TABLE IF EXISTS temp.`$found`" );
		$this->execute_sqlite_query(
			sprintf(
				'CREATE TEMP TABLE `%s` AS SELECT %s FROM %s %s',
				$found,
				implode( ', ', $select ),
				$this->translate( $references ),
				$this->translate( $node->get_first_child_node( 'whereClause' ) )
			)
		);
		$changed = 0;
		$ignore  = $node->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL ) ? 'OR IGNORE ' : '';
		foreach ( array_keys( $assignments ) as $i => $alias ) {
			$table = $this->quote_sqlite_identifier( $tables[ $alias ] );
			$set   = array();
			$same  = array();
			foreach ( $assignments[ $alias ] as $n => list( $info ) ) {
				$column = $this->quote_sqlite_identifier( $info['COLUMN_NAME'] );
				$value  = $this->saved_value( $info, "`found`.`v{$i}_$n`", $tables[ $alias ] );
				$zero   = 'NO' === $info['IS_NULLABLE'] ? ( self::DATA_TYPE_IMPLICIT_DEFAULT_MAP[ $info['DATA_TYPE'] ] ?? null ) : null;
				$value  = null === $zero ? $value : sprintf( 'COALESCE(%s, %s)', $value, $this->quote_sqlite_value( $zero ) );
				$set[]  = "$column = $value";
				$same[] = "$table.$column IS ($value) COLLATE BINARY";
			}
			$changed += $this->execute_sqlite_query(
				sprintf(
					'UPDATE %s%s SET %s FROM temp.`%s` AS `found` WHERE %s.rowid = `found`.r%d AND NOT (%s)',
					$ignore,
					$table,
					implode( ', ', $set ),
					$found,
					$table,
					$i,
					implode( ' AND ', $same )
				)
			)->rowCount();
		}
		$this->execute_sqlite_query( "DROP TABLE temp.`$found`" );
		$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
		$this->last_affected_rows    = $changed;
		return true;
	}

	// Statements that set variables, or run others.

	/** SELECT … INTO @variable. */
	private function execute_select_into( WP_Parser_Node $node ): bool {
		$into = false === stripos( $this->last_mysql_query, 'into' ) ? null : $node->get_first_descendant_node( 'intoClause' );
		if ( null === $into ) {
			return false;
		}
		$variables = $into->get_child_nodes( 'userVariable' );
		if ( array() === $variables ) {
			throw $this->new_not_supported_exception( 'SELECT … INTO a file' );
		}
		$this->run_mysql( substr_replace( $this->last_mysql_query, ' ', $into->get_start(), $into->get_length() ) );
		$row = $this->last_result_statement->fetch( PDO::FETCH_NUM );
		if ( false !== $row ) {
			foreach ( $variables as $i => $variable ) {
				$this->user_variables[ $this->variable_name( $variable ) ] = $row[ $i ] ?? null;
			}
		}
		$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
		$this->last_column_meta      = array();
		return true;
	}

	/** Statements by the names that PREPARE gave them. */
	private $more_prepared = array();

	private function execute_prepared( WP_Parser_Node $node ): bool {
		$node = $node->get_first_child_node( 'executeStatement' ) ?? $node;
		$name = strtolower( $this->unquote_sqlite_identifier( (string) $this->translate( $node->get_first_child_node( 'identifier' ) ) ) );
		$word = strtoupper( $node->get_first_child_token()->get_value() );
		if ( 'PREPARE' === $word ) {
			$source   = $node->get_child_nodes()[1];
			$variable = 'userVariable' === $source->rule_name ? $source : $source->get_first_descendant_node( 'userVariable' );
			$text     = null === $variable
				? $this->execute_sqlite_query( 'SELECT ' . $this->translate( $source ) )->fetchColumn()
				: ( $this->user_variables[ $this->variable_name( $variable ) ] ?? '' );

			$this->more_prepared[ $name ] = (string) $text;
			return true;
		}
		if ( ! isset( $this->more_prepared[ $name ] ) ) {
			throw $this->new_driver_exception( "SQLSTATE[HY000]: General error: 1243 Unknown prepared statement handler ($name) given", 'HY000' );
		}
		if ( 'EXECUTE' !== $word ) {
			unset( $this->more_prepared[ $name ] );
			return true;
		}
		$values = array();
		$list   = $node->get_first_child_node( 'executeVarList' );
		foreach ( null === $list ? array() : $list->get_child_nodes( 'userVariable' ) as $variable ) {
			$value    = $this->user_variables[ $this->variable_name( $variable ) ] ?? null;
			$values[] = null === $value ? 'NULL' : ( is_string( $value ) ? $this->quote_mysql_utf8_string_literal( $value ) : (string) $value );
		}
		$query = preg_replace_callback(
			'/\'(?:[^\'\\\\]|\\\\.|\'\')*\'|"(?:[^"\\\\]|\\\\.|"")*"|`[^`]*`|\?/s',
			function ( $match ) use ( &$values ) {
				return '?' === $match[0] ? (string) ( array_shift( $values ) ?? 'NULL' ) : $match[0];
			},
			$this->more_prepared[ $name ]
		);
		$this->run_mysql( $query );
		return true;
	}

	private function execute_more_set( WP_Parser_Node $node ): bool {
		if ( preg_match( '/^\s*SET\s+(?:SESSION\s+|LOCAL\s+|@@\w*\.?)?TRANSACTION\b/i', $this->last_mysql_query ) ) {
			// SQLite has one level, the strictest.
			$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
			return true;
		}
		if ( preg_match( '/^\s*SET\s+NAMES\s+[\'"]?(\w+)/i', $this->last_mysql_query, $match ) && ! preg_match( '/^(utf8|utf8mb3|utf8mb4|latin1|latin2|ascii|binary|ucs2|utf16|utf32|cp\w+|default|koi8r|greek|hebrew|sjis|big5|gbk|gb2312|euckr|ujis)$/i', $match[1] ) ) {
			throw $this->new_driver_exception( "SQLSTATE[42000]: Syntax error or access violation: 1115 Unknown character set: '{$match[1]}'", '42000' );
		}
		return false;
	}

	// Views: their queries are kept as MySQL, and put in wherever they are named. SQLite's own would hold Stead's functions.

	/** @var array|null Columns and query of each view, by name. */
	private $more_views = null;

	private function views(): array {
		if ( null === $this->more_views ) {
			$this->more_views = array();
			$rows             = $this->connection->query( 'SELECT name, value FROM ' . self::GLOBAL_VARIABLES_TABLE_NAME . " WHERE name > 'stead_view:' AND name < 'stead_view;'" );
			foreach ( $rows->fetchAll( PDO::FETCH_NUM ) as list( $name, $value ) ) {
				$this->more_views[ substr( $name, strlen( 'stead_view:' ) ) ] = json_decode( $value, true );
			}
		}
		return $this->more_views;
	}

	private function execute_create_view( WP_Parser_Node $node ): bool {
		$create = $node->get_first_child_node( 'createView' );
		if ( null === $create ) {
			return false;
		}
		$name_node = $create->get_first_child_node( 'viewName' );
		$parts     = $name_node->get_descendant_nodes( 'identifier' );
		$name      = $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) );
		$replaces  = $create->has_child_node( 'viewReplaceOrAlgorithm' ) && null !== $create->get_first_child_node( 'viewReplaceOrAlgorithm' )->get_first_descendant_token( WP_MySQL_Lexer::REPLACE_SYMBOL );
		$exists    = isset( $this->views()[ $name ] );
		if ( array() !== $this->columns_of( $name ) || ( $exists && ! $replaces ) ) {
			throw $this->new_driver_exception( "SQLSTATE[42S01]: Base table or view already exists: 1050 Table '$name' already exists", '42S01' );
		}
		$tail    = $create->get_first_child_node( 'viewTail' );
		$list    = $tail->get_first_child_node( 'columnInternalRefList' );
		$columns = array();
		foreach ( null === $list ? array() : $list->get_child_nodes() as $column ) {
			$columns[] = $this->unquote_sqlite_identifier( (string) $this->translate( $column ) );
		}
		$query = $tail->get_first_child_node( 'viewSelect' );
		$sql   = substr( $this->last_mysql_query, $query->get_start(), $query->get_length() );
		$sql   = preg_replace( '/\s+WITH\s+(?:CASCADED\s+|LOCAL\s+)?CHECK\s+OPTION\s*$/i', '', $sql );
		// What cannot be asked is no view.
		$stmt  = $this->execute_sqlite_query( 'SELECT * FROM (' . $this->translate( $query->get_first_child_node() ) . ') LIMIT 0' );
		$names = array();
		for ( $i = 0; $i < $stmt->columnCount(); $i++ ) {
			$names[] = $stmt->getColumnMeta( $i )['name'];
		}
		if ( array() !== $columns && count( $columns ) !== count( $names ) ) {
			throw $this->new_driver_exception( "SQLSTATE[HY000]: General error: 1353 View's SELECT and view's field list have different column counts", 'HY000' );
		}
		$this->execute_sqlite_query(
			'INSERT OR REPLACE INTO ' . self::GLOBAL_VARIABLES_TABLE_NAME . ' (name, value) VALUES (?, ?)',
			array(
				'stead_view:' . $name,
				json_encode(
					array(
						'columns' => array() === $columns ? $names : $columns,
						'names'   => $names,
						'query'   => $sql,
					)
				),
			)
		);
		$this->more_views            = null;
		$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
		return true;
	}

	private function execute_drop_view( WP_Parser_Node $node ): bool {
		$drop = $node->get_first_child_node( 'dropView' );
		if ( null === $drop ) {
			return false;
		}
		$names = array();
		foreach ( $drop->get_first_child_node( 'viewRefList' )->get_child_nodes() as $view ) {
			$parts = $view->get_descendant_nodes( 'identifier' );
			$name  = $this->unquote_sqlite_identifier( (string) $this->translate( end( $parts ) ) );
			if ( ! isset( $this->views()[ $name ] ) && ! $drop->has_child_node( 'ifExists' ) ) {
				throw $this->new_driver_exception( "SQLSTATE[42S02]: Base table or view not found: 4092 Unknown VIEW: '{$this->db_name}.$name'", '42S02' );
			}
			$names[] = 'stead_view:' . $name;
		}
		foreach ( $names as $name ) {
			$this->execute_sqlite_query( 'DELETE FROM ' . self::GLOBAL_VARIABLES_TABLE_NAME . ' WHERE name = ?', array( $name ) );
		}
		$this->more_views            = null;
		$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
		return true;
	}

	/** How deep views stand in views. */
	private $more_view_depth = 0;

	/** The query of a view, where a table is named, or null when it is none. */
	private function translate_view( string $name ): ?string {
		$view = $this->views()[ $name ] ?? null;
		if ( null === $view ) {
			return null;
		}
		if ( ++$this->more_view_depth > 16 ) {
			throw $this->new_driver_exception( "Views stand in one another too deeply at '$name'." );
		}
		$outer                  = array( $this->last_mysql_query, $this->more_statement );
		$this->last_mysql_query = $view['query'];
		try {
			$tree = $this->create_parser( $view['query'] )->parse();
			if ( null === $tree ) {
				throw $this->new_driver_exception( "The query of the view '$name' cannot be read." );
			}
			$this->more_statement = $tree;
			$query                = $this->translate( $tree->get_first_descendant_node( 'queryExpression' ) );
		} finally {
			list( $this->last_mysql_query, $this->more_statement ) = $outer;
			--$this->more_view_depth;
		}
		$columns = array();
		foreach ( $view['columns'] as $i => $column ) {
			$columns[] = $this->quote_sqlite_identifier( $view['names'][ $i ] ) . ' AS ' . $this->quote_sqlite_identifier( $column );
		}
		return '(SELECT ' . implode( ', ', $columns ) . " FROM ($query))";
	}

	// ALTER TABLE.

	/** Whether the rest of an ALTER TABLE is left to upstream. */
	private $more_alters = false;

	/** ALTER TABLE with what upstream leaves out: places of columns, new names, defaults, collations, engine and comment. */
	private function execute_more_alter( WP_Parser_Node $node ): bool {
		$alter = $node->get_first_child_node( 'alterTable' );
		if ( null === $alter || $this->more_alters ) {
			return false;
		}
		$table   = $this->unquote_sqlite_identifier( (string) $this->translate( $alter->get_first_child_node( 'tableRef' ) ) );
		$columns = $this->columns_of( $table );
		if ( array() === $columns ) {
			return false;
		}
		$schema     = $this->get_saved_db_name();
		$builder    = $this->information_schema_builder;
		$is_temp    = $builder->temporary_table_exists( $table );
		$in         = function ( string $kind ) use ( $builder, $is_temp ) {
			return $this->quote_sqlite_identifier( $builder->get_table_name( $is_temp, $kind ) );
		};
		$name_of    = function ( ?WP_Parser_Node $name ) {
			return null === $name ? '' : $this->unquote_sqlite_identifier( (string) $this->translate( $name ) );
		};
		$rest       = array();
		$after      = array();
		$recreates  = false;
		$sets       = array();
		$places     = array();
		$collations = array();
		foreach ( $alter->get_descendant_nodes( 'alterListItem' ) as $item ) {
			$text  = substr( $this->last_mysql_query, $item->get_start(), $item->get_length() );
			$word  = strtoupper( $item->get_first_child_token()->get_value() );
			$field = $item->get_first_child_node( 'fieldIdentifier' );
			$place = $item->get_first_child_node( 'place' );
			if ( 'RENAME' === $word && $item->has_child_token( WP_MySQL_Lexer::COLUMN_SYMBOL ) ) {
				$after[] = array( 'rename', $name_of( $field ), $name_of( $item->get_first_child_node( 'identifier' ) ) );
			} elseif ( 'RENAME' === $word && $item->has_child_node( 'keyOrIndex' ) ) {
				$after[] = array( 'index', $name_of( $item->get_first_child_node( 'indexRef' ) ), $name_of( $item->get_first_child_node( 'indexName' ) ) );
			} elseif ( 'ALTER' === $word && null !== $field ) {
				$value   = $item->get_first_child_node( 'signedLiteral' ) ?? $item->get_first_child_node( 'exprWithParentheses' );
				$after[] = array( 'default', $name_of( $field ), null === $value ? null : (string) $this->execute_sqlite_query( 'SELECT ' . $this->translate( $value ) )->fetchColumn() );
			} elseif ( 'CONVERT' === $word ) {
				$collations[] = array( 'CONVERT', $text );
			} elseif ( 'DROP' === $word && null !== $field && ! $item->has_child_token( WP_MySQL_Lexer::FOREIGN_SYMBOL ) && ! isset( $columns[ strtolower( $name_of( $field ) ) ] ) ) {
				throw $this->cannot_drop( $name_of( $field ) );
			} elseif ( 'DROP' === $word && ( $item->has_child_node( 'keyOrIndex' ) || $item->has_child_token( WP_MySQL_Lexer::FOREIGN_SYMBOL ) ) ) {
				$key   = $name_of( $item->get_first_child_node( 'indexRef' ) ?? $field );
				$kind  = $item->has_child_token( WP_MySQL_Lexer::FOREIGN_SYMBOL ) ? 'table_constraints' : 'statistics';
				$found = $this->execute_sqlite_query(
					sprintf( 'SELECT 1 FROM %s WHERE table_schema = ? AND table_name = ? AND %s = ? COLLATE NOCASE', $in( $kind ), 'statistics' === $kind ? 'index_name' : 'constraint_name' ),
					array( $schema, $table, $key )
				)->fetchColumn();
				if ( ! $found ) {
					throw $this->cannot_drop( $key );
				}
				$rest[] = $text;
			} else {
				$rest[] = $text;
				if ( null !== $place ) {
					$column   = $name_of( $item->get_first_child_node( 'identifier' ) ?? $field );
					$parts    = $place->get_descendant_nodes( 'identifier' );
					$places[] = array( $column, array() === $parts ? null : $name_of( end( $parts ) ) );
				}
			}
		}
		foreach ( $alter->get_descendant_nodes( 'createTableOption' ) as $option ) {
			$text = substr( $this->last_mysql_query, $option->get_start(), $option->get_length() );
			if ( preg_match( '/^ENGINE\s*=?\s*(\w+)/i', $text, $match ) ) {
				$engines      = array_column( $this->engines(), 0 );
				$at           = array_search( strtolower( $match[1] ), array_map( 'strtolower', $engines ), true );
				$sets['engine'] = false === $at ? 'InnoDB' : $engines[ $at ];
			} elseif ( preg_match( '/^COMMENT\b/i', $text ) ) {
				$sets['table_comment'] = (string) $this->execute_sqlite_query( 'SELECT ' . $this->translate( $option->get_first_descendant_node( 'textStringLiteral' ) ) )->fetchColumn();
			} elseif ( preg_match( '/\b(?:CHARSET|CHARACTER\s+SET|COLLATE)\b/i', $text ) ) {
				$collations[] = array( 'DEFAULT', $text );
			} elseif ( preg_match( '/^AUTO_INCREMENT\b/i', $text ) ) {
				$rest[] = $text;
			}
		}
		if ( array() === $after && array() === $places && array() === $collations && array() === $sets ) {
			return false;
		}
		if ( array() !== $rest ) {
			$this->more_alters = true;
			try {
				$this->run_mysql( 'ALTER TABLE ' . $this->quote_mysql_identifier( $table ) . ' ' . implode( ', ', $rest ) );
			} finally {
				$this->more_alters = false;
			}
		}
		$this->more_columns = array();
		foreach ( $after as list( $what, $old, $new ) ) {
			if ( 'index' !== $what && null === $this->column_type( $table, $old ) ) {
				throw $this->new_driver_exception( "SQLSTATE[42S22]: Column not found: 1054 Unknown column '$old' in '$table'", '42S22' );
			}
			$by = array( $schema, $table, $old );
			if ( 'rename' === $what ) {
				$this->execute_sqlite_query( sprintf( 'ALTER TABLE %s RENAME COLUMN %s TO %s', $this->quote_sqlite_identifier( $table ), $this->quote_sqlite_identifier( $old ), $this->quote_sqlite_identifier( $new ) ) );
				foreach ( array( 'columns', 'statistics', 'key_column_usage' ) as $kind ) {
					$this->execute_sqlite_query( sprintf( 'UPDATE %s SET column_name = ? WHERE table_schema = ? AND table_name = ? AND column_name = ? COLLATE NOCASE', $in( $kind ) ), array_merge( array( $new ), $by ) );
				}
			} elseif ( 'index' === $what ) {
				$count = $this->execute_sqlite_query( sprintf( 'UPDATE %s SET index_name = ? WHERE table_schema = ? AND table_name = ? AND index_name = ? COLLATE NOCASE', $in( 'statistics' ) ), array_merge( array( $new ), $by ) )->rowCount();
				if ( 0 === $count ) {
					throw $this->new_driver_exception( "SQLSTATE[42000]: Syntax error or access violation: 1176 Key '$old' doesn't exist in table '$table'", '42000' );
				}
				$recreates = true;
			} else {
				$column = $this->column_type( $table, $old );
				if ( null !== $new && 'number' === $this->kind_of_type( $column['DATA_TYPE'] ) && ! is_numeric( $new ) ) {
					throw $this->new_driver_exception( "SQLSTATE[42000]: Syntax error or access violation: 1067 Invalid default value for '$old'", '42000' );
				}
				$this->execute_sqlite_query( sprintf( 'UPDATE %s SET column_default = ? WHERE table_schema = ? AND table_name = ? AND column_name = ? COLLATE NOCASE', $in( 'columns' ) ), array_merge( array( $new ), $by ) );
				$recreates = true;
			}
			$this->more_columns = array();
		}
		foreach ( $sets as $column => $value ) {
			$this->execute_sqlite_query( sprintf( 'UPDATE %s SET %s = ? WHERE table_schema = ? AND table_name = ?', $in( 'tables' ), $column ), array( $value, $schema, $table ) );
		}
		foreach ( $collations as list( $what, $text ) ) {
			$collation = preg_match( '/COLLATE\s*=?\s*[\'"]?(\w+)/i', $text, $match ) ? strtolower( $match[1] ) : null;
			$charset   = preg_match( '/(?:CHARSET|CHARACTER\s+SET)\s*=?\s*[\'"]?(\w+)/i', $text, $match ) ? strtolower( $match[1] ) : null;
			$defaults  = array(
				'utf8mb4' => 'utf8mb4_unicode_520_ci',
				'latin1'  => 'latin1_swedish_ci',
				'binary'  => 'binary',
			);
			$collation = $collation ?? $defaults[ $charset ] ?? ( $charset . '_general_ci' );
			$this->execute_sqlite_query( sprintf( 'UPDATE %s SET table_collation = ? WHERE table_schema = ? AND table_name = ?', $in( 'tables' ) ), array( $collation, $schema, $table ) );
			if ( 'CONVERT' === $what ) {
				$this->execute_sqlite_query(
					sprintf( 'UPDATE %s SET collation_name = ?, character_set_name = ? WHERE table_schema = ? AND table_name = ? AND collation_name IS NOT NULL', $in( 'columns' ) ),
					array( $collation, explode( '_', $collation )[0], $schema, $table )
				);
				$recreates = true;
			}
		}
		if ( array() !== $places ) {
			$names = $this->execute_sqlite_query( sprintf( 'SELECT column_name FROM %s WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position', $in( 'columns' ) ), array( $schema, $table ) )->fetchAll( PDO::FETCH_COLUMN );
			foreach ( $places as list( $column, $behind ) ) {
				$names = array_values( array_filter( $names, function ( $name ) use ( $column ) { return 0 !== strcasecmp( $name, $column ); } ) );
				$at    = null === $behind ? -1 : array_search( strtolower( $behind ), array_map( 'strtolower', $names ), true );
				if ( false === $at ) {
					throw $this->new_driver_exception( "SQLSTATE[42S22]: Column not found: 1054 Unknown column '$behind' in '$table'", '42S22' );
				}
				array_splice( $names, $at + 1, 0, array( $column ) );
			}
			foreach ( $names as $i => $name ) {
				$this->execute_sqlite_query( sprintf( 'UPDATE %s SET ordinal_position = ? WHERE table_schema = ? AND table_name = ? AND column_name = ? COLLATE NOCASE', $in( 'columns' ) ), array( $i + 1, $schema, $table, $name ) );
			}
			$recreates = true;
		}
		if ( $recreates ) {
			$this->recreate_table_from_information_schema( $is_temp, $table );
		}
		$this->more_columns          = array();
		$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
		return true;
	}

	private function cannot_drop( string $name ): Throwable {
		return $this->new_driver_exception( "SQLSTATE[42000]: Syntax error or access violation: 1091 Can't DROP '$name'; check that column/key exists", '42000' );
	}

	/** What follows the type of a column that is computed, '' for any other; null when SQLite cannot compute it. */
	private function generated( array $column ): ?string {
		if ( ! preg_match( '/(STORED|VIRTUAL) GENERATED/', $column['EXTRA'], $match ) || '' === (string) $column['GENERATION_EXPRESSION'] ) {
			return '';
		}
		$outer                  = $this->last_mysql_query;
		$this->last_mysql_query = 'SELECT ' . $column['GENERATION_EXPRESSION'];
		try {
			$tree = $this->create_parser( $this->last_mysql_query )->parse();
			$sql  = null === $tree ? null : $this->translate( $tree->get_first_descendant_node( 'selectItem' )->get_first_child_node() );
		} finally {
			$this->last_mysql_query = $outer;
		}
		if ( null === $sql || preg_match( '/\bmysql_|stead_ci|\bREGEXP\b|_helper_|CURRENT_|RANDOM/', $sql ) ) {
			Stead_Failed_Statements::tell( $outer, "the generated column '{$column['COLUMN_NAME']}' stays empty on this database: what computes it has no part of SQLite's own" );
			return null;
		}
		return " GENERATED ALWAYS AS ($sql) {$match[1]}";
	}

	/** Names of the columns of a table that are computed. */
	private function generated_of( string $table ): array {
		$names = array();
		foreach ( $this->columns_of( $table ) as $name => $column ) {
			if ( '' !== $column['EXTRA'] && preg_match( '/(STORED|VIRTUAL) GENERATED/', (string) $column['EXTRA'] ) ) {
				$names[] = $name;
			}
		}
		if ( array() === $names ) {
			return array();
		}
		// Some stay plain columns.
		$plain = $this->execute_sqlite_query( 'SELECT LOWER(name) FROM pragma_table_xinfo(?) WHERE hidden IN (0, 1)', array( $table ) )->fetchAll( PDO::FETCH_COLUMN );
		return array_values( array_diff( $names, $plain ) );
	}

	// What tables look like, as MariaDB shows it.

	/** OPTIMIZE TABLE, with the note that InnoDB adds. */
	private function execute_optimize( WP_Parser_Node $node ): bool {
		if ( ! preg_match( '/^\s*(OPTIMIZE|REPAIR)\b/i', $this->last_mysql_query, $match ) ) {
			return false;
		}
		$repairs = 'REPAIR' === strtoupper( $match[1] );
		$this->execute_administration_statement( $node );
		$rows = array();
		foreach ( $this->last_result_statement->fetchAll( PDO::FETCH_NUM ) as $row ) {
			if ( 'status' === $row[2] && 'OK' === $row[3] && 'InnoDB' === $this->engine_of( substr( $row[0], strpos( $row[0], '.' ) + 1 ) ) ) {
				$rows[] = array( $row[0], $row[1], 'note', $repairs ? "The storage engine for the table doesn't support repair" : 'Table does not support optimize, doing recreate + analyze instead' );
				if ( $repairs ) {
					continue;
				}
			}
			$rows[] = $row;
		}
		$this->answer_filtered( array( 'Table', 'Op', 'Msg_type', 'Msg_text' ), $rows, null );
		return true;
	}

	private function engine_of( string $table ): string {
		return (string) $this->execute_sqlite_query(
			sprintf( 'SELECT engine FROM %s WHERE table_schema = ? AND table_name = ?', $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( false, 'tables' ) ) ),
			array( $this->get_saved_db_name(), $table )
		)->fetchColumn();
	}

	private static $shown_types = array(
		'tinyint'            => 'tinyint(4)',
		'tinyint unsigned'   => 'tinyint(3) unsigned',
		'smallint'           => 'smallint(6)',
		'smallint unsigned'  => 'smallint(5) unsigned',
		'mediumint'          => 'mediumint(9)',
		'mediumint unsigned' => 'mediumint(8) unsigned',
		'int'                => 'int(11)',
		'int unsigned'       => 'int(10) unsigned',
		'bigint'             => 'bigint(20)',
		'bigint unsigned'    => 'bigint(20) unsigned',
		'year'               => 'year(4)',
		'json'               => 'longtext',
	);

	/** An expression that shows a type with its width. */
	private function shown_type(): string {
		$cases = '';
		foreach ( self::$shown_types as $type => $shown ) {
			$cases .= " WHEN '$type' THEN '$shown'";
		}
		return "CASE column_type$cases ELSE column_type END";
	}

	/** The type of a column in SHOW CREATE TABLE, with its collation where that is not the table's. */
	private function shown_column_type( array $column, array $table ): string {
		$type      = self::$shown_types[ $column['COLUMN_TYPE'] ] ?? $column['COLUMN_TYPE'];
		$collation = str_replace( 'utf8mb4_0900_ai_ci', 'utf8mb4_unicode_520_ci', (string) $column['COLLATION_NAME'] );
		$default   = str_replace( 'utf8mb4_0900_ai_ci', 'utf8mb4_unicode_520_ci', (string) $table['TABLE_COLLATION'] );
		if ( 'json' === $column['DATA_TYPE'] ) {
			return 'longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
		}
		return '' === $collation || $collation === $default ? $type : sprintf( '%s CHARACTER SET %s COLLATE %s', $type, explode( '_', $collation )[0], $collation );
	}

	/** A column as it is copied into a table that may hold no NULL there. */
	private function copied_column( string $table, string $old, string $new ): string {
		$column = $this->column_type( $table, $new );
		$sql    = $this->quote_sqlite_identifier( $old );
		$zero   = null === $column || 'NO' !== $column['IS_NULLABLE'] || '' !== $column['EXTRA'] ? null : ( self::DATA_TYPE_IMPLICIT_DEFAULT_MAP[ $column['DATA_TYPE'] ] ?? null );
		return null === $zero ? $sql : sprintf( 'COALESCE(%s, %s)', $sql, $this->quote_sqlite_value( $zero ) );
	}

	/** Columns that a copy of a table gets besides those it copies: none of them may be NULL, and their table has no default. */
	private function implicit_columns( bool $is_temporary, string $table, array $copied ): array {
		$this->more_columns = array();
		$implicit           = array();
		$copied             = array_map( 'strtolower', $copied );
		foreach ( $this->columns_of( $table ) as $name => $column ) {
			$zero = self::DATA_TYPE_IMPLICIT_DEFAULT_MAP[ $column['DATA_TYPE'] ] ?? null;
			if ( 'NO' === $column['IS_NULLABLE'] && null === $column['COLUMN_DEFAULT'] && null !== $zero && '' === $column['EXTRA'] && ! in_array( $name, $copied, true ) ) {
				$implicit[ $column['COLUMN_NAME'] ] = $this->quote_sqlite_value( $zero );
			}
		}
		return $implicit;
	}

	/** Tables of the information schema that hold what every server says, or nothing. */
	private function translate_schema_table( string $name ): ?string {
		$tables = array(
			'engines'           => array( array( 'ENGINE', 'SUPPORT', 'COMMENT', 'TRANSACTIONS', 'XA', 'SAVEPOINTS' ), 'engines' ),
			'plugins'           => array( array( 'PLUGIN_NAME', 'PLUGIN_VERSION', 'PLUGIN_STATUS', 'PLUGIN_TYPE' ), 'shown_plugins' ),
			'processlist'       => array( array( 'ID', 'USER', 'HOST', 'DB', 'COMMAND', 'TIME', 'STATE', 'INFO' ), null ),
			'triggers'          => array( array( 'TRIGGER_CATALOG', 'TRIGGER_SCHEMA', 'TRIGGER_NAME', 'EVENT_MANIPULATION', 'EVENT_OBJECT_CATALOG', 'EVENT_OBJECT_SCHEMA', 'EVENT_OBJECT_TABLE', 'ACTION_ORDER', 'ACTION_CONDITION', 'ACTION_STATEMENT', 'ACTION_ORIENTATION', 'ACTION_TIMING', 'CREATED', 'SQL_MODE', 'DEFINER' ), null ),
			'routines'          => array( array( 'SPECIFIC_NAME', 'ROUTINE_CATALOG', 'ROUTINE_SCHEMA', 'ROUTINE_NAME', 'ROUTINE_TYPE', 'DATA_TYPE', 'ROUTINE_DEFINITION', 'CREATED', 'LAST_ALTERED', 'DEFINER' ), null ),
			'parameters'        => array( array( 'SPECIFIC_SCHEMA', 'SPECIFIC_NAME', 'PARAMETER_NAME', 'DATA_TYPE' ), null ),
			'events'            => array( array( 'EVENT_SCHEMA', 'EVENT_NAME', 'DEFINER', 'STATUS', 'EVENT_DEFINITION' ), null ),
			'partitions'        => array( array( 'TABLE_SCHEMA', 'TABLE_NAME', 'PARTITION_NAME', 'TABLE_ROWS' ), null ),
			'files'             => array( array( 'FILE_ID', 'FILE_NAME', 'TABLE_SCHEMA', 'TABLE_NAME' ), null ),
			'global_variables'  => array( array( 'VARIABLE_NAME', 'VARIABLE_VALUE' ), 'shown_variables' ),
			'session_variables' => array( array( 'VARIABLE_NAME', 'VARIABLE_VALUE' ), 'shown_variables' ),
			'global_status'     => array( array( 'VARIABLE_NAME', 'VARIABLE_VALUE' ), null ),
			'session_status'    => array( array( 'VARIABLE_NAME', 'VARIABLE_VALUE' ), null ),
			'views'             => array( array( 'TABLE_SCHEMA', 'TABLE_NAME', 'VIEW_DEFINITION', 'CHECK_OPTION', 'IS_UPDATABLE' ), 'shown_views' ),
		);
		if ( ! isset( $tables[ $name ] ) ) {
			return null;
		}
		list( $columns, $from ) = $tables[ $name ];
		$names                  = array();
		foreach ( $columns as $i => $column ) {
			$names[] = 'column' . ( $i + 1 ) . ' COLLATE NOCASE AS ' . $this->quote_sqlite_identifier( $column );
		}
		$lists = array();
		foreach ( null === $from ? array() : $this->$from() as $row ) {
			$lists[] = '(' . implode( ', ', array_map( array( $this, 'quoted_or_null' ), $row ) ) . ')';
		}
		$where = '';
		if ( array() === $lists ) {
			$lists[] = '(' . implode( ', ', array_fill( 0, count( $columns ), 'NULL' ) ) . ')';
			$where   = ' WHERE FALSE';
		}
		return '(SELECT ' . implode( ', ', $names ) . ' FROM (VALUES ' . implode( ', ', $lists ) . ")$where)";
	}

	private function shown_plugins(): array {
		return array( array( 'InnoDB', '10.11', 'ACTIVE', 'STORAGE ENGINE' ) );
	}

	private function shown_variables(): array {
		$rows = array();
		foreach ( $this->known_variables() as $name => $value ) {
			$rows[] = array( strtoupper( $name ), $this->shown( $value ) );
		}
		return $rows;
	}

	/** Rows for the views in the table of tables. */
	private function views_among_tables( array $columns ): string {
		$sql = '';
		foreach ( array_keys( $this->views() ) as $name ) {
			$values = array();
			foreach ( $columns as $column ) {
				$known    = array(
					'TABLE_CATALOG' => 'def',
					'TABLE_SCHEMA'  => $this->main_db_name,
					'TABLE_NAME'    => $name,
					'TABLE_TYPE'    => 'VIEW',
					'TABLE_COMMENT' => 'VIEW',
				);
				$values[] = $this->quoted_or_null( $known[ $column ] ?? null );
			}
			$sql .= ' UNION ALL SELECT ' . implode( ', ', $values );
		}
		return $sql;
	}

	private function shown_views(): array {
		$rows = array();
		foreach ( $this->views() as $name => $view ) {
			$rows[] = array( $this->main_db_name, $name, $view['query'], 'NONE', 'NO' );
		}
		return $rows;
	}

	/** A column of the information schema as MariaDB shows it, null for upstream's. */
	private function shown_schema_column( string $table, string $column ): ?string {
		if ( 'columns' === $table ) {
			switch ( $column ) {
				case 'COLUMN_TYPE':
					return $this->shown_type();
				case 'COLUMN_KEY':
					return str_replace( $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( false, 'columns' ) ) . '.', '`columns`.', $this->shown_key( false ) );
				case 'COLUMN_DEFAULT':
					return $this->shown_default();
				case 'COLLATION_NAME':
					return $this->shown_collation( 'collation_name' );
			}
		}
		if ( 'tables' === $table ) {
			if ( 'TABLE_COLLATION' === $column ) {
				return $this->shown_collation( 'table_collation' );
			}
			// Rows are counted, and pages read, only for who asks.
			$asks = preg_match( '/table_rows|data_length|index_length|avg_row_length|\*/i', $this->last_mysql_query );
			if ( $asks && in_array( $column, array( 'TABLE_ROWS', 'DATA_LENGTH', 'INDEX_LENGTH', 'AVG_ROW_LENGTH' ), true ) ) {
				$cases = '';
				foreach ( $this->measured_tables() as $name => $row ) {
					$cases .= ' WHEN ' . $this->quote_sqlite_value( $name ) . ' THEN ' . $row[ $column ];
				}
				return '' === $cases ? null : "CASE table_name$cases ELSE 0 END";
			}
		}
		return null;
	}

	private $more_measured = null;

	/** Rows and bytes of each table, once for a statement. */
	private function measured_tables(): array {
		if ( null !== $this->more_measured && $this->more_measured[0] === $this->more_statement ) {
			return $this->more_measured[1];
		}
		$names    = $this->execute_sqlite_query(
			sprintf( "SELECT table_name FROM %s WHERE table_schema = ? AND table_type = 'BASE TABLE'", $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( false, 'tables' ) ) ),
			array( $this->get_saved_db_name() )
		)->fetchAll( PDO::FETCH_COLUMN );
		$counts   = array();
		foreach ( $names as $name ) {
			$counts[ $name ] = $this->table_rows( $name );
		}
		$sizes = $this->table_sizes();
		if ( array() === $sizes ) {
			$sizes = $this->spread_sizes( $counts );
		}
		$measured = array();
		foreach ( $names as $name ) {
			$index = 0;
			foreach ( $sizes as $part => $bytes ) {
				$index += 0 === strpos( $part, $name . '__' ) || 0 === strpos( $part, "sqlite_autoindex_{$name}_" ) ? $bytes : 0;
			}
			$rows              = $counts[ $name ];
			$bytes             = (int) ( $sizes[ $name ] ?? 0 );
			$measured[ $name ] = array(
				'TABLE_ROWS'     => $rows,
				'DATA_LENGTH'    => $bytes,
				'INDEX_LENGTH'   => $index,
				'AVG_ROW_LENGTH' => $rows > 0 ? intdiv( $bytes, $rows ) : 0,
			);
		}
		$this->more_measured = array( $this->more_statement, $measured );
		return $measured;
	}

	/**
	 * The key that a column is first in, by the indexes of its table: only a key of one column makes it unique. Without a
	 * primary key, the first unique key of whole columns that are never NULL is shown as one.
	 */
	private function shown_key( bool $is_temporary ): string {
		$statistics = $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( $is_temporary, 'statistics' ) );
		$columns    = $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( $is_temporary, 'columns' ) );
		$of_column  = "FROM $statistics AS s WHERE s.table_schema = $columns.table_schema AND s.table_name = $columns.table_name
			AND s.column_name = $columns.column_name";
		$in_place   = "SELECT k.index_name FROM $statistics AS k WHERE k.table_schema = $columns.table_schema
			AND k.table_name = $columns.table_name AND k.non_unique = 0 GROUP BY k.index_name
			HAVING k.index_name = 'PRIMARY' OR MAX(k.nullable = 'YES' OR k.sub_part IS NOT NULL) = 0
			ORDER BY k.index_name <> 'PRIMARY', MIN(k.rowid) LIMIT 1";
		return "CASE
			WHEN EXISTS (SELECT 1 $of_column AND s.index_name = ($in_place)) THEN 'PRI'
			WHEN EXISTS (SELECT 1 $of_column AND s.non_unique = 0 AND s.seq_in_index = 1 AND NOT EXISTS (
				SELECT 1 FROM $statistics AS more WHERE more.table_schema = s.table_schema AND more.table_name = s.table_name
				AND more.index_name = s.index_name AND more.seq_in_index = 2
			)) THEN 'UNI'
			WHEN EXISTS (SELECT 1 $of_column AND s.seq_in_index = 1) THEN 'MUL'
			ELSE '' END";
	}

	/** A default with the digits that its decimal has. */
	private function shown_default(): string {
		return "CASE WHEN data_type = 'decimal' AND column_default GLOB '[-0-9]*' THEN PRINTF(CHAR(37) || '.' || numeric_scale || 'f', column_default) WHEN column_default = 'CURRENT_TIMESTAMP' AND data_type IN ('datetime', 'timestamp') THEN 'current_timestamp()' ELSE column_default END";
	}

	/** What else is said of a column, in MariaDB's words, as SHOW CREATE TABLE has them. */
	private function shown_extra(): string {
		return "TRIM(REPLACE(REPLACE(extra, 'DEFAULT_GENERATED', ''), 'on update CURRENT_TIMESTAMP', 'on update current_timestamp()'))";
	}

	private function shown_collation( string $column ): string {
		return "REPLACE($column, 'utf8mb4_0900_ai_ci', 'utf8mb4_unicode_520_ci')";
	}

	/** @return string[] Modes as MariaDB names them. */
	private function shown_modes(): array {
		$modes = $this->get_active_sql_mode_names();
		if ( in_array( 'NO_ENGINE_SUBSTITUTION', $modes, true ) && ! in_array( 'NO_AUTO_CREATE_USER', $modes, true ) ) {
			$modes[] = 'NO_AUTO_CREATE_USER';
			// In its own order.
			$modes = array_merge( array_diff( $modes, array( 'NO_AUTO_CREATE_USER', 'NO_ENGINE_SUBSTITUTION' ) ), array( 'NO_AUTO_CREATE_USER', 'NO_ENGINE_SUBSTITUTION' ) );
		}
		return $modes;
	}

	private function engines(): array {
		return array(
			array( 'CSV', 'YES', 'Stores tables as CSV files', 'NO', 'NO', 'NO' ),
			array( 'MRG_MyISAM', 'YES', 'Collection of identical MyISAM tables', 'NO', 'NO', 'NO' ),
			array( 'MEMORY', 'YES', 'Hash based, stored in memory, useful for temporary tables', 'NO', 'NO', 'NO' ),
			array( 'Aria', 'YES', 'Crash-safe tables with MyISAM heritage. Used for internal temporary tables and privilege tables', 'NO', 'NO', 'NO' ),
			array( 'MyISAM', 'YES', 'Non-transactional engine with good performance and small data footprint', 'NO', 'NO', 'NO' ),
			array( 'SEQUENCE', 'YES', 'Generated tables filled with sequential values', 'YES', 'NO', 'YES' ),
			array( 'InnoDB', 'DEFAULT', 'Supports transactions, row-level locking, foreign keys and encryption for tables', 'YES', 'YES', 'YES' ),
			array( 'PERFORMANCE_SCHEMA', 'YES', 'Performance Schema', 'NO', 'NO', 'NO' ),
		);
	}

	/** Bytes of each table and index, where SQLite can tell. */
	private function table_sizes(): array {
		try {
			return $this->execute_sqlite_query( "SELECT name, SUM(pgsize) FROM dbstat WHERE aggregate = TRUE GROUP BY name" )->fetchAll( PDO::FETCH_KEY_PAIR );
		} catch ( PDOException $e ) {
			return array();
		}
	}

	/** Bytes of the whole database, by table as rows are, where SQLite cannot tell. */
	private function spread_sizes( array $rows ): array {
		$bytes = (int) $this->execute_sqlite_query( 'PRAGMA page_count' )->fetchColumn() * (int) $this->execute_sqlite_query( 'PRAGMA page_size' )->fetchColumn();
		$all   = max( 1, array_sum( $rows ) );
		return array_map(
			function ( $count ) use ( $bytes, $all ) {
				return intdiv( $bytes * $count, $all );
			},
			$rows
		);
	}

	/** SHOW TABLES, SHOW TABLE STATUS and SHOW INDEX, with views and with rows counted. */
	private function execute_show_of_tables( WP_Parser_Node $node, array $words, ?WP_Parser_Node $filter ): bool {
		$is_full = 'FULL' === ( $words[0] ?? '' );
		if ( $is_full ) {
			array_shift( $words );
		}
		$in = $node->get_first_child_node( 'inDb' );
		if ( 'TABLES' === ( $words[0] ?? '' ) && ( null === $in ? $this->db_name : $this->unquote_sqlite_identifier( (string) $this->translate( $in->get_first_child_node( 'identifier' ) ) ) ) === $this->main_db_name ) {
			$rows = $this->execute_sqlite_query(
				sprintf( "SELECT table_name, table_type FROM %s WHERE table_schema = ?", $this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( false, 'tables' ) ) ),
				array( $this->get_saved_db_name() )
			)->fetchAll( PDO::FETCH_NUM );
			foreach ( array_keys( $this->views() ) as $view ) {
				$rows[] = array( $view, 'VIEW' );
			}
			sort( $rows );
			$name = 'Tables_in_' . $this->main_db_name;
			if ( null !== $filter && preg_match( '/\bLIKE\s+([\'"])(.*)\1\s*;?\s*$/is', $this->last_mysql_query, $match ) ) {
				$name .= ' (' . stripslashes( str_replace( array( '\\_', '\\%' ), array( '\\\\_', '\\\\%' ), $match[2] ) ) . ')';
			}
			$rows = $is_full ? $rows : array_map( function ( $row ) { return array( $row[0] ); }, $rows );
			$this->answer_filtered( $is_full ? array( $name, 'Table_type' ) : array( $name ), $rows, $filter );
			return true;
		}
		if ( 'TABLE' === ( $words[0] ?? '' ) && 'STATUS' === ( $words[1] ?? '' ) ) {
			$this->execute_show_statement( $node );
			$rows = $this->last_result_statement->fetchAll( PDO::FETCH_ASSOC );
			foreach ( $rows as $i => $row ) {
				$measured   = $this->measured_tables()[ $row['Name'] ] ?? array();
				$rows[ $i ] = array_merge(
					$row,
					array(
						'Rows'             => $measured['TABLE_ROWS'] ?? 0,
						'Avg_row_length'   => $measured['AVG_ROW_LENGTH'] ?? 0,
						'Data_length'      => $measured['DATA_LENGTH'] ?? 0,
						'Index_length'     => $measured['INDEX_LENGTH'] ?? 0,
						'Collation'        => str_replace( 'utf8mb4_0900_ai_ci', 'utf8mb4_unicode_520_ci', (string) $row['Collation'] ),
						'Max_index_length' => 0,
						'Temporary'        => 'N',
					)
				);
			}
			if ( array() !== $rows ) {
				$this->answer_filtered( array_keys( $rows[0] ), array_map( 'array_values', $rows ), null );
			} else {
				$this->last_result_statement = $this->create_result_statement_from_data( array(), array() );
			}
			return true;
		}
		if ( in_array( $words[0] ?? '', array( 'INDEX', 'INDEXES', 'KEYS' ), true ) ) {
			$this->execute_show_statement( $node );
			$rows    = $this->last_result_statement->fetchAll( PDO::FETCH_ASSOC );
			$columns = array( 'Table', 'Non_unique', 'Key_name', 'Seq_in_index', 'Column_name', 'Collation', 'Cardinality', 'Sub_part', 'Packed', 'Null', 'Index_type', 'Comment', 'Index_comment', 'Ignored' );
			$count   = array() === $rows ? 0 : $this->table_rows( $rows[0]['Table'] );
			$shown   = array();
			foreach ( $rows as $row ) {
				unset( $row['Visible'], $row['Expression'] );
				$row['Cardinality'] = 'FULLTEXT' === $row['Index_type'] ? null : $count;
				$shown[]            = array_values( $row + array( 'Ignored' => 'NO' ) );
			}
			$this->answer_filtered( $columns, $shown, null );
			return true;
		}
		return false;
	}

	/** DESCRIBE of a table that is not there fails. A view stands here as its query. */
	private function require_shown_table( string $database, string $table ): void {
		if ( '(' === ( $table[0] ?? '' ) ) {
			Stead_Failed_Statements::tell_difference( $this->last_mysql_query, 'the columns of a view are not described' );
		} elseif ( 'information_schema' !== strtolower( $database ) && array() === $this->columns_of( $table ) && ! isset( $this->views()[ $table ] ) ) {
			throw $this->new_table_not_found_exception( $table );
		}
	}
}
