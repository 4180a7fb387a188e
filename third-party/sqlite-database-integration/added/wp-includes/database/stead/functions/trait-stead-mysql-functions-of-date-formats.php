<?php
/**
 * Days and times as texts of a format, and back. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Date_Formats {
	public function mysql_date_format( $value, $format ) {
		$part = $this->parts( $value );
		if ( null === $part || null === $format ) {
			return null;
		}
		return preg_replace_callback(
			'/%(.)/su',
			function ( $match ) use ( $part, $value ) {
				return $this->formatted( $match[1], $part, $value );
			},
			$format
		);
	}

	private function formatted( string $letter, array $part, $value ): string {
		$hour = $part['h'] % 12 ? $part['h'] % 12 : 12;
		switch ( $letter ) {
			case 'Y':
				return sprintf( '%04d', $part['y'] );
			case 'y':
				return sprintf( '%02d', $part['y'] % 100 );
			case 'm':
				return sprintf( '%02d', $part['m'] );
			case 'c':
				return (string) $part['m'];
			case 'd':
				return sprintf( '%02d', $part['d'] );
			case 'e':
				return (string) $part['d'];
			case 'D':
				$last = $part['d'] % 10;
				$ends = array( 'th', 'st', 'nd', 'rd' );
				return $part['d'] . ( $part['d'] > 10 && $part['d'] < 14 ? 'th' : ( $ends[ $last ] ?? 'th' ) );
			case 'H':
				return sprintf( '%02d', $part['h'] );
			case 'k':
				return (string) $part['h'];
			case 'h':
			case 'I':
				return sprintf( '%02d', $hour );
			case 'l':
				return (string) $hour;
			case 'i':
				return sprintf( '%02d', $part['i'] );
			case 's':
			case 'S':
				return sprintf( '%02d', $part['s'] );
			case 'f':
				return sprintf( '%06d', $part['u'] );
			case 'p':
				return $part['h'] < 12 ? 'AM' : 'PM';
			case 'r':
				return sprintf( '%02d:%02d:%02d %s', $hour, $part['i'], $part['s'], $part['h'] < 12 ? 'AM' : 'PM' );
			case 'T':
				return sprintf( '%02d:%02d:%02d', $part['h'], $part['i'], $part['s'] );
			case 'M':
				return (string) $this->mysql_monthname( $value );
			case 'b':
				return substr( (string) $this->mysql_monthname( $value ), 0, 3 );
			case 'W':
				return (string) $this->mysql_dayname( $value );
			case 'a':
				return substr( (string) $this->mysql_dayname( $value ), 0, 3 );
			case 'w':
				return (string) ( ( $this->mysql_dayofweek( $value ) ?? 1 ) - 1 );
			case 'j':
				return sprintf( '%03d', $this->mysql_dayofyear( $value ) );
			case 'U':
				return sprintf( '%02d', $this->mysql_week( $value, 0 ) );
			case 'u':
				return sprintf( '%02d', $this->mysql_week( $value, 1 ) );
			case 'V':
				return sprintf( '%02d', $this->mysql_week( $value, 2 ) );
			case 'v':
				return sprintf( '%02d', $this->mysql_week( $value, 3 ) );
			case 'X':
				return sprintf( '%04d', $this->week_of( $value, 2, true )[1] ?? 0 );
			case 'x':
				return sprintf( '%04d', $this->week_of( $value, 3, true )[1] ?? 0 );
			default:
				return $letter;
		}
	}

	public function mysql_time_format( $value, $format ) {
		$seconds = $this->time_seconds( $value );
		return null === $seconds ? null : $this->mysql_date_format( '2000-01-01 ' . substr( $this->time_text( $seconds % 86400 ), -8 ), $format );
	}

	public function mysql_str_to_date( $text, $format ) {
		$date = $this->date_of_format( $text, $format );
		if ( null === $date && null !== $this->warned && null !== $text ) {
			$this->warned[] = array( 'Warning', '1411', "Incorrect datetime value: '$text' for function str_to_date" );
		}
		return $date;
	}

	private function date_of_format( $text, $format ) {
		if ( null === $text || null === $format ) {
			return null;
		}
		$at       = 0;
		$found    = array();
		$patterns = array(
			'Y' => '\d{1,4}',
			'y' => '\d{1,2}',
			'm' => '\d{1,2}',
			'c' => '\d{1,2}',
			'd' => '\d{1,2}',
			'e' => '\d{1,2}',
			'D' => '\d{1,2}(?:st|nd|rd|th)',
			'H' => '\d{1,2}',
			'k' => '\d{1,2}',
			'h' => '\d{1,2}',
			'I' => '\d{1,2}',
			'l' => '\d{1,2}',
			'i' => '\d{1,2}',
			's' => '\d{1,2}',
			'S' => '\d{1,2}',
			'f' => '\d{1,6}',
			'j' => '\d{1,3}',
			'p' => '[AaPp][Mm]',
			'M' => '[A-Za-z]+',
			'b' => '[A-Za-z]{3}',
			'W' => '[A-Za-z]+',
			'a' => '[A-Za-z]{3}',
			'T' => '\d{1,2}:\d{1,2}:\d{1,2}',
			'r' => '\d{1,2}:\d{1,2}:\d{1,2} [AaPp][Mm]',
		);
		$length   = strlen( $format );
		for ( $i = 0; $i < $length; $i++ ) {
			if ( '%' === $format[ $i ] && $i + 1 < $length ) {
				$letter = $format[ ++$i ];
				if ( '%' !== $letter ) {
					if ( ! isset( $patterns[ $letter ] ) || ! preg_match( '/\G\s*(' . $patterns[ $letter ] . ')/', $text, $m, 0, $at ) ) {
						return null;
					}
					$found[ $letter ] = $m[1];
					$at              += strlen( $m[0] );
					continue;
				}
			}
			if ( ctype_space( $format[ $i ] ) ) {
				$at += strspn( $text, " \t\n\r", $at );
			} elseif ( ( $text[ $at ] ?? '' ) === $format[ $i ] ) {
				++$at;
			} else {
				return null;
			}
		}
		return $this->date_of( $found );
	}

	/** A day, a time or both, of what was found in a text by the letters of a format. */
	private function date_of( array $found ) {
		foreach ( array( 'T', 'r' ) as $letter ) {
			if ( isset( $found[ $letter ] ) ) {
				list( $found['H'], $found['i'], $found['s'] ) = array_map( 'intval', explode( ':', $found[ $letter ] ) );
				if ( 'r' === $letter ) {
					$found['h'] = $found['H'];
					$found['p'] = substr( $found['r'], -2 );
				}
			}
		}
		$hour = (int) ( $found['H'] ?? $found['k'] ?? 0 );
		foreach ( array( 'h', 'I', 'l' ) as $letter ) {
			if ( isset( $found[ $letter ] ) ) {
				$hour = (int) $found[ $letter ] % 12 + ( isset( $found['p'] ) && 'p' === strtolower( $found['p'][0] ) ? 12 : 0 );
			}
		}
		$year = isset( $found['Y'] ) ? (int) $found['Y'] : null;
		if ( isset( $found['y'] ) ) {
			$year = (int) $found['y'] + ( (int) $found['y'] < 70 ? 2000 : 1900 );
		}
		$month = $found['m'] ?? $found['c'] ?? null;
		foreach ( self::MONTHS as $i => $name ) {
			if ( 0 === strcasecmp( $name, $found['M'] ?? '' ) || 0 === strcasecmp( substr( $name, 0, 3 ), $found['b'] ?? '' ) ) {
				$month = $i + 1;
			}
		}
		$day = $found['d'] ?? $found['e'] ?? ( isset( $found['D'] ) ? (int) $found['D'] : null );
		if ( isset( $found['j'] ) && null !== $year ) {
			list( , $month, $day ) = $this->day_of_number( $this->day_number( $year, 1, 1 ) + (int) $found['j'] - 1 );
		}
		$has_time = (bool) array_intersect_key( $found, array_flip( str_split( 'HkhIlisSfpTr' ) ) );
		$time     = sprintf( '%02d:%02d:%02d', $hour, $found['i'] ?? 0, $found['s'] ?? $found['S'] ?? 0 );
		if ( isset( $found['f'] ) ) {
			$time .= '.' . str_pad( $found['f'], 6, '0' );
		}
		if ( $hour > 23 || ( $found['i'] ?? 0 ) > 59 || ( $found['s'] ?? $found['S'] ?? 0 ) > 59 ) {
			return null;
		}
		if ( null === $year && null === $month && null === $day ) {
			return $has_time ? $time : null;
		}
		$date = sprintf( '%04d-%02d-%02d', $year ?? 0, $month ?? 0, $day ?? 0 );
		if ( null === $this->parts( $date ) ) {
			return null;
		}
		return $has_time ? "$date $time" : $date;
	}
}
