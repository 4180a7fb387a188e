<?php
/**
 * Runs statements on MariaDB and on the layer that lets WordPress run on SQLite, and prints both answers.
 *
 * Arguments: a JSON file of statements, the folder of the layer, the socket of MariaDB ('' for none), and a file for
 * SQLite's database.
 */
list( $file, $layer, $socket, $sqlite ) = $places ?? array_slice( $argv, 1 );
$statements = json_decode( file_get_contents( $file ), true );

/** Returns how wpdb classifies a statement. */
function kind( string $sql ): string {
	return preg_match( '/^\s*(insert|replace|update|delete)\s/i', $sql ) ? 'change' : 'other';
}

/** Returns the type of a column, from the number that mysqli and wpdb::get_col_info() use for it. */
function kind_of_type( int $type ): string {
	$kinds = array(
		MYSQLI_TYPE_NULL      => 'null',
		MYSQLI_TYPE_DATE      => 'date',
		MYSQLI_TYPE_TIME      => 'time',
		MYSQLI_TYPE_DATETIME  => 'moment',
		MYSQLI_TYPE_TIMESTAMP => 'moment',
	);
	return $kinds[ $type ] ?? ( $type >= 247 || MYSQLI_TYPE_JSON === $type ? 'text' : 'number' );
}

$server = null;
if ( '' !== $socket ) {
	mysqli_report( MYSQLI_REPORT_OFF );
	$server = new mysqli( 'localhost', 'root', '', null, 0, $socket );
	$server->query( 'CREATE DATABASE IF NOT EXISTS wp CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci' );
	$server->select_db( 'wp' );
	$server->query( 'SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci' );
	$server->query( "SET SESSION sql_mode='ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION'" );
}

function by_server( ?mysqli $server, string $sql ): array {
	if ( null === $server ) {
		return array();
	}
	$result = $server->query( $sql );
	if ( false === $result ) {
		return array( 'error' => true );
	}
	if ( true === $result ) {
		return 'change' === kind( $sql )
			? array( 'affected' => $server->affected_rows, 'id' => preg_match( '/^\s*(insert|replace)\s/i', $sql ) ? $server->insert_id : 0 )
			: array( 'done' => true );
	}
	$rows = array();
	// Objects, as in wpdb: of two columns with one name, the last one wins.
	while ( $row = $result->fetch_object() ) {
		$rows[] = array_values( (array) $row );
	}
	$fields = $result->fetch_fields();
	return array( 'columns' => array_column( $fields, 'name' ), 'types' => array_map( 'kind_of_type', array_column( $fields, 'type' ) ), 'rows' => $rows );
}

ini_set( 'error_log', $sqlite . '.log' );
require $layer . '/wp-includes/database/load.php';
$embedded = new WP_MySQL_On_SQLite( "mysql-on-sqlite:path=$sqlite;dbname=wp", null, null, array() );
$embedded->setAttribute( PDO::ATTR_STRINGIFY_FETCHES, true );
$embedded->query( "SET SESSION sql_mode='ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'" );

function by_layer( WP_MySQL_On_SQLite $embedded, string $sql, ?string &$why ): array {
	try {
		$result = $embedded->query( $sql, PDO::FETCH_OBJ );
	} catch ( Throwable $error ) {
		$why = $error->getMessage();
		return array( 'error' => true );
	}
	if ( 'change' === kind( $sql ) ) {
		return array( 'affected' => $result->rowCount(), 'id' => preg_match( '/^\s*(insert|replace)\s/i', $sql ) ? (int) $embedded->lastInsertId() : 0 );
	}
	if ( 0 === $result->columnCount() ) {
		return array( 'done' => true );
	}
	$columns = array();
	$types   = array();
	for ( $i = 0; $i < $result->columnCount(); $i++ ) {
		$meta      = $result->getColumnMeta( $i );
		$columns[] = $meta['name'];
		$types[]   = kind_of_type( $meta['mysqli:type'] );
	}
	return array(
		'columns' => $columns,
		'types'   => $types,
		'rows'    => array_map(
			function ( $row ) {
				return array_values( (array) $row );
			},
			$result->fetchAll()
		),
	);
}

/**
 * Returns the rows of SHOW WARNINGS. Errors are reduced to their number, because MariaDB and MySQL often word them
 * differently.
 */
function warned( array $answer ): array {
	return array_map(
		function ( array $row ) {
			return 'Error' === $row[0] ? array( $row[0], $row[1] ) : $row;
		},
		$answer['rows']
	);
}

$answers = array();
foreach ( $statements as $i => $sql ) {
	$why  = null;
	$pair = array( by_server( $server, $sql ), by_layer( $embedded, $sql, $why ), $why );
	// SHOW WARNINGS itself would change what the next statement may query.
	if ( ! preg_match( '/found_rows|row_count|warning/i', $statements[ $i + 1 ] ?? '' ) ) {
		$pair[0] += null === $server ? array() : array( 'warnings' => warned( by_server( $server, 'SHOW WARNINGS' ) ) );
		$pair[1] += array( 'warnings' => warned( by_layer( $embedded, 'SHOW WARNINGS', $ignored ) ) );
	}
	$answers[] = $pair;
}
echo json_encode( $answers, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE );
