<?php
/**
 * Texts, bytes, digests and addresses. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Texts {
	private function length( $text ): int {
		return function_exists( 'mb_strlen' ) ? mb_strlen( (string) $text, 'UTF-8' ) : strlen( (string) $text );
	}

	private function part( $text, int $start, ?int $length = null ): string {
		return function_exists( 'mb_substr' ) ? mb_substr( (string) $text, $start, $length, 'UTF-8' ) : substr( (string) $text, $start, $length ?? strlen( (string) $text ) );
	}

	public function mysql_lower( $text ) {
		return null === $text || ! is_string( $text ) ? $text : ( function_exists( 'mb_strtolower' ) ? mb_strtolower( $text, 'UTF-8' ) : strtolower( $text ) );
	}

	public function mysql_upper( $text ) {
		if ( null === $text || ! is_string( $text ) ) {
			return $text;
		}
		// MySQL changes one letter into one letter.
		return function_exists( 'mb_convert_case' ) ? mb_convert_case( $text, defined( 'MB_CASE_UPPER_SIMPLE' ) ? MB_CASE_UPPER_SIMPLE : MB_CASE_UPPER, 'UTF-8' ) : strtoupper( $text );
	}

	public function mysql_lcase( $text ) {
		return $this->mysql_lower( $text );
	}

	public function mysql_ucase( $text ) {
		return $this->mysql_upper( $text );
	}

	public function mysql_right( $text, $count ) {
		if ( null === $text || null === $count ) {
			return null;
		}
		return $count < 1 ? '' : $this->part( $text, -(int) $count );
	}

	public function mysql_left( $text, $count ) {
		if ( null === $text || null === $count ) {
			return null;
		}
		return $count < 1 ? '' : $this->part( $text, 0, (int) $count );
	}

	public function mysql_locate( $what, $text, $from = 1 ) {
		if ( null === $what || null === $text ) {
			return null;
		}
		if ( $from < 1 || $from > $this->length( $text ) + 1 ) {
			return 0;
		}
		if ( ! function_exists( 'mb_strpos' ) || ! preg_match( '/[^\x00-\x7f]/', $text . $what ) ) {
			$at = strpos( strtolower( $text ), strtolower( $what ), (int) $from - 1 );
			return false === $at ? 0 : $at + 1;
		}
		$folded = self::folded( $what );
		if ( false === mb_strpos( self::folded( $text ), $folded, 0, 'UTF-8' ) ) {
			return 0;
		}
		// What is found has as many bytes as what is looked for: MariaDB does not find "arg" in "Ärger".
		$bytes = strlen( $what );
		$place = strlen( mb_substr( $text, 0, (int) $from - 1, 'UTF-8' ) );
		for ( $at = (int) $from; $place + $bytes <= strlen( $text ); $at++ ) {
			$part = substr( $text, $place, $bytes );
			if ( mb_check_encoding( $part, 'UTF-8' ) && self::folded( $part ) === $folded ) {
				return $at;
			}
			do {
				++$place;
			} while ( $place < strlen( $text ) && 0x80 === ( ord( $text[ $place ] ) & 0xc0 ) );
		}
		return 0;
	}

	public function mysql_instr( $text, $what ) {
		return $this->mysql_locate( $what, $text );
	}

	public function mysql_substring_index( $text, $what, $count ) {
		if ( null === $text || null === $what || null === $count ) {
			return null;
		}
		if ( '' === (string) $what || 0 === (int) $count ) {
			return '';
		}
		$parts = explode( $what, $text );
		return implode( $what, $count > 0 ? array_slice( $parts, 0, (int) $count ) : array_slice( $parts, (int) $count ) );
	}

	public function mysql_concat_ws( $separator, ...$texts ) {
		return null === $separator ? null : implode( $separator, array_filter( $texts, array( $this, 'is_there' ) ) );
	}

	private function is_there( $value ): bool {
		return null !== $value;
	}

	public function mysql_lpad( $text, $length, $with ) {
		return $this->pad( $text, $length, $with, true );
	}

	public function mysql_rpad( $text, $length, $with ) {
		return $this->pad( $text, $length, $with, false );
	}

	private function pad( $text, $length, $with, bool $left ) {
		if ( null === $text || null === $length || null === $with || $length < 0 ) {
			return null;
		}
		$missing = (int) $length - $this->length( $text );
		if ( $missing <= 0 ) {
			return $this->part( $text, 0, (int) $length );
		}
		if ( '' === (string) $with || $missing > 16777216 ) {
			return null;
		}
		$padding = $this->part( str_repeat( $with, intdiv( $missing, $this->length( $with ) ) + 1 ), 0, $missing );
		return $left ? $padding . $text : $text . $padding;
	}

	public function mysql_repeat( $text, $count ) {
		if ( null === $text || null === $count || strlen( $text ) * $count > 16777216 ) {
			return null;
		}
		return $count < 1 ? '' : str_repeat( $text, (int) $count );
	}

	public function mysql_space( $count ) {
		return $this->mysql_repeat( ' ', $count );
	}

	public function mysql_strcmp( $a, $b ) {
		return null === $a || null === $b ? null : self::folded( $a ) <=> self::folded( $b );
	}

	public function mysql_insert( $text, $at, $count, $new ) {
		if ( null === $text || null === $at || null === $count || null === $new ) {
			return null;
		}
		$length = $this->length( $text );
		if ( $at < 1 || $at > $length ) {
			return $text;
		}
		$end = $count < 0 || $at - 1 + $count > $length ? $length : $at - 1 + $count;
		return $this->part( $text, 0, $at - 1 ) . $new . $this->part( $text, $end );
	}

	public function mysql_elt( $number, ...$texts ) {
		return $texts[ (int) $number - 1 ] ?? null;
	}

	public function mysql_field( $what, ...$texts ) {
		if ( null === $what ) {
			return 0;
		}
		foreach ( $texts as $i => $text ) {
			$is_number = ! is_string( $what ) || ! is_string( $text );
			if ( null !== $text && ( $is_number ? (float) $what === (float) $text : self::folded( $what ) === self::folded( $text ) ) ) {
				return $i + 1;
			}
		}
		return 0;
	}

	public function mysql_find_in_set( $what, $list ) {
		if ( null === $what || null === $list ) {
			return null;
		}
		$at = '' === $list ? false : array_search( self::folded( $what ), explode( ',', self::folded( $list ) ), true );
		return false === $at ? 0 : $at + 1;
	}

	public function mysql_format( $number, $decimals ) {
		return null === $number ? null : number_format( (float) $number, max( 0, min( 30, (int) $decimals ) ) );
	}

	public function mysql_make_set( $bits, ...$texts ) {
		if ( null === $bits ) {
			return null;
		}
		$found = array();
		foreach ( $texts as $i => $text ) {
			if ( null !== $text && (int) $bits & ( 1 << $i ) ) {
				$found[] = $text;
			}
		}
		return implode( ',', $found );
	}

	public function mysql_export_set( $bits, $on, $off, $separator = ',', $count = 64 ) {
		if ( null === $bits || null === $on || null === $off || null === $separator || null === $count ) {
			return null;
		}
		$found = array();
		for ( $i = 0; $i < min( 64, (int) $count ); $i++ ) {
			$found[] = (int) $bits & ( 1 << $i ) ? $on : $off;
		}
		return implode( $separator, $found );
	}

	public function mysql_uuid_short() {
		return (float) ( time() * 16777216 + random_int( 0, 16777215 ) );
	}

	public function mysql_compress( $text ) {
		return null === $text || '' === $text ? $text : pack( 'V', strlen( $text ) ) . gzcompress( $text );
	}

	public function mysql_uncompress( $bytes ) {
		if ( null === $bytes || '' === $bytes ) {
			return $bytes;
		}
		$text = strlen( $bytes ) > 4 ? @gzuncompress( substr( $bytes, 4 ), 1 << 26 ) : false;
		return false === $text ? null : $text;
	}

	public function mysql_uncompressed_length( $bytes ) {
		return null === $bytes ? null : ( strlen( $bytes ) > 4 ? unpack( 'V', $bytes )[1] & 0x3fffffff : 0 );
	}

	public function mysql_load_file( $path ) {
		return null;
	}

	public function mysql_benchmark( $count, $value ) {
		return null === $count ? null : 0;
	}

	public function mysql_random_bytes( $count ) {
		return $count > 0 && $count <= 1024 ? random_bytes( (int) $count ) : null;
	}

	public function mysql_quote( $text ) {
		return null === $text ? 'NULL' : "'" . strtr(
			$text,
			array(
				'\\'   => '\\\\',
				"'"    => "\\'",
				"\0"   => '\\0',
				"\x1a" => '\\Z',
			)
		) . "'";
	}

	public function mysql_reverse( $text ) {
		return null === $text ? null : implode( '', array_reverse( preg_split( '//u', (string) $text, -1, PREG_SPLIT_NO_EMPTY ) ) );
	}

	public function mysql_trim_of( $side, $what, $text ) {
		if ( null === $text || null === $what ) {
			return null;
		}
		$length = strlen( $what );
		while ( $length && 'TRAILING' !== $side && 0 === strncmp( $text, $what, $length ) ) {
			$text = substr( $text, $length );
		}
		while ( $length && 'LEADING' !== $side && strlen( $text ) >= $length && substr( $text, -$length ) === $what ) {
			$text = substr( $text, 0, -$length );
		}
		return $text;
	}

	public function mysql_ascii( $text ) {
		return null === $text ? null : ( '' === (string) $text ? 0 : ord( (string) $text ) );
	}

	public function mysql_ord( $text ) {
		if ( null === $text || '' === (string) $text ) {
			return null === $text ? null : 0;
		}
		$number = 0;
		foreach ( str_split( $this->part( $text, 0, 1 ) ) as $byte ) {
			$number = $number * 256 + ord( $byte );
		}
		return $number;
	}

	public function mysql_char( ...$codes ) {
		$text = '';
		foreach ( array_filter( $codes, array( $this, 'is_there' ) ) as $code ) {
			$text .= ltrim( pack( 'N', (int) $code ), "\0" );
			$text  = 0 === (int) $code ? $text . "\0" : $text;
		}
		return $text;
	}

	public function mysql_hex( $value ) {
		return null === $value ? null : strtoupper( is_int( $value ) || is_float( $value ) ? dechex( (int) round( $value ) ) : bin2hex( $value ) );
	}

	public function mysql_unhex( $text ) {
		if ( null === $text || ! preg_match( '/^[0-9a-f]*$/i', $text ) ) {
			return null;
		}
		return hex2bin( strlen( $text ) % 2 ? "0$text" : $text );
	}

	public function mysql_bin( $number ) {
		return null === $number ? null : decbin( (int) $number );
	}

	public function mysql_oct( $number ) {
		return null === $number ? null : decoct( (int) $number );
	}

	public function mysql_conv( $number, $from, $to ) {
		return null === $number || abs( $from ) < 2 || abs( $from ) > 36 || abs( $to ) < 2 || abs( $to ) > 36
			? null
			: strtoupper( base_convert( (string) $number, abs( (int) $from ), abs( (int) $to ) ) );
	}

	public function mysql_md5( $text ) {
		return null === $text ? null : md5( (string) $text );
	}

	public function mysql_sha1( $text ) {
		return null === $text ? null : sha1( (string) $text );
	}

	public function mysql_sha( $text ) {
		return $this->mysql_sha1( $text );
	}

	public function mysql_sha2( $text, $bits ) {
		$bits = 0 === (int) $bits ? 256 : (int) $bits;
		return null === $text || ! in_array( $bits, array( 224, 256, 384, 512 ), true ) ? null : hash( "sha$bits", (string) $text );
	}

	public function mysql_crc32( $text ) {
		return null === $text ? null : crc32( (string) $text );
	}

	public function mysql_soundex( $text ) {
		if ( null === $text ) {
			return null;
		}
		$codes  = array_combine( str_split( 'BFPVCGJKQSXZDTLMNR' ), str_split( '111122222222334556' ) );
		$answer = '';
		$last   = '';
		foreach ( str_split( preg_replace( '/[^A-Z]/', '', strtoupper( self::folded( $text ) ) ) ) as $letter ) {
			if ( '' === $letter ) {
				continue;
			}
			$code = $codes[ $letter ] ?? '';
			if ( '' === $answer ) {
				$answer = $letter;
				$last   = $code;
			} elseif ( '' !== $code && $code !== $last ) {
				$answer .= $code;
				$last    = $code;
			} elseif ( '' === $code && false === strpos( 'HW', $letter ) ) {
				$last = '';
			}
		}
		return '' === $answer ? '' : str_pad( $answer, 4, '0' );
	}

	public function mysql_inet_aton( $address ) {
		$number = null === $address ? false : ip2long( $address );
		return false === $number ? null : $number;
	}

	public function mysql_inet_ntoa( $number ) {
		return null === $number || $number < 0 || $number > 4294967295 ? null : long2ip( (int) $number );
	}

	public function mysql_inet6_aton( $address ) {
		$bytes = null === $address ? false : @inet_pton( $address );
		return false === $bytes ? null : $bytes;
	}

	public function mysql_inet6_ntoa( $bytes ) {
		$address = null === $bytes ? false : @inet_ntop( $bytes );
		return false === $address ? null : $address;
	}

	public function mysql_is_ipv4( $address ) {
		return (int) ( false !== filter_var( (string) $address, FILTER_VALIDATE_IP, FILTER_FLAG_IPV4 ) );
	}

	public function mysql_is_ipv6( $address ) {
		return (int) ( false !== filter_var( (string) $address, FILTER_VALIDATE_IP, FILTER_FLAG_IPV6 ) );
	}

	public function mysql_uuid() {
		$bytes    = random_bytes( 16 );
		$bytes[6] = chr( ord( $bytes[6] ) & 0x0f | 0x40 );
		$bytes[8] = chr( ord( $bytes[8] ) & 0x3f | 0x80 );
		return vsprintf( '%s%s-%s-%s-%s-%s%s%s', str_split( bin2hex( $bytes ), 4 ) );
	}
}
