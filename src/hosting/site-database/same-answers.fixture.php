<?php
/**
 * Runs statements on MariaDB and on the layer that has WordPress run on SQLite, and prints what each answers.
 *
 * A JSON file of statements, the folder of the layer, the socket of MariaDB ('': there is none), a file for SQLite's database.
 */
list( $file, $layer, $socket, $sqlite ) = $places ?? array_slice( $argv, 1 );
$statements = json_decode( file_get_contents( $file ), true );

/** What wpdb makes of a statement. */
function kind( string $sql ): string {
	return preg_match( '/^\s*(insert|replace|update|delete)\s/i', $sql ) ? 'change' : 'other';
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
	while ( $row = $result->fetch_row() ) {
		$rows[] = $row;
	}
	return array( 'columns' => array_column( $result->fetch_fields(), 'name' ), 'rows' => $rows );
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
	for ( $i = 0; $i < $result->columnCount(); $i++ ) {
		$columns[] = $result->getColumnMeta( $i )['name'];
	}
	return array(
		'columns' => $columns,
		'rows'    => array_map(
			function ( $row ) {
				return array_values( (array) $row );
			},
			$result->fetchAll()
		),
	);
}

$answers = array();
foreach ( $statements as $sql ) {
	$why       = null;
	$answers[] = array( by_server( $server, $sql ), by_layer( $embedded, $sql, $why ), $why );
}
echo json_encode( $answers, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE );
