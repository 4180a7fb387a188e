<?php
/**
 * Of what type a computed column of an answer is, for wpdb::get_col_info(): SQLite knows only numbers and texts, and not even
 * those of a column that is NULL. Part of WP_MySQL_On_SQLite.
 */
trait Stead_MySQL_Types {
	/** Columns of SHOW that are numbers. */
	private static $numbers_of_show = array( 'code', 'non_unique', 'seq_in_index', 'cardinality', 'sub_part', '@@session.warning_count', '@@session.error_count', 'version', 'rows', 'avg_row_length', 'data_length', 'max_data_length', 'index_length', 'data_free', 'auto_increment', 'id', 'sortlen' );
	private static $functions_of_time = array( 'TIMEDIFF', 'MAKETIME', 'SEC_TO_TIME', 'TIME', 'CURTIME', 'CURRENT_TIME', 'UTC_TIME' );

	/**
	 * What is known of a column, with the type that MySQL says.
	 *
	 * @param array               $meta      As upstream has it.
	 * @param int                 $column    Its number.
	 * @param int                 $count     Of all columns.
	 * @param WP_Parser_Node|null $statement The statement, which is not the one that runs now.
	 * @param string              $query     Its text.
	 */
	private function with_type_of_mysql( array $meta, int $column, int $count, ?WP_Parser_Node $statement, string $query ): array {
		if ( null === $statement || ( '' !== $meta['table'] && null !== $this->column_type( $meta['table'], $meta['name'] ) ) ) {
			return $meta;
		}
		if ( 'selectStatement' !== $statement->rule_name ) {
			$name = strtolower( $meta['name'] );
			return $this->with_type( $meta, in_array( $name, self::$numbers_of_show, true ) ? 'bigint' : ( 'created' === $name ? 'datetime' : 'varchar' ), 0 );
		}
		$outer = array( $this->last_mysql_query, $this->more_statement );
		try {
			list( $this->last_mysql_query, $this->more_statement ) = array( $query, $statement );
			$items = $this->select_items( $statement );
			$item  = count( $items ) === $count ? $items[ $column ] : $this->item_named( $statement, $meta['name'] );
			$type  = null !== $item ? $this->type_of( $item, $statement, $meta['native_type'] ) : ( 'NULL' === $meta['native_type'] ? 'varchar' : null );
			$scale = 'decimal' === $type ? (int) $this->scale_of( $item, $statement ) : 0;
		} finally {
			list( $this->last_mysql_query, $this->more_statement ) = $outer;
		}
		return null === $type ? $meta : $this->with_type( $meta, $type, $scale );
	}

	/** What a name stands for in a list with a star. */
	private function item_named( WP_Parser_Node $statement, string $name ): ?WP_Parser_Node {
		$list = $statement->get_first_descendant_node( 'selectItemList' );
		foreach ( null === $list ? array() : $list->get_child_nodes( 'selectItem' ) as $item ) {
			$alias = $item->get_first_child_node( 'selectAlias' );
			$names = null === $alias ? array() : $alias->get_child_nodes();
			if ( $names && 0 === strcasecmp( $name, trim( (string) $this->translate( end( $names ) ), "`'" ) ) ) {
				return $item->get_first_child_node( 'expr' );
			}
		}
		return null;
	}

	private function with_type( array $meta, string $type, int $scale ): array {
		$known = self::COLUMN_INFO_MYSQL_TO_NATIVE_TYPES_MAP[ $type ] ?? null;
		if ( null !== $known ) {
			$meta['native_type'] = $known[0];
			$meta['mysqli:type'] = $known[1];
			$meta['precision']   = $known[3] ?? $scale;
		}
		return $meta;
	}

	/** A type of MySQL, null for what SQLite says. */
	private function type_of( WP_Parser_Node $item, WP_Parser_Node $statement, string $native ): ?string {
		list( $kind, , $column ) = $this->value_of( $item );
		if ( null !== $column ) {
			return $column['DATA_TYPE'];
		}
		$inner = $this->innermost( $item );
		$first = $inner->get_first_child();
		$query = 'subquery' === $inner->rule_name ? $inner : $inner->get_first_child_node( 'subquery' );
		if ( null !== $query && 'NULL' === $native ) {
			$items = $this->select_items( $query );
			return array() === $items ? null : $this->type_of( $items[0], $query, $native );
		}
		$name  = '';
		if ( in_array( $inner->rule_name, array( 'functionCall', 'runtimeFunctionCall', 'sumExpr' ), true ) ) {
			$name = strtoupper( $first instanceof WP_MySQL_Token ? $first->get_value() : $this->unquote_sqlite_identifier( (string) $this->translate( $first ) ) );
		}
		if ( in_array( $name, self::$functions_of_time, true ) ) {
			return 'time';
		}
		if ( 'CONVERT_TZ' === $name ) {
			return 'datetime';
		}
		if ( 'STR_TO_DATE' === $name ) {
			$text = substr( $this->last_mysql_query, $inner->get_start(), $inner->get_length() );
			return preg_match( '/%[HhIiklrSsTf]/', $text ) ? ( preg_match( '/%[abcDdejMmUuVvWwXxYy]/', $text ) ? 'datetime' : 'time' ) : 'date';
		}
		if ( preg_match( '/^JSON_(?:EXTRACT|VALUE|QUERY|UNQUOTE)$/', $name ) || ( 'FROM_UNIXTIME' === $name && preg_match( '/%/', substr( $this->last_mysql_query, $inner->get_start(), $inner->get_length() ) ) ) ) {
			return 'varchar';
		}
		$nodes = 'sumExpr' === $inner->rule_name ? $inner->get_child_nodes() : array();
		if ( in_array( $name, array( 'MIN', 'MAX' ), true ) && isset( $nodes[0] ) ) {
			return $this->type_of( $nodes[0], $statement, $native );
		}
		if ( 'userVariable' === $inner->rule_name && is_numeric( $this->user_variables[ $this->variable_name( $inner ) ] ?? null ) ) {
			return 'bigint';
		}
		if ( $first instanceof WP_MySQL_Token && '~' === $first->get_value() ) {
			return 'bigint';
		}
		if ( 'simpleExprBody' === $inner->rule_name && preg_match( '/^(?:CAST|CONVERT)\b.*\bTIME\s*(?:\(\d\))?\s*\)$/is', substr( $this->last_mysql_query, $inner->get_start(), $inner->get_length() ) ) ) {
			return 'time';
		}
		switch ( $kind ) {
			case 'moment':
				return 'datetime';
			case 'day':
				return 'date';
			case 'text':
				return 'varchar';
			case 'number':
				$scale = $this->scale_of( $item, $statement );
				if ( null !== $scale && ( $scale > 0 || in_array( $name, array( 'SUM', 'ROUND', 'AVG' ), true ) ) ) {
					return 'decimal';
				}
				return 'NULL' === $native ? 'bigint' : null;
		}
		if ( 'NULL' === $native && in_array( $name, array( 'GREATEST', 'LEAST', 'COALESCE', 'IFNULL', 'NULLIF', 'IF' ), true ) ) {
			$kinds = array();
			foreach ( array_slice( $this->argument_nodes( $inner, ! $first instanceof WP_MySQL_Token ), 'IF' === $name ? 1 : 0, 'NULLIF' === $name ? 1 : null ) as $argument ) {
				$kinds[] = $this->type_of( $argument, $statement, $native );
			}
			$kinds = array_unique( array_filter( $kinds ) );
			return 1 === count( $kinds ) ? end( $kinds ) : ( $kinds ? 'varchar' : null );
		}
		$is_null = 1 === preg_match( '/^\s*\(*\s*NULL\s*\)*\s*$/i', substr( $this->last_mysql_query, $inner->get_start(), $inner->get_length() ) );
		if ( 'NULL' !== $native || $is_null ) {
			return null;
		}
		return in_array( $inner->rule_name, array( 'expr', 'boolPri', 'predicate', 'windowFunctionCall' ), true ) ? 'bigint' : 'varchar';
	}
}
