<?php
/**
 * What is made of many rows. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Aggregates {
	public function collect( $context, $row, ...$values ) {
		$context   = is_array( $context ) ? $context : array();
		$context[] = $values;
		return $context;
	}

	private static function numbers( $context ): array {
		$numbers = array();
		foreach ( is_array( $context ) ? $context : array() as $values ) {
			if ( null !== $values[0] ) {
				$numbers[] = $values[0];
			}
		}
		return $numbers;
	}

	public function finish_bit_or( $context, $count ) {
		$answer = 0;
		foreach ( self::numbers( $context ) as $number ) {
			$answer |= (int) $number;
		}
		return $answer;
	}

	public function finish_bit_and( $context, $count ) {
		$answer = -1;
		foreach ( self::numbers( $context ) as $number ) {
			$answer &= (int) $number;
		}
		return $answer < 0 ? sprintf( '%u', $answer ) : $answer;
	}

	public function finish_bit_xor_all( $context, $count ) {
		$answer = 0;
		foreach ( self::numbers( $context ) as $number ) {
			$answer ^= (int) $number;
		}
		return $answer;
	}

	private static function variance( $context, int $less ) {
		$numbers = array_map( 'floatval', self::numbers( $context ) );
		$count   = count( $numbers );
		if ( $count <= $less ) {
			return null;
		}
		$mean = array_sum( $numbers ) / $count;
		$sum  = 0.0;
		foreach ( $numbers as $number ) {
			$sum += ( $number - $mean ) ** 2;
		}
		return $sum / ( $count - $less );
	}

	public function finish_var_pop( $context, $count ) {
		return self::finite( self::variance( $context, 0 ) );
	}

	public function finish_var_samp( $context, $count ) {
		return self::finite( self::variance( $context, 1 ) );
	}

	public function finish_stddev_pop( $context, $count ) {
		$variance = self::variance( $context, 0 );
		return null === $variance ? null : self::finite( sqrt( $variance ) );
	}

	public function finish_stddev_samp( $context, $count ) {
		$variance = self::variance( $context, 1 );
		return null === $variance ? null : self::finite( sqrt( $variance ) );
	}

	/** Rows of: value, separator, whether each only once, then a key and a direction for each order. */
	public function finish_group_concat( $context, $count ) {
		$rows = array_values(
			array_filter(
				is_array( $context ) ? $context : array(),
				function ( $row ) {
					return null !== $row[0];
				}
			)
		);
		if ( array() === $rows ) {
			return null;
		}
		if ( $rows[0][2] ) {
			$once = array();
			foreach ( $rows as $row ) {
				$once += array( self::folded( $row[0] ) => $row );
			}
			$rows = array_values( $once );
		}
		usort(
			$rows,
			function ( $a, $b ) {
				for ( $i = 3; $i + 1 < count( $a ); $i += 2 ) {
					$order = is_string( $a[ $i ] ) && is_string( $b[ $i ] )
						? strcmp( self::folded( $a[ $i ] ), self::folded( $b[ $i ] ) )
						: $a[ $i ] <=> $b[ $i ];
					if ( 0 !== $order ) {
						return $order * $a[ $i + 1 ];
					}
				}
				return 0;
			}
		);
		return implode( $rows[0][1], array_column( $rows, 0 ) );
	}

	public function finish_json_arrayagg( $context, $count ) {
		return is_array( $context ) ? self::json_text( array_column( $context, 0 ) ) : null;
	}

	public function finish_json_objectagg( $context, $count ) {
		$object = new stdClass();
		foreach ( is_array( $context ) ? $context : array() as list( $key, $value ) ) {
			$object->$key = $value;
		}
		return is_array( $context ) ? preg_replace( '/^\{(.*)\}$/s', '{$1}', self::json_text( $object ) ) : null;
	}
}
