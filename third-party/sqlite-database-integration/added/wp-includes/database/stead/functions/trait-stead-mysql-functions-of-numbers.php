<?php
/**
 * Numbers and bits. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Numbers {
	private static function whole( $number ) {
		return is_float( $number ) && floor( $number ) === $number && abs( $number ) < 9007199254740992.0 ? (int) $number : $number;
	}

	private static function number( $value ) {
		return is_string( $value ) ? (float) $value : $value;
	}

	/** A number as a text has it. */
	public function mysql_written_number( $value ) {
		return is_float( $value ) ? self::whole( $value ) : $value;
	}

	public function mysql_round( $value, $digits = 0 ) {
		return null === $value || null === $digits ? null : self::whole( round( self::number( $value ), (int) $digits, is_string( $value ) ? PHP_ROUND_HALF_EVEN : PHP_ROUND_HALF_UP ) );
	}

	public function mysql_truncate( $value, $digits ) {
		if ( null === $value || null === $digits ) {
			return null;
		}
		$number = self::number( $value );
		// By its digits: 1.15 * 100 is less than 115.
		if ( $digits >= 0 ) {
			$text = is_float( $number ) && abs( $number ) < 1e15 ? rtrim( sprintf( '%.15F', round( $number, 15 ) ), '0' ) : (string) $number;
			$dot  = strpos( $text, '.' );
			return self::whole( (float) ( false === $dot ? $text : substr( $text, 0, $dot + 1 + (int) $digits ) ) );
		}
		$unit = 10 ** -(int) $digits;
		return (int) ( $number / $unit ) * $unit;
	}

	public function mysql_ceil( $value ) {
		return null === $value ? null : self::whole( ceil( self::number( $value ) ) );
	}

	public function mysql_ceiling( $value ) {
		return $this->mysql_ceil( $value );
	}

	public function mysql_floor( $value ) {
		return null === $value ? null : self::whole( floor( self::number( $value ) ) );
	}

	/** A number that is divided by. */
	public function mysql_noted_divisor( $value ) {
		if ( null !== $this->warned && null !== $value && 0.0 === (float) $value ) {
			$this->warned[] = array( 'Warning', '1365', 'Division by 0' );
		}
		return $value;
	}

	/** A value that is taken for a number. */
	public function mysql_noted_number( $value, $kind ) {
		if ( null !== $this->warned && is_string( $value ) && ! preg_match( '/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i', $value ) ) {
			$this->warned[] = array( 'Warning', '1292', "Truncated incorrect $kind value: '$value'" );
		}
		return $value;
	}

	/** A text that is cut by a cast. */
	public function mysql_noted_text( $value, $most ) {
		if ( null !== $this->warned && null !== $value && $this->length( (string) $value ) > $most ) {
			$this->warned[] = array( 'Warning', '1292', "Truncated incorrect CHAR($most) value: '$value'" );
		}
		return $value;
	}

	public function mysql_mod( $a, $b ) {
		$this->mysql_noted_divisor( $b );
		if ( null === $a || null === $b || 0.0 === (float) $b ) {
			return null;
		}
		return is_int( $a ) && is_int( $b ) ? $a % $b : self::whole( fmod( (float) $a, (float) $b ) );
	}

	public function mysql_sign( $value ) {
		return null === $value ? null : self::number( $value ) <=> 0;
	}

	public function mysql_pow( $a, $b ) {
		return null === $a || null === $b ? null : self::finite( pow( self::number( $a ), self::number( $b ) ) );
	}

	public function mysql_power( $a, $b ) {
		return $this->mysql_pow( $a, $b );
	}

	private static function finite( $number ) {
		return is_float( $number ) && ! is_finite( $number ) ? null : self::whole( $number );
	}

	private function real( string $function, ...$values ) {
		foreach ( $values as $value ) {
			if ( null === $value ) {
				return null;
			}
		}
		return self::finite( $function( ...array_map( 'floatval', $values ) ) );
	}

	public function mysql_sqrt( $value ) {
		return $this->real( 'sqrt', $value );
	}

	public function mysql_exp( $value ) {
		return $this->real( 'exp', $value );
	}

	public function mysql_ln( $value ) {
		return $value > 0 ? $this->real( 'log', $value ) : null;
	}

	public function mysql_log( $a, $b = false ) {
		if ( false === $b ) {
			return $this->mysql_ln( $a );
		}
		return $a > 0 && 1.0 !== (float) $a && $b > 0 ? self::finite( log( $b ) / log( $a ) ) : null;
	}

	public function mysql_log2( $value ) {
		return $this->mysql_log( 2, $value );
	}

	public function mysql_log10( $value ) {
		return $value > 0 ? $this->real( 'log10', $value ) : null;
	}

	public function mysql_sin( $value ) {
		return $this->real( 'sin', $value );
	}

	public function mysql_cos( $value ) {
		return $this->real( 'cos', $value );
	}

	public function mysql_tan( $value ) {
		return $this->real( 'tan', $value );
	}

	public function mysql_asin( $value ) {
		return $this->real( 'asin', $value );
	}

	public function mysql_acos( $value ) {
		return $this->real( 'acos', $value );
	}

	public function mysql_atan( $value, $other = 1 ) {
		return $this->real( 'atan2', $value, $other );
	}

	public function mysql_atan2( $value, $other ) {
		return $this->real( 'atan2', $value, $other );
	}

	public function mysql_radians( $value ) {
		return $this->real( 'deg2rad', $value );
	}

	public function mysql_degrees( $value ) {
		return $this->real( 'rad2deg', $value );
	}

	public function mysql_pi() {
		return M_PI;
	}

	public function mysql_bit_xor( $a, $b ) {
		return null === $a || null === $b ? null : (int) $a ^ (int) $b;
	}

	public function mysql_bit_not( $value ) {
		return null === $value ? null : sprintf( '%u', ~ (int) $value );
	}

	public function mysql_bit_count( $value ) {
		return null === $value ? null : substr_count( decbin( (int) $value ), '1' );
	}

	public function mysql_interval( $value, ...$bounds ) {
		$count = 0;
		foreach ( null === $value ? array() : $bounds as $bound ) {
			if ( null !== $bound && $bound > $value ) {
				break;
			}
			++$count;
		}
		return null === $value ? -1 : $count;
	}

	public function mysql_cast_decimal( $value, $scale ) {
		$this->mysql_noted_number( $value, 'DECIMAL' );
		return null === $value ? null : round( (float) $value, (int) $scale );
	}

	public function mysql_cast_integer( $value, $is_unsigned ) {
		$this->mysql_noted_number( $value, 'INTEGER' );
		if ( null === $value ) {
			return null;
		}
		$number = is_string( $value ) ? (int) $value : (int) round( $value );
		if ( null !== $this->warned && $is_unsigned && $number < 0 ) {
			$this->warned[] = array( 'Note', '1105', "Cast to unsigned converted negative integer to it's positive complement" );
		} elseif ( null !== $this->warned && ! $is_unsigned && (float) $value > PHP_INT_MAX ) {
			$this->warned[] = array( 'Note', '1105', "Cast to signed converted positive out-of-range integer to it's negative complement" );
		}
		return $is_unsigned && $number < 0 ? sprintf( '%u', $number ) : $number;
	}
}
