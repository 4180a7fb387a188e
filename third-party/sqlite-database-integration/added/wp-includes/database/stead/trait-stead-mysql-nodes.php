<?php
/**
 * Which parts of a statement are translated here, and what all of these traits share: functions, columns, and other
 * statements. Part of WP_MySQL_On_SQLite, which asks this first, for a node of a statement. Whatever is not known goes on as
 * upstream has it.
 */
trait Stead_MySQL_Nodes {
	/** @var Stead_MySQL_Functions|null */
	private $more_functions = null;
	/** Column of a table, and what it is; of this request. */
	private $more_columns = array();
	/** Whether the statement sets user variables row by row. */
	private $more_assigns = false;
	/** The statement that runs. */
	private $more_statement = null;
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
				if ( null === $this->more_total || $this->more_total[0] !== $node->get_start() ) {
					return null;
				}
				$columns          = $this->more_total[1];
				$this->more_total = null;
				return $this->translate( $node ) . $columns;
			case 'querySpecification':
				return $this->note_distinct( $node );
		}
		return null;
	}

	private function variable_name( WP_Parser_Node $node ): string {
		$name = $this->unquote_sqlite_identifier( (string) $this->translate( $node->get_first_child() ) );
		return strtolower( ltrim( $name, '@' ) );
	}

	private function columns_of( string $table ): array {
		$this->column_type( $table, '' );
		return $this->more_columns[ $table ] ?? array();
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

	/** What the information schema has of a column. */
	private function column_type( string $table, string $column ): ?array {
		if ( ! isset( $this->more_columns[ $table ] ) ) {
			$is_temporary = $this->information_schema_builder->temporary_table_exists( $table );
			$rows         = $this->execute_sqlite_query(
				sprintf(
					'SELECT LOWER(column_name) AS NAME, data_type AS DATA_TYPE, column_type AS COLUMN_TYPE, collation_name AS COLLATION_NAME, extra AS EXTRA, column_name AS COLUMN_NAME, is_nullable AS IS_NULLABLE, column_default AS COLUMN_DEFAULT, character_maximum_length AS CHARACTER_MAXIMUM_LENGTH FROM %s WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position',
					$this->quote_sqlite_identifier( $this->information_schema_builder->get_table_name( $is_temporary, 'columns' ) )
				),
				array( $this->get_saved_db_name( $this->main_db_name ), $table )
			)->fetchAll( PDO::FETCH_ASSOC );

			if ( array() === $rows ) {
				// Not kept: another connection may create the table next, as an installation does.
				return null;
			}
			$this->more_columns[ $table ] = array_combine( array_column( $rows, 'NAME' ), $rows );
		}
		return $this->more_columns[ $table ][ strtolower( $column ) ] ?? null;
	}

	private function quoted_or_null( $value ): string {
		return null === $value ? 'NULL' : $this->quote_sqlite_value( (string) $value );
	}
}
