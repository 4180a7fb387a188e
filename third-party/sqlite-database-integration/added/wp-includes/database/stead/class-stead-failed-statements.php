<?php
/**
 * Statements that failed, in the PHP log of the site: what was asked, why it failed, and who asked.
 */
class Stead_Failed_Statements {
	/** Of one request: a page that fails a thousand times says so once. */
	const MOST = 20;
	/** Of a statement, in bytes. */
	const LONGEST = 1000;

	private static $told = 0;

	/** Statements that were answered otherwise than MySQL would: those of one shape once. */
	private static $differences = array();

	/** Says that a statement may have been answered otherwise than MySQL would. */
	public static function tell_difference( string $statement, string $difference ): void {
		$shape = md5( preg_replace( "/'(?:[^'\\\\]|\\\\.|'')*'|\\d+/", '?', substr( $statement, 0, self::LONGEST ) ) ?? '' );
		if ( isset( self::$differences[ $shape ] ) || count( self::$differences ) >= self::MOST ) {
			return;
		}
		self::$differences[ $shape ] = true;
		error_log( sprintf( 'Embedded database: %s, unlike in MySQL: query %s made by %s', $difference, self::shortened( $statement ), self::place() ) );
	}

	public static function tell( string $statement, string $reason ): void {
		if ( self::$told > self::MOST ) {
			return;
		}
		++self::$told;
		if ( self::$told > self::MOST ) {
			error_log( 'WordPress database error: more statements of this request failed' );
			return;
		}
		error_log( sprintf( 'WordPress database error %s for query %s made by %s', $reason, self::shortened( $statement ), self::place() ) );
	}

	private static function shortened( string $statement ): string {
		$statement = trim( preg_replace( '/\s+/', ' ', $statement ) ?? $statement );
		if ( strlen( $statement ) > self::LONGEST ) {
			$cut       = function_exists( 'mb_strcut' ) ? mb_strcut( $statement, 0, self::LONGEST, 'UTF-8' ) : substr( $statement, 0, self::LONGEST );
			$statement = $cut . '… (' . strlen( $statement ) . ' bytes)';
		}
		return $statement;
	}

	/** File and line of the first that is neither this layer nor WordPress' own class for databases. */
	private static function place(): string {
		foreach ( debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS ) as $frame ) {
			$file = $frame['file'] ?? '';
			if ( '' === $file || preg_match( '~/sqlite-database-integration/|/wp-includes/class-wpdb\.php$~', $file ) ) {
				continue;
			}
			$root = defined( 'ABSPATH' ) ? ABSPATH : '';
			$path = '' !== $root && 0 === strpos( $file, $root ) ? substr( $file, strlen( $root ) ) : $file;
			return $path . ':' . ( $frame['line'] ?? 0 );
		}
		return 'unknown';
	}

	/** As MySQL words it. */
	public static function message( Throwable $error ): string {
		$text = preg_replace( '/^SQLSTATE\[\w+\]: (?:[A-Z][^:]*: )?(?:\d+ )?/', '', $error->getMessage() );
		if ( preg_match( '/^UNIQUE constraint failed: (.*)$/', $text, $match ) ) {
			$columns = preg_replace( '/(^|, )[^.,]+\./', '$1', $match[1] );
			return "Duplicate entry for key '$columns'";
		}
		if ( preg_match( '/^NOT NULL constraint failed: (?:.*\.)?(.*)$/', $text, $match ) ) {
			return "Column '{$match[1]}' cannot be null";
		}
		if ( preg_match( '/^no such column: (.*)$/', $text, $match ) ) {
			return "Unknown column '{$match[1]}' in 'field list'";
		}
		return $text;
	}

	/**
	 * Whether MySQL, too, would have refused: a table or column that is not there, a second of what is unique. WordPress itself
	 * asks for the columns of "IF" when a plugin has dbDelta() run CREATE TABLE IF NOT EXISTS.
	 */
	public static function is_also_of_mysql( Throwable $error, string $statement = '' ): bool {
		if ( 1 === preg_match( '/^\s*DESCRIBE\s+IF\s*;?\s*$/i', $statement ) ) {
			return true;
		}
		return 1 === preg_match( '/^SQLSTATE\[(23000|42S01|42S02|42S22)\]|no such column|no such table/', $error->getMessage() );
	}

	/** Codes of MySQL by what a message says, for failures that do not bring theirs. */
	private static $codes = array(
		"/^Table '.*' doesn't exist/"         => '1146',
		"/^Table '.*' already exists/"        => '1050',
		'/^Duplicate entry/'                  => '1062',
		'/^Duplicate column name/'            => '1060',
		'/^Duplicate key name/'               => '1061',
		'/^Unknown column/'                   => '1054',
		"/^Column '.*' cannot be null/"       => '1048',
		"/^Field '.*' doesn't have a default/" => '1364',
		'/^Data too long for column/'         => '1406',
		'/^Unknown character set/'            => '1115',
		"/^Can't DROP/"                       => '1091',
		'/value is out of range/'             => '1690',
		'/^no such function: |^SAVEPOINT/'    => '1305',
		'/^no such index: /'                  => '1091',
		'/^cannot store TEXT value in /'      => '1366',
		'/^Unknown VIEW/'                     => '4092',
		'/^Incorrect (?:integer|decimal|double) value/' => '1366',
		'/^Incorrect (?:date|datetime|time|timestamp) value/' => '1292',
	);

	/** Number and words of a failure, as SHOW ERRORS has them. */
	public static function code_and_message( Throwable $error, string $statement ): array {
		$message = self::message( $error );
		if ( 'Failed to parse the MySQL query.' === $message ) {
			return array( '1064', 'You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right syntax to use near \'' . substr( $statement, 0, 80 ) . "' at line 1" );
		}
		if ( preg_match( "/^Column '(.*)' cannot be null$/", $message, $match ) && false === stripos( $statement, $match[1] ) ) {
			return array( '1364', "Field '{$match[1]}' doesn't have a default value" );
		}
		foreach ( self::$codes as $pattern => $code ) {
			if ( preg_match( $pattern, $message ) ) {
				return array( $code, preg_replace( '/^no such function: (.*)$/', 'FUNCTION $1 does not exist', $message ) );
			}
		}
		$info = $error instanceof PDOException && is_array( $error->errorInfo ) ? $error->errorInfo : array();
		return array( preg_match( '/: (\d{4}) /', $error->getMessage(), $match ) ? $match[1] : (string) ( ( $info[1] ?? 0 ) > 1000 ? $info[1] : 1105 ), $message );
	}
}
