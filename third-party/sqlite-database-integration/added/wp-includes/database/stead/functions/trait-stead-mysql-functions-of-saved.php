<?php
/**
 * What MySQL makes of a value that a column is given. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Saved {
	/** A day or moment as its column has it, null when the literal is none. */
	public function written_date( $value, string $kind ): ?string {
		if ( is_numeric( $value ) && 0.0 === (float) $value ) {
			return 'day' === $kind ? '0000-00-00' : '0000-00-00 00:00:00';
		}
		$part = $this->parts( $value );
		if ( null === $part ) {
			return null;
		}
		$day  = sprintf( '%04d-%02d-%02d', $part['y'], $part['m'], $part['d'] );
		$time = sprintf( '%02d:%02d:%02d', $part['h'], $part['i'], $part['s'] );
		if ( 'day' === $kind ) {
			return '00:00:00' === $time && 0 === $part['u'] ? $day : "$day $time";
		}
		return "$day $time" . ( $part['u'] ? sprintf( '.%06d', $part['u'] ) : '' );
	}

	/** What MySQL makes of a value that a column of a day or a moment is given. */
	public function mysql_saved_date( $value, $kind, $zero ) {
		if ( null === $value ) {
			return null;
		}
		if ( ! is_string( $value ) ) {
			$value = (string) $value;
		}
		if ( preg_match( '/^\s*(\d{2})[-\/](\d{1,2})[-\/](\d{1,2})\b(?![-\/])(.*)$/', $value, $match ) ) {
			$value = ( $match[1] < 70 ? '20' : '19' ) . "$match[1]-$match[2]-$match[3]$match[4]";
		}
		$text = $this->written_date( $value, 'moment' );
		if ( null === $text ) {
			// A day with a time that is none is refused as a whole.
			return $zero;
		}
		if ( preg_match( '/^0000-(?!00-00)/', $text ) && 0 !== strpos( $text, '0000-00' ) ) {
			return $zero;
		}
		return 'date' === $kind ? substr( $text, 0, 10 ) : substr( $text, 0, 19 );
	}

	public function mysql_saved_time( $value, $zero ) {
		$seconds = $this->time_seconds( $value );
		return null === $value ? null : ( null === $seconds ? $zero : $this->time_text( $seconds ) );
	}

	/** Bits as a number. */
	public function mysql_saved_bit( $value, $bits ) {
		if ( null === $value ) {
			return null;
		}
		$number = is_string( $value ) ? ( strlen( $value ) > 7 ? PHP_INT_MAX : (int) hexdec( bin2hex( $value ) ) ) : (int) round( $value );
		$most   = $bits >= 63 ? PHP_INT_MAX : ( 1 << (int) $bits ) - 1;
		return $number < 0 || $number > $most ? $most : $number;
	}

	/** A number of so many digits before and after the point. */
	public function mysql_saved_decimal( $value, $digits, $scale, $is_unsigned ) {
		if ( null === $value ) {
			return null;
		}
		$most  = 10 ** ( (int) $digits - (int) $scale ) - 10 ** -(int) $scale;
		$value = round( (float) $value, (int) $scale );
		return max( $is_unsigned ? 0 : -$most, min( $most, $value ) );
	}

	/** One of the values of an enum by its text or number; '' when it is none of them. */
	public function mysql_saved_enum( $value, ...$values ) {
		if ( null === $value ) {
			return null;
		}
		if ( is_int( $value ) ) {
			return $values[ $value - 1 ] ?? '';
		}
		$wanted = self::folded( rtrim( (string) $value, ' ' ) );
		foreach ( $values as $each ) {
			if ( self::folded( $each ) === $wanted ) {
				return $each;
			}
		}
		return ctype_digit( (string) $value ) ? ( $values[ (int) $value - 1 ] ?? '' ) : '';
	}

	/** A text no longer than its column, in letters or in bytes. */
	public function mysql_saved_text( $value, $letters, $bytes ) {
		if ( ! is_string( $value ) && null !== $value ) {
			$value = (string) $value;
		}
		if ( null !== $value && $letters > 0 && strlen( $value ) > $letters && $this->length( $value ) > $letters ) {
			return $this->part( $value, 0, (int) $letters );
		}
		if ( null !== $value && $bytes > 0 && strlen( $value ) > $bytes ) {
			return function_exists( 'mb_strcut' ) ? mb_strcut( $value, 0, (int) $bytes, 'UTF-8' ) : substr( $value, 0, (int) $bytes );
		}
		return $value;
	}
}
