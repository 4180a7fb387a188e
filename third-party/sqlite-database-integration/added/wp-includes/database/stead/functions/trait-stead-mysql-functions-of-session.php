<?php
/**
 * What a connection keeps: locks, variables, ids and spellings of a statement. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Session {
	public function mysql_get_lock( $name, $seconds = 0 ) {
		if ( null === $name ) {
			return null;
		}
		$this->locks[ strtolower( $name ) ] = true;
		return 1;
	}

	public function mysql_release_lock( $name ) {
		$name = strtolower( (string) $name );
		if ( ! isset( $this->locks[ $name ] ) ) {
			return null;
		}
		unset( $this->locks[ $name ] );
		return 1;
	}

	public function mysql_release_all_locks() {
		$count       = count( $this->locks );
		$this->locks = array();
		return $count;
	}

	public function mysql_is_free_lock( $name ) {
		return null === $name ? null : (int) ! isset( $this->locks[ strtolower( $name ) ] );
	}

	public function mysql_is_used_lock( $name ) {
		return isset( $this->locks[ strtolower( (string) $name ) ] ) ? 1 : null;
	}

	public function mysql_sleep( $seconds ) {
		// As long as a page may take is for the host to say.
		usleep( (int) ( min( 30, max( 0, (float) $seconds ) ) * 1000000 ) );
		return 0;
	}

	public function mysql_connection_id() {
		return 1;
	}

	public function mysql_variable( $name ) {
		return $this->variables[ $name ] ?? null;
	}

	public function mysql_assign( $name, $value ) {
		$this->variables[ $name ] = $value;
		return $value;
	}

	public function mysql_keep_id( $id ) {
		$this->kept_id = (int) $id;
		$this->last_id = (int) $id;
		return $id;
	}

	/** A value of a unique key as the first row of the statement that has the key spells it. */
	public function mysql_first_spelling( $place, $kept, $given, ...$key ) {
		$id                     = $place . "\0" . implode( "\0", $key );
		$kept                   = $this->spellings[ $id ][0] ?? $kept;
		$this->spellings[ $id ] = array( $kept, $given, $key );
		return $kept;
	}

	/** Met by each row that ON DUPLICATE KEY UPDATE finds: counts it. */
	public function mysql_touched( $is_same, $id ) {
		if ( $is_same ) {
			++$this->unchanged;
		} else {
			++$this->changed;
			$this->last_id = (int) $id;
		}
		return 1;
	}
}
