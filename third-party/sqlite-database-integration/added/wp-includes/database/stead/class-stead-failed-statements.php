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

	public static function tell( string $statement, string $reason ): void {
		if ( self::$told > self::MOST ) {
			return;
		}
		++self::$told;
		if ( self::$told > self::MOST ) {
			error_log( 'WordPress database error: more statements of this request failed' );
			return;
		}
		$statement = trim( preg_replace( '/\s+/', ' ', $statement ) ?? $statement );
		if ( strlen( $statement ) > self::LONGEST ) {
			$cut       = function_exists( 'mb_strcut' ) ? mb_strcut( $statement, 0, self::LONGEST, 'UTF-8' ) : substr( $statement, 0, self::LONGEST );
			$statement = $cut . '… (' . strlen( $statement ) . ' bytes)';
		}
		error_log( sprintf( 'WordPress database error %s for query %s made by %s', $reason, $statement, self::place() ) );
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

	/** Whether MySQL, too, would have refused: a table or column that is not there, a second of what is unique. */
	public static function is_also_of_mysql( Throwable $error ): bool {
		return 1 === preg_match( '/^SQLSTATE\[(23000|42S01|42S02|42S22)\]|no such column|no such table/', $error->getMessage() );
	}
}
