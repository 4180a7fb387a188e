<?php
/**
 * JSON, as MariaDB reads and writes it. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_JSON {
	private static function json( $text, &$value ): bool {
		if ( ! is_string( $text ) ) {
			$value = $text;
			return null !== $text;
		}
		$value = json_decode( $text );
		return JSON_ERROR_NONE === json_last_error();
	}

	/** As MariaDB writes it: with spaces when it makes a document, without when it cuts one out. */
	private static function json_text( $value, bool $is_spaced = false ): string {
		if ( ! $is_spaced || ! ( is_array( $value ) || is_object( $value ) ) ) {
			return json_encode( $value, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION );
		}
		$parts = array();
		foreach ( $value as $key => $each ) {
			$parts[] = ( is_object( $value ) ? self::json_text( (string) $key ) . ': ' : '' ) . self::json_text( $each, true );
		}
		return ( is_object( $value ) ? '{' : '[' ) . implode( ', ', $parts ) . ( is_object( $value ) ? '}' : ']' );
	}

	/** @return array Steps of a path such as $.a."b"[0], null for a star. */
	private static function steps( string $path ): ?array {
		if ( ! preg_match( '/^\s*\$((?:\s*(?:\.\s*(?:[\w$]+|"(?:[^"\\\\]|\\\\.)*"|\*)|\[\s*(?:\d+|\*)\s*\]))*)\s*$/u', $path, $whole ) ) {
			return null;
		}
		preg_match_all( '/\.\s*([\w$]+|"(?:[^"\\\\]|\\\\.)*"|\*)|\[\s*(\d+|\*)\s*\]/u', $whole[1], $found, PREG_SET_ORDER );
		return array_map(
			function ( $step ) {
				$is_index = isset( $step[2] ) && '' !== $step[2];
				$name     = $is_index ? $step[2] : $step[1];
				if ( '*' === $name ) {
					return array( $is_index, null );
				}
				return array( $is_index, $is_index ? (int) $name : ( '"' === $name[0] ? json_decode( $name ) : $name ) );
			},
			$found
		);
	}

	/** All that a path leads to. */
	private static function at_path( $value, string $path ): array {
		$steps = self::steps( $path );
		if ( null === $steps ) {
			throw new Exception( 'Invalid JSON path expression.' );
		}
		$found = array( $value );
		foreach ( $steps as list( $is_index, $name ) ) {
			$next = array();
			foreach ( $found as $each ) {
				if ( $is_index ? is_array( $each ) : is_object( $each ) ) {
					$all = (array) $each;
					if ( null === $name ) {
						$next = array_merge( $next, array_values( $all ) );
					} elseif ( array_key_exists( $name, $all ) ) {
						$next[] = $all[ $name ];
					}
				} elseif ( $is_index && 0 === $name ) {
					$next[] = $each;
				}
			}
			$found = $next;
		}
		return $found;
	}

	/** PHP does not say where a text stops being JSON. What is none is mostly none from its beginning. */
	private function warn_of_json( string $level, string $function ): void {
		if ( null !== $this->warned ) {
			$this->warned[] = array( $level, '4038', "Syntax error in JSON text in argument 1 to function '$function' at position 1" );
		}
	}

	public function mysql_json_extract( $text, ...$paths ) {
		if ( ! self::json( $text, $value ) ) {
			if ( null !== $text ) {
				$this->warn_of_json( 'Warning', 'json_extract' );
			}
			return null;
		}
		$found   = array();
		$is_many = count( $paths ) > 1;
		foreach ( $paths as $path ) {
			if ( null === $path ) {
				return null;
			}
			$is_many = $is_many || false !== strpos( $path, '*' );
			$found   = array_merge( $found, self::at_path( $value, $path ) );
		}
		if ( array() === $found ) {
			return null;
		}
		if ( $is_many ) {
			return self::json_text( $found, true );
		}
		if ( is_bool( $found[0] ) || null === $found[0] ) {
			return self::json_text( $found[0] );
		}
		return is_scalar( $found[0] ) && ! is_string( $found[0] ) ? $found[0] : self::json_text( $found[0], true );
	}

	/** What JSON_EXTRACT() answers, as it is compared. */
	public function mysql_json_bare( $text ) {
		if ( ! is_string( $text ) || '"' !== ( $text[0] ?? '' ) ) {
			return $text;
		}
		$value = json_decode( $text );
		return is_string( $value ) ? $value : $text;
	}

	public function mysql_json_value( $text, $path ) {
		if ( ! self::json( $text, $value ) || null === $path ) {
			return null;
		}
		$found = self::at_path( $value, $path )[0] ?? null;
		return is_bool( $found ) ? (int) $found : ( is_scalar( $found ) ? $found : null );
	}

	public function mysql_json_unquote( $text ) {
		if ( is_string( $text ) && strlen( $text ) > 1 && '"' === $text[0] && '"' === substr( $text, -1 ) ) {
			$plain = json_decode( $text );
			return is_string( $plain ) ? $plain : $text;
		}
		return $text;
	}

	public function mysql_json_quote( $text ) {
		return null === $text ? null : self::json_text( (string) $text );
	}

	public function mysql_json_valid( $text ) {
		$is_json = self::json( $text, $value );
		if ( null !== $text && ! $is_json ) {
			$this->warn_of_json( 'Note', 'json_valid' );
		}
		return null === $text ? null : (int) $is_json;
	}

	public function mysql_json_length( $text, $path = '$' ) {
		$found = self::json( $text, $value ) && null !== $path ? self::at_path( $value, $path ) : array();
		if ( array() === $found ) {
			return null;
		}
		return is_array( $found[0] ) || is_object( $found[0] ) ? count( (array) $found[0] ) : 1;
	}

	public function mysql_json_keys( $text, $path = '$' ) {
		$found = self::json( $text, $value ) && null !== $path ? self::at_path( $value, $path ) : array();
		return isset( $found[0] ) && is_object( $found[0] ) ? self::json_text( array_map( 'strval', array_keys( (array) $found[0] ) ), true ) : null;
	}

	public function mysql_json_type( $text ) {
		if ( ! self::json( $text, $value ) ) {
			return null;
		}
		$types = array(
			'array'   => 'ARRAY',
			'object'  => 'OBJECT',
			'boolean' => 'BOOLEAN',
			'integer' => 'INTEGER',
			'double'  => 'DOUBLE',
			'string'  => 'STRING',
			'NULL'    => 'NULL',
		);
		return $types[ gettype( $value ) ];
	}

	public function mysql_json_contains( $text, $part, $path = '$' ) {
		if ( ! self::json( $text, $value ) || ! self::json( $part, $wanted ) || null === $path ) {
			return null;
		}
		$found = self::at_path( $value, $path );
		return array() === $found ? null : (int) self::contains( $found[0], $wanted );
	}

	private static function contains( $value, $wanted ): bool {
		if ( is_object( $wanted ) ) {
			if ( is_object( $value ) ) {
				foreach ( (array) $wanted as $key => $each ) {
					if ( ! property_exists( $value, $key ) || ! self::contains( $value->$key, $each ) ) {
						return false;
					}
				}
				return true;
			}
		} elseif ( is_array( $wanted ) && is_array( $value ) ) {
			foreach ( $wanted as $each ) {
				if ( ! self::contains( $value, $each ) ) {
					return false;
				}
			}
			return true;
		}
		if ( is_array( $value ) ) {
			foreach ( $value as $each ) {
				if ( self::contains( $each, $wanted ) ) {
					return true;
				}
			}
			return false;
		}
		return is_numeric( $value ) && is_numeric( $wanted ) && ! is_string( $value ) && ! is_string( $wanted ) ? (float) $value === (float) $wanted : $value === $wanted;
	}

	public function mysql_json_contains_path( $text, $how, ...$paths ) {
		if ( ! self::json( $text, $value ) ) {
			return null;
		}
		$count = 0;
		foreach ( $paths as $path ) {
			$count += (int) ( array() !== self::at_path( $value, $path ) );
		}
		return (int) ( 'all' === strtolower( $how ) ? count( $paths ) === $count : $count > 0 );
	}

	public function mysql_json_query( $text, $path ) {
		if ( ! self::json( $text, $value ) ) {
			return null;
		}
		$found = self::at_path( $value, $path );
		return isset( $found[0] ) && ( is_array( $found[0] ) || is_object( $found[0] ) ) ? self::json_text( $found[0] ) : null;
	}

	public function mysql_json_compact( $text ) {
		return self::json( $text, $value ) ? self::json_text( $value ) : null;
	}

	public function mysql_json_loose( $text ) {
		return self::json( $text, $value ) ? self::json_text( $value, true ) : null;
	}

	public function mysql_json_detailed( $text ) {
		return self::json( $text, $value ) ? json_encode( $value, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE ) : null;
	}

	public function mysql_json_pretty( $text ) {
		return $this->mysql_json_detailed( $text );
	}

	public function mysql_json_depth( $text ) {
		return self::json( $text, $value ) ? self::depth( $value ) : null;
	}

	private static function depth( $value ): int {
		$most = 0;
		foreach ( is_array( $value ) || is_object( $value ) ? (array) $value : array() as $each ) {
			$most = max( $most, self::depth( $each ) );
		}
		return $most + 1;
	}

	public function mysql_json_merge_patch( ...$texts ) {
		return $this->json_merged( $texts, array( self::class, 'patched' ) );
	}

	public function mysql_json_merge_preserve( ...$texts ) {
		return $this->json_merged( $texts, array( self::class, 'joined' ) );
	}

	public function mysql_json_merge( ...$texts ) {
		return $this->mysql_json_merge_preserve( ...$texts );
	}

	private function json_merged( array $texts, callable $merge ) {
		$merged = null;
		foreach ( $texts as $i => $text ) {
			if ( ! self::json( $text, $value ) ) {
				return null;
			}
			$merged = 0 === $i ? $value : $merge( $merged, $value );
		}
		return self::json_text( $merged, true );
	}

	private static function patched( $value, $patch ) {
		if ( ! is_object( $patch ) ) {
			return $patch;
		}
		$merged = is_object( $value ) ? clone $value : new stdClass();
		foreach ( (array) $patch as $key => $each ) {
			if ( null === $each ) {
				unset( $merged->$key );
			} else {
				$merged->$key = self::patched( $merged->$key ?? null, $each );
			}
		}
		return $merged;
	}

	private static function joined( $a, $b ) {
		if ( is_object( $a ) && is_object( $b ) ) {
			$merged = clone $a;
			foreach ( (array) $b as $key => $each ) {
				$merged->$key = property_exists( $merged, (string) $key ) ? self::joined( $merged->$key, $each ) : $each;
			}
			return $merged;
		}
		return array_merge( is_array( $a ) ? $a : array( $a ), is_array( $b ) ? $b : array( $b ) );
	}

	public function mysql_json_search( $text, $how, $wanted, $escape = '\\', ...$paths ) {
		if ( null === $wanted || ! self::json( $text, $value ) ) {
			return null;
		}
		$found = array();
		$look  = function ( $value, string $path ) use ( &$look, &$found, $wanted, $escape ) {
			if ( is_string( $value ) && $this->mysql_like( $value, $wanted, $escape ?? '\\' ) ) {
				$found[] = $path;
			} elseif ( is_array( $value ) || is_object( $value ) ) {
				foreach ( (array) $value as $key => $each ) {
					$name = preg_match( '/^[a-z_]\w*$/i', (string) $key ) ? $key : json_encode( (string) $key );
					$look( $each, $path . ( is_array( $value ) ? "[$key]" : ".$name" ) );
				}
			}
		};
		$look( $value, '$' );
		if ( array() === $found ) {
			return null;
		}
		return 'one' === strtolower( $how ) || 1 === count( $found ) ? self::json_text( $found[0] ) : self::json_text( $found, true );
	}

	public function mysql_json_array_append( $text, ...$pairs ) {
		foreach ( array_chunk( $pairs, 2 ) as list( $path, $added ) ) {
			if ( ! self::json( $text, $value ) ) {
				return null;
			}
			$old = self::at_path( $value, $path );
			if ( isset( $old[0] ) ) {
				$list   = is_array( $old[0] ) ? $old[0] : array( $old[0] );
				$list[] = $added;
				$text   = '$' === $path ? self::json_text( $list, true ) : $this->json_changed( $text, array( $path, $list ), false, true );
			}
		}
		return $text;
	}

	public function mysql_json_exists( $text, $path ) {
		return self::json( $text, $value ) ? (int) ( array() !== self::at_path( $value, $path ) ) : 0;
	}

	public function mysql_json_array( ...$values ) {
		return self::json_text( $values, true );
	}

	public function mysql_json_object( ...$values ) {
		$object = new stdClass();
		for ( $i = 0; $i + 1 < count( $values ); $i += 2 ) {
			$object->{ $values[ $i ] } = $values[ $i + 1 ];
		}
		return self::json_text( $object, true );
	}

	public function mysql_json_set( $text, ...$pairs ) {
		return $this->json_changed( $text, $pairs, true, true );
	}

	public function mysql_json_insert( $text, ...$pairs ) {
		return $this->json_changed( $text, $pairs, true, false );
	}

	public function mysql_json_replace( $text, ...$pairs ) {
		return $this->json_changed( $text, $pairs, false, true );
	}

	private function json_changed( $text, array $pairs, bool $inserts, bool $replaces ) {
		if ( ! self::json( $text, $value ) ) {
			return null;
		}
		for ( $i = 0; $i + 1 < count( $pairs ); $i += 2 ) {
			$steps = self::steps( (string) $pairs[ $i ] );
			if ( null === $steps ) {
				throw new Exception( 'Invalid JSON path expression.' );
			}
			$place = &$value;
			foreach ( $steps as $at => list( $is_index, $name ) ) {
				$is_last = count( $steps ) - 1 === $at;
				$is_fit  = $is_index ? is_array( $place ) : is_object( $place );
				$is_here = $is_fit && array_key_exists( $name, (array) $place );
				if ( ! $is_fit || ( ! $is_here && ! $is_last ) || ( $is_last && ! ( $is_here ? $replaces : $inserts ) ) ) {
					continue 2;
				}
				if ( $is_index ) {
					$name  = $is_here ? $name : count( $place );
					$place = &$place[ $name ];
				} else {
					$place = &$place->$name;
				}
			}
			$place = $pairs[ $i + 1 ];
			unset( $place );
		}
		return self::json_text( $value, true );
	}

	public function mysql_json_remove( $text, ...$paths ) {
		if ( ! self::json( $text, $value ) ) {
			return null;
		}
		foreach ( $paths as $path ) {
			$steps = self::steps( (string) $path );
			$last  = is_array( $steps ) ? array_pop( $steps ) : null;
			if ( null === $last ) {
				throw new Exception( 'Invalid JSON path expression.' );
			}
			$place = &$value;
			foreach ( $steps as list( $is_index, $name ) ) {
				if ( ! ( $is_index ? is_array( $place ) : is_object( $place ) ) || ! array_key_exists( $name, (array) $place ) ) {
					continue 2;
				}
				if ( $is_index ) {
					$place = &$place[ $name ];
				} else {
					$place = &$place->$name;
				}
			}
			if ( $last[0] && is_array( $place ) ) {
				unset( $place[ $last[1] ] );
				$place = array_values( $place );
			} elseif ( ! $last[0] && is_object( $place ) ) {
				unset( $place->{ $last[1] } );
			}
			unset( $place );
		}
		return self::json_text( $value, true );
	}
}
