<?php
/**
 * Days, times and moments: their parts, and how they are counted with. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Dates {
	/** Parts of a date or time as MySQL reads it, null when it is none. */
	private function parts( $value ): ?array {
		$parts = $this->parts_of( $value );
		if ( null === $parts && null !== $this->warned && null !== $value && ! preg_match( '/^-?\d+:\d/', (string) $value ) ) {
			$this->warned[] = array( 'Warning', '1292', "Incorrect datetime value: '$value'" );
		}
		return $parts;
	}

	private function parts_of( $value ): ?array {
		if ( null === $value ) {
			return null;
		}
		$value = trim( (string) $value );
		if ( preg_match( '/^(\d{4})[-\/.](\d{1,2})[-\/.](\d{1,2})(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?)?)?/', $value, $m ) ) {
			$has_time = isset( $m[4] );
		} elseif ( preg_match( '/^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?$/', $value, $m ) ) {
			$has_time = isset( $m[4] );
		} else {
			return null;
		}
		$part = array(
			'y'    => (int) $m[1],
			'm'    => (int) $m[2],
			'd'    => (int) $m[3],
			'h'    => (int) ( $m[4] ?? 0 ),
			'i'    => (int) ( $m[5] ?? 0 ),
			's'    => (int) ( $m[6] ?? 0 ),
			'u'    => (int) str_pad( $m[7] ?? '', 6, '0' ),
			'time' => $has_time,
		);
		if ( $part['m'] > 12 || $part['d'] > 31 || $part['h'] > 23 || $part['i'] > 59 || $part['s'] > 59 ) {
			return null;
		}
		if ( $part['m'] > 0 && $part['d'] > $this->days_in_month( $part['y'], $part['m'] ) ) {
			return null;
		}
		return $part;
	}

	/** Parts of a day that is one: no month or day of it is zero. */
	private function real_day( $value ): ?array {
		$part = $this->parts( $value );
		return null === $part || 0 === $part['m'] || 0 === $part['d'] ? null : $part;
	}

	private function days_in_month( int $year, int $month ): int {
		return 2 === $month ? ( $this->is_leap( $year ) ? 29 : 28 ) : array( 31, 0, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 )[ $month - 1 ];
	}

	private function is_leap( int $year ): bool {
		return 0 === $year % 4 && ( 0 !== $year % 100 || 0 === $year % 400 );
	}

	/** Days since the year 0, as TO_DAYS() counts them. */
	private function day_number( int $year, int $month, int $day ): int {
		if ( 0 === $year && 0 === $month ) {
			return 0;
		}
		$count = 365 * $year + 31 * ( $month - 1 ) + $day;
		if ( $month <= 2 ) {
			--$year;
		} else {
			$count -= intdiv( $month * 4 + 23, 10 );
		}
		return $count + intdiv( $year, 4 ) - intdiv( ( intdiv( $year, 100 ) + 1 ) * 3, 4 );
	}

	/** @return int[] Year, month and day. */
	private function day_of_number( int $number ): array {
		if ( $number < 366 ) {
			return array( 0, 0, 0 );
		}
		$year = intdiv( $number * 100, 36525 );
		while ( $this->day_number( $year + 1, 1, 1 ) <= $number ) {
			++$year;
		}
		while ( $this->day_number( $year, 1, 1 ) > $number ) {
			--$year;
		}
		$rest  = $number - $this->day_number( $year, 1, 1 );
		$month = 1;
		while ( $rest >= $this->days_in_month( $year, $month ) ) {
			$rest -= $this->days_in_month( $year, $month );
			++$month;
		}
		return array( $year, $month, $rest + 1 );
	}

	private function seconds( array $part ): int {
		return $this->day_number( $part['y'], $part['m'], $part['d'] ) * 86400 + $part['h'] * 3600 + $part['i'] * 60 + $part['s'];
	}

	private function as_text( int $seconds, int $micros = 0, bool $with_time = true ): ?string {
		list( $y, $m, $d ) = $this->day_of_number( intdiv( $seconds, 86400 ) );
		if ( $seconds < 366 * 86400 || $y > 9999 ) {
			return null;
		}
		$rest = $seconds % 86400;
		$day  = sprintf( '%04d-%02d-%02d', $y, $m, $d );
		if ( ! $with_time ) {
			return $day;
		}
		$text = sprintf( '%s %02d:%02d:%02d', $day, intdiv( $rest, 3600 ), intdiv( $rest, 60 ) % 60, $rest % 60 );
		return $micros ? sprintf( '%s.%06d', $text, $micros ) : $text;
	}

	/** A day moved by an interval; $sign is 1 or -1. */
	public function mysql_date_move( $date, $value, $unit, $sign ) {
		$part = $this->real_day( $date );
		if ( null === $part || null === $value ) {
			return null;
		}
		$unit    = strtoupper( $unit );
		$amounts = array();
		if ( isset( self::COMPOUND[ $unit ] ) ) {
			$units = self::COMPOUND[ $unit ];
			preg_match_all( '/\d+/', (string) $value, $numbers );
			if ( 0 === strpos( ltrim( (string) $value ), '-' ) ) {
				$sign = -$sign;
			}
			// What is left out is left out at the front.
			foreach ( array_reverse( $numbers[0] ) as $i => $number ) {
				$name = $units[ count( $units ) - 1 - $i ] ?? null;
				if ( null !== $name ) {
					$amounts[ $name ] = (int) $number;
				}
			}
		} else {
			$amounts[ $unit ] = 'SECOND' === $unit ? (float) $value : (int) round( (float) $value );
		}
		$months  = 0;
		$micros  = 0;
		$seconds = 0;
		$by_time = false;
		foreach ( $amounts as $name => $amount ) {
			$amount *= $sign;
			switch ( $name ) {
				case 'YEAR':
					$months += 12 * $amount;
					break;
				case 'QUARTER':
					$months += 3 * $amount;
					break;
				case 'MONTH':
					$months += $amount;
					break;
				case 'WEEK':
					$seconds += 604800 * $amount;
					break;
				case 'DAY':
					$seconds += 86400 * $amount;
					break;
				case 'HOUR':
					$seconds += 3600 * $amount;
					$by_time  = true;
					break;
				case 'MINUTE':
					$seconds += 60 * $amount;
					$by_time  = true;
					break;
				case 'SECOND':
					$whole    = (int) floor( $amount );
					$seconds += $whole;
					$micros  += (int) round( ( $amount - $whole ) * 1000000 );
					$by_time  = true;
					break;
				case 'MICROSECOND':
					$micros += $amount;
					$by_time = true;
					break;
				default:
					return null;
			}
		}
		if ( 0 !== $months ) {
			$total = $part['y'] * 12 + $part['m'] - 1 + $months;
			if ( $total < 0 ) {
				return null;
			}
			$part['y'] = intdiv( $total, 12 );
			$part['m'] = $total % 12 + 1;
			$part['d'] = min( $part['d'], $this->days_in_month( $part['y'], $part['m'] ) );
		}
		$micros  += $part['u'];
		$carry    = (int) floor( $micros / 1000000 );
		$seconds += $this->seconds( $part ) + $carry;
		return $this->as_text( $seconds, $micros - $carry * 1000000, $part['time'] || $by_time );
	}

	public function mysql_timestampdiff( $unit, $from, $to ) {
		$a = $this->real_day( $from );
		$b = $this->real_day( $to );
		if ( null === $a || null === $b ) {
			return null;
		}
		$unit    = strtoupper( $unit );
		$seconds = $this->seconds( $b ) - $this->seconds( $a );
		$micros  = $b['u'] - $a['u'];
		$lengths = array(
			'SECOND' => 1,
			'MINUTE' => 60,
			'HOUR'   => 3600,
			'DAY'    => 86400,
			'WEEK'   => 604800,
		);
		if ( isset( $lengths[ $unit ] ) ) {
			if ( $micros < 0 && $seconds > 0 ) {
				--$seconds;
			} elseif ( $micros > 0 && $seconds < 0 ) {
				++$seconds;
			}
			return intdiv( $seconds, $lengths[ $unit ] );
		}
		if ( 'MICROSECOND' === $unit ) {
			return $seconds * 1000000 + $micros;
		}
		$sign = 1;
		if ( $seconds < 0 ) {
			list( $a, $b ) = array( $b, $a );
			$sign          = -1;
		}
		$months = ( $b['y'] - $a['y'] ) * 12 + $b['m'] - $a['m'];
		$rest   = function ( $p ) {
			return ( ( $p['d'] * 24 + $p['h'] ) * 60 + $p['i'] ) * 60 + $p['s'] + $p['u'] / 1000000;
		};
		if ( $rest( $b ) < $rest( $a ) ) {
			--$months;
		}
		$lengths = array(
			'MONTH'   => 1,
			'QUARTER' => 3,
			'YEAR'    => 12,
		);
		return isset( $lengths[ $unit ] ) ? $sign * intdiv( $months, $lengths[ $unit ] ) : null;
	}

	public function mysql_extract( $unit, $value ) {
		$unit = strtoupper( $unit );
		if ( null === $value ) {
			return null;
		}
		$part = $this->parts( $value );
		if ( null === $part ) {
			$time = $this->time_seconds( $value );
			if ( null === $time ) {
				return null;
			}
			$part = array(
				'y' => 0,
				'm' => 0,
				'd' => 0,
				'h' => intdiv( (int) abs( $time ), 3600 ),
				'i' => intdiv( (int) abs( $time ), 60 ) % 60,
				's' => (int) abs( $time ) % 60,
				'u' => 0,
			);
		}
		switch ( $unit ) {
			case 'YEAR':
				return $part['y'];
			case 'QUARTER':
				return intdiv( $part['m'] + 2, 3 );
			case 'MONTH':
				return $part['m'];
			case 'WEEK':
				return $this->mysql_week( $value );
			case 'DAY':
				return $part['d'];
			case 'HOUR':
				return $part['h'];
			case 'MINUTE':
				return $part['i'];
			case 'SECOND':
				return $part['s'];
			case 'MICROSECOND':
				return $part['u'];
		}
		$keys   = array(
			'YEAR'        => 'y',
			'MONTH'       => 'm',
			'DAY'         => 'd',
			'HOUR'        => 'h',
			'MINUTE'      => 'i',
			'SECOND'      => 's',
			'MICROSECOND' => 'u',
		);
		$answer = 0;
		foreach ( self::COMPOUND[ $unit ] ?? array() as $name ) {
			$answer = $answer * ( 'MICROSECOND' === $name ? 1000000 : 100 ) + $part[ $keys[ $name ] ];
		}
		return $answer;
	}

	public function mysql_year( $value ) {
		return $this->mysql_extract( 'YEAR', $this->day_only( $value ) );
	}

	public function mysql_month( $value ) {
		return $this->mysql_extract( 'MONTH', $this->day_only( $value ) );
	}

	public function mysql_day( $value ) {
		return $this->mysql_extract( 'DAY', $this->day_only( $value ) );
	}

	/** A time of day is no day. */
	private function day_only( $value ) {
		return null === $this->parts( $value ) ? null : $value;
	}

	public function mysql_dayofmonth( $value ) {
		return $this->mysql_day( $value );
	}

	public function mysql_hour( $value ) {
		return $this->mysql_extract( 'HOUR', $value );
	}

	public function mysql_minute( $value ) {
		return $this->mysql_extract( 'MINUTE', $value );
	}

	public function mysql_second( $value ) {
		return $this->mysql_extract( 'SECOND', $value );
	}

	public function mysql_microsecond( $value ) {
		return $this->mysql_extract( 'MICROSECOND', $value );
	}

	public function mysql_quarter( $value ) {
		return $this->mysql_extract( 'QUARTER', $this->day_only( $value ) );
	}

	public function mysql_to_days( $value ) {
		$part = $this->real_day( $value );
		return null === $part ? null : $this->day_number( $part['y'], $part['m'], $part['d'] );
	}

	public function mysql_to_seconds( $value ) {
		$part = $this->real_day( $value );
		return null === $part ? null : $this->seconds( $part );
	}

	public function mysql_from_days( $number ) {
		return null === $number ? null : vsprintf( '%04d-%02d-%02d', $this->day_of_number( (int) $number ) );
	}

	public function mysql_weekday( $value ) {
		$days = $this->mysql_to_days( $value );
		return null === $days ? null : ( $days + 5 ) % 7;
	}

	public function mysql_dayofweek( $value ) {
		$days = $this->mysql_to_days( $value );
		return null === $days ? null : ( $days + 6 ) % 7 + 1;
	}

	public function mysql_dayofyear( $value ) {
		$part = $this->real_day( $value );
		return null === $part ? null : $this->day_number( $part['y'], $part['m'], $part['d'] ) - $this->day_number( $part['y'], 1, 1 ) + 1;
	}

	public function mysql_dayname( $value ) {
		$day = $this->mysql_weekday( $value );
		return null === $day ? null : self::DAYS[ $day ];
	}

	public function mysql_monthname( $value ) {
		$part = $this->parts( $value );
		return null === $part || 0 === $part['m'] ? null : self::MONTHS[ $part['m'] - 1 ];
	}

	/** @return int[]|null Week and the year that it belongs to, counted as MySQL does. */
	private function week_of( $value, int $mode, bool $of_year ): ?array {
		$part = $this->real_day( $value );
		if ( null === $part ) {
			return null;
		}
		$mode &= 7;
		if ( ! ( $mode & 1 ) ) {
			$mode ^= 4;
		}
		$is_monday_first = (bool) ( $mode & 1 );
		$of_year         = $of_year || ( $mode & 2 );
		$first_weekday   = (bool) ( $mode & 4 );
		$year            = $part['y'];
		$number          = $this->day_number( $part['y'], $part['m'], $part['d'] );
		$first           = $this->day_number( $year, 1, 1 );
		$weekday         = ( $first + 5 + ( $is_monday_first ? 0 : 1 ) ) % 7;
		$is_late         = function ( $weekday ) use ( $first_weekday ) {
			return $first_weekday ? 0 !== $weekday : $weekday >= 4;
		};
		if ( 1 === $part['m'] && $part['d'] <= 7 - $weekday ) {
			if ( ! $of_year && $is_late( $weekday ) ) {
				return array( 0, $year );
			}
			$of_year = true;
			--$year;
			$days    = $this->is_leap( $year ) ? 366 : 365;
			$first  -= $days;
			$weekday = ( $weekday + 53 * 7 - $days ) % 7;
		}
		$days = $is_late( $weekday ) ? $number - ( $first + 7 - $weekday ) : $number - ( $first - $weekday );
		if ( $of_year && $days >= 52 * 7 ) {
			$weekday = ( $weekday + ( $this->is_leap( $year ) ? 366 : 365 ) ) % 7;
			if ( ! $is_late( $weekday ) ) {
				return array( 1, $year + 1 );
			}
		}
		return array( intdiv( $days, 7 ) + 1, $year );
	}

	public function mysql_week( $value, $mode = 0 ) {
		return $this->week_of( $value, (int) $mode, false )[0] ?? null;
	}

	public function mysql_weekofyear( $value ) {
		return $this->mysql_week( $value, 3 );
	}

	public function mysql_yearweek( $value, $mode = 0 ) {
		$week = $this->week_of( $value, (int) $mode, true );
		return null === $week ? null : $week[1] * 100 + $week[0];
	}

	public function mysql_last_day( $value ) {
		$part = $this->parts( $value );
		return null === $part || 0 === $part['m'] ? null : sprintf( '%04d-%02d-%02d', $part['y'], $part['m'], $this->days_in_month( $part['y'], $part['m'] ) );
	}

	public function mysql_makedate( $year, $day ) {
		if ( null === $year || null === $day || $day < 1 ) {
			return null;
		}
		$year = (int) $year;
		$year = $year < 70 ? $year + 2000 : ( $year < 100 ? $year + 1900 : $year );
		return $this->as_text( ( $this->day_number( $year, 1, 1 ) + (int) $day - 1 ) * 86400, 0, false );
	}

	public function mysql_maketime( $hour, $minute, $second ) {
		if ( null === $hour || null === $minute || null === $second || $minute > 59 || $second > 59 || $minute < 0 || $second < 0 ) {
			return null;
		}
		return $this->time_text( ( $hour < 0 ? -1 : 1 ) * ( abs( (int) $hour ) * 3600 + $minute * 60 + (int) $second ) );
	}

	/** Seconds of a time of day or a length of time. */
	private function time_seconds( $value ) {
		if ( null === $value ) {
			return null;
		}
		$part = $this->parts( $value );
		if ( null !== $part && ! preg_match( '/^\d{6}$/', (string) $value ) ) {
			return $part['h'] * 3600 + $part['i'] * 60 + $part['s'];
		}
		if ( preg_match( '/^\s*(-?)(?:(\d+) )?(\d+):(\d{1,2})(?::(\d{1,2}))?/', (string) $value, $m ) ) {
			$seconds = ( (int) $m[2] * 24 + (int) $m[3] ) * 3600 + (int) $m[4] * 60 + (int) ( $m[5] ?? 0 );
			return '-' === $m[1] ? -$seconds : $seconds;
		}
		if ( is_numeric( $value ) ) {
			$number  = (int) abs( $value );
			$seconds = intdiv( $number, 10000 ) * 3600 + ( intdiv( $number, 100 ) % 100 ) * 60 + $number % 100;
			return $value < 0 ? -$seconds : $seconds;
		}
		return null;
	}

	private function time_text( $seconds ): string {
		$seconds = max( -3020399, min( 3020399, (int) $seconds ) );
		$length  = abs( $seconds );
		return sprintf( '%s%02d:%02d:%02d', $seconds < 0 ? '-' : '', intdiv( $length, 3600 ), intdiv( $length, 60 ) % 60, $length % 60 );
	}

	public function mysql_time( $value ) {
		$seconds = $this->time_seconds( $value );
		return null === $seconds ? null : $this->time_text( $seconds );
	}

	public function mysql_time_to_sec( $value ) {
		return $this->time_seconds( $value );
	}

	public function mysql_sec_to_time( $value ) {
		return null === $value ? null : $this->time_text( (int) $value );
	}

	public function mysql_timediff( $a, $b ) {
		$first  = $this->real_day( $a );
		$second = $this->real_day( $b );
		if ( null !== $first && null !== $second ) {
			return $this->time_text( $this->seconds( $first ) - $this->seconds( $second ) );
		}
		$first  = $this->time_seconds( $a );
		$second = $this->time_seconds( $b );
		return null === $first || null === $second ? null : $this->time_text( $first - $second );
	}

	public function mysql_addtime( $value, $time, $sign = 1 ) {
		$length = $this->time_seconds( $time );
		if ( null === $value || null === $length ) {
			return null;
		}
		$part = $this->real_day( $value );
		if ( null !== $part ) {
			return $this->as_text( $this->seconds( $part ) + $sign * $length, $part['u'] );
		}
		return $this->time_text( $this->time_seconds( $value ) + $sign * $length );
	}

	public function mysql_subtime( $value, $time ) {
		return $this->mysql_addtime( $value, $time, -1 );
	}

	public function mysql_date( $value ) {
		$part = $this->parts( $value );
		return null === $part ? null : sprintf( '%04d-%02d-%02d', $part['y'], $part['m'], $part['d'] );
	}

	public function mysql_timestamp( $value, $time = '00:00:00' ) {
		$part   = $this->parts( $value );
		$length = $this->time_seconds( $time );
		if ( null === $part || null === $length ) {
			return null;
		}
		if ( 0 === $part['m'] || 0 === $part['d'] ) {
			return sprintf( '%04d-%02d-%02d %02d:%02d:%02d', $part['y'], $part['m'], $part['d'], $part['h'], $part['i'], $part['s'] );
		}
		return $this->as_text( $this->seconds( $part ) + $length, $part['u'] );
	}

	/** A day or moment as the number of its digits, as it is counted with. */
	public function mysql_number_of_date( $value ) {
		$part = $this->parts( $value );
		if ( null === $part ) {
			return null === $value ? null : (float) $value;
		}
		$day = $part['y'] * 10000 + $part['m'] * 100 + $part['d'];
		return $part['time'] ? $day * 1000000 + $part['h'] * 10000 + $part['i'] * 100 + $part['s'] : $day;
	}

	public function mysql_datediff( $a, $b ) {
		$first  = $this->mysql_to_days( $a );
		$second = $this->mysql_to_days( $b );
		return null === $first || null === $second ? null : $first - $second;
	}

	public function mysql_period_add( $period, $months ) {
		$total = $this->period( $period ) + (int) $months;
		return intdiv( $total, 12 ) * 100 + $total % 12 + 1;
	}

	public function mysql_period_diff( $a, $b ) {
		return null === $a || null === $b ? null : $this->period( $a ) - $this->period( $b );
	}

	private function period( $period ): int {
		$year = intdiv( (int) $period, 100 );
		$year = $year < 70 ? $year + 2000 : ( $year < 100 ? $year + 1900 : $year );
		return $year * 12 + (int) $period % 100 - 1;
	}

	public function mysql_curtime() {
		return gmdate( 'H:i:s' );
	}

	public function mysql_unix_timestamp( $value = false ) {
		if ( false === $value ) {
			return time();
		}
		if ( null === $value ) {
			return null;
		}
		$part = $this->real_day( $value );
		$seconds = null === $part ? -1 : $this->seconds( $part ) - 719528 * 86400;
		return $seconds < 0 ? null : $seconds;
	}

	public function mysql_from_unixtime( $seconds, $format = null ) {
		if ( null === $seconds || $seconds < 0 ) {
			return null;
		}
		$date = gmdate( 'Y-m-d H:i:s', (int) $seconds );
		return null === $format ? $date : $this->mysql_date_format( $date, $format );
	}

	public function mysql_convert_tz( $value, $from, $to ) {
		$part = $this->real_day( $value );
		if ( null === $part || null === $from || null === $to ) {
			return null;
		}
		try {
			$zone = function ( $name ) {
				return new DateTimeZone( 'SYSTEM' === strtoupper( $name ) ? 'UTC' : $name );
			};
			$time = new DateTime( $this->as_text( $this->seconds( $part ) ), $zone( $from ) );
			return $time->setTimezone( $zone( $to ) )->format( 'Y-m-d H:i:s' );
		} catch ( Throwable $e ) {
			return null;
		}
	}
}
