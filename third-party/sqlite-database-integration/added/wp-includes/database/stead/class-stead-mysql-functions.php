<?php
/**
 * Functions of MySQL that SQLite has not, or has otherwise.
 *
 * Each public method named "mysql_…" is a function that the translation can call. It becomes known to SQLite only when
 * a statement needs it: a page that needs none pays nothing. None of them may ever be part of the schema (an index, a
 * generated column, a trigger): other programs read the database, too, and know none of them.
 */
class Stead_MySQL_Functions {
	const MONTHS = array( 'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December' );
	const DAYS   = array( 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday' );

	/** Parts of a compound unit, smallest last: "1 2:30" of DAY_MINUTE is a day, two hours and thirty minutes. */
	const COMPOUND = array(
		'YEAR_MONTH'         => array( 'YEAR', 'MONTH' ),
		'DAY_HOUR'           => array( 'DAY', 'HOUR' ),
		'DAY_MINUTE'         => array( 'DAY', 'HOUR', 'MINUTE' ),
		'DAY_SECOND'         => array( 'DAY', 'HOUR', 'MINUTE', 'SECOND' ),
		'DAY_MICROSECOND'    => array( 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MICROSECOND' ),
		'HOUR_MINUTE'        => array( 'HOUR', 'MINUTE' ),
		'HOUR_SECOND'        => array( 'HOUR', 'MINUTE', 'SECOND' ),
		'HOUR_MICROSECOND'   => array( 'HOUR', 'MINUTE', 'SECOND', 'MICROSECOND' ),
		'MINUTE_SECOND'      => array( 'MINUTE', 'SECOND' ),
		'MINUTE_MICROSECOND' => array( 'MINUTE', 'SECOND', 'MICROSECOND' ),
		'SECOND_MICROSECOND' => array( 'SECOND', 'MICROSECOND' ),
	);

	/** @var PDO */
	private $pdo;
	private $known = array();
	/** User variables, of statements that set them row by row. */
	public $variables = array();
	/** Names of locks that this request holds. */
	private $locks = array();
	/** What an INSERT … ON DUPLICATE KEY UPDATE met: rows that it changed, rows that it left as they were, the last one's id. */
	public $changed   = 0;
	public $unchanged = 0;
	public $last_id   = 0;
	/** What LAST_INSERT_ID() was given to keep. */
	public $kept_id = null;
	/** Values of unique keys that an INSERT or REPLACE of several rows has met: as first spelled, as last given, and the key. */
	public $spellings = array();
	/** Warnings of a statement that is examined, null while none is. */
	public $warned = null;

	public function __construct( $pdo ) {
		$this->pdo = $pdo;
	}

	public function has( string $name ): bool {
		return method_exists( $this, 'mysql_' . strtolower( $name ) );
	}

	/** Makes a function known to SQLite, and answers with its name there. */
	public function name_of( string $function ): string {
		$name = 'mysql_' . strtolower( $function );
		if ( ! isset( $this->known[ $name ] ) ) {
			$this->define(
				'createFunction',
				$name,
				function ( ...$values ) use ( $name ) {
					$answer = $this->$name( ...$values );
					// PDO hands whole numbers over in 32 bits.
					return is_int( $answer ) && ( $answer > 2147483647 || $answer < -2147483648 ) ? (float) $answer : $answer;
				}
			);
			$this->known[ $name ] = true;
		}
		return $name;
	}

	/** REGEXP is an operator of SQLite's, and calls a function of this name. */
	public function take_regexp(): void {
		if ( ! isset( $this->known['regexp'] ) ) {
			$this->define( 'createFunction', 'regexp', array( $this, 'mysql_regexp' ) );
			$this->known['regexp'] = true;
		}
	}

	public function aggregate( string $function ): string {
		$name = 'mysql_' . $function;
		if ( ! isset( $this->known[ $name ] ) ) {
			$this->define( 'createAggregate', $name, array( $this, 'collect' ), array( $this, 'finish_' . $function ) );
			$this->known[ $name ] = true;
		}
		return $name;
	}

	private function define( string $method, string $name, callable ...$callables ): void {
		$method = method_exists( $this->pdo, $method ) ? $method : 'sqlite' . ucfirst( $method );
		$this->pdo->$method( $name, ...$callables );
	}

	// Days and times.

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

	// Texts.

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

	// Patterns.

	/** A pattern for preg; null when it is none. */
	private function pattern( $pattern, string $type = '' ): ?string {
		$pattern = str_replace( array( '[[:<:]]', '[[:>:]]', '~' ), array( '\b(?=\w)', '\b(?<=\w)', '\~' ), $pattern );
		$flags   = false !== strpos( $type, 'c' ) ? '' : 'i';
		$flags  .= false !== strpos( $type, 'm' ) ? 'm' : '';
		$flags  .= false !== strpos( $type, 'n' ) ? 's' : '';
		return "~$pattern~{$flags}u";
	}

	private function matched( $answer, $pattern ) {
		if ( false === $answer || null === $answer ) {
			throw new Exception( "Got error '" . preg_last_error_msg() . "' from regexp '$pattern'" );
		}
		return $answer;
	}

	public function mysql_regexp( $pattern, $text ) {
		if ( null === $pattern || null === $text ) {
			return null;
		}
		$is_binary = "\0" === ( $pattern[0] ?? '' );
		$regex     = $this->pattern( $is_binary ? substr( $pattern, 1 ) : $pattern, $is_binary ? 'c' : '' );
		$answer    = @preg_match( $regex, (string) $text );
		// Bytes that are no UTF-8 are looked at as bytes.
		return $this->matched( false === $answer ? @preg_match( substr( $regex, 0, -1 ), (string) $text ) : $answer, $pattern );
	}

	public function mysql_regexp_like( $text, $pattern, $type = '' ) {
		return null === $text || null === $pattern ? null : $this->matched( @preg_match( $this->pattern( $pattern, $type ), (string) $text ), $pattern );
	}

	public function mysql_regexp_replace( $text, $pattern, $with, $at = 1, $which = 0, $type = '' ) {
		if ( null === $text || null === $pattern || null === $with ) {
			return null;
		}
		$before = $this->part( $text, 0, (int) $at - 1 );
		$count  = 0;
		$answer = @preg_replace_callback(
			$this->pattern( $pattern, $type ),
			function ( $match ) use ( $with, $which, &$count ) {
				++$count;
				if ( $which && $count !== (int) $which ) {
					return $match[0];
				}
				return preg_replace_callback(
					'/\\\\(\d)|\$(\d)/',
					function ( $reference ) use ( $match ) {
						return $match[ (int) end( $reference ) ] ?? '';
					},
					$with
				);
			},
			$this->part( $text, (int) $at - 1 )
		);
		return $before . $this->matched( $answer, $pattern );
	}

	private function occurrence( $text, $pattern, int $at, int $which, string $type ): ?array {
		$from = strlen( $this->part( $text, 0, $at - 1 ) );
		$this->matched( @preg_match_all( $this->pattern( $pattern, $type ), (string) $text, $all, PREG_OFFSET_CAPTURE, $from ), $pattern );
		return $all[0][ $which - 1 ] ?? null;
	}

	public function mysql_regexp_substr( $text, $pattern, $at = 1, $which = 1, $type = '' ) {
		if ( null === $text || null === $pattern ) {
			return null;
		}
		// MariaDB says that there is nothing by an empty text.
		return $this->occurrence( $text, $pattern, (int) $at, (int) $which, $type )[0] ?? '';
	}

	public function mysql_regexp_instr( $text, $pattern, $at = 1, $which = 1, $end = 0, $type = '' ) {
		if ( null === $text || null === $pattern ) {
			return null;
		}
		$found = $this->occurrence( $text, $pattern, (int) $at, (int) $which, $type );
		if ( null === $found ) {
			return 0;
		}
		return $this->length( substr( $text, 0, $found[1] ) ) + 1 + ( $end ? $this->length( $found[0] ) : 0 );
	}

	/** Letters without case and accents, near enough to utf8mb4_unicode_520_ci for the languages of Europe. */
	public static function folded( $text ): string {
		$text = (string) $text;
		if ( ! preg_match( '/[^\x00-\x7f]/', $text ) ) {
			return strtolower( $text );
		}
		static $map = null;
		if ( null === $map ) {
			$map = array();
			foreach ( self::ACCENTED as $plain => $letters ) {
				foreach ( preg_split( '//u', $letters, -1, PREG_SPLIT_NO_EMPTY ) as $letter ) {
					$map[ $letter ] = (string) $plain;
				}
			}
		}
		$text = function_exists( 'mb_strtolower' ) ? mb_strtolower( $text, 'UTF-8' ) : strtolower( $text );
		// Accents that follow their letter, then letters that have one in them.
		return strtr( preg_replace( '/\p{Mn}+/u', '', $text ) ?? $text, $map );
	}

	/**
	 * A text with each of its letters with accents in both cases and without its accent: all that equals it but for what
	 * SQLite finds equal itself, as long as there are few such letters.
	 *
	 * @return string[]
	 */
	public static function forms( string $text ): array {
		$letters = preg_split( '/([^\x00-\x7f])/u', $text, -1, PREG_SPLIT_DELIM_CAPTURE );
		if ( false === $letters || ! function_exists( 'mb_strtolower' ) || count( $letters ) > 9 ) {
			return array( $text );
		}
		$forms = array( '' );
		foreach ( $letters as $i => $letter ) {
			$each  = $i % 2 ? array_unique( array( $letter, mb_strtolower( $letter, 'UTF-8' ), mb_strtoupper( $letter, 'UTF-8' ), self::folded( $letter ) ) ) : array( $letter );
			$longer = array();
			foreach ( $forms as $form ) {
				foreach ( $each as $more ) {
					$longer[] = $form . $more;
				}
			}
			$forms = $longer;
		}
		return $forms;
	}

	/** Letters that have an accent in them, by the letter that they are without it; "ß" stands for two. */
	const ACCENTED = array(
		'a'  => 'àáâãäåāăąǎǟǡǻȁȃȧạảấầẩẫậắằẳẵặ',
		'c'  => 'çćĉċč',
		'd'  => 'ďḍḏđð',
		'e'  => 'èéêëēĕėęěȅȇȩẹẻẽếềểễệ',
		'g'  => 'ĝğġģǧǵ',
		'h'  => 'ĥȟḥħ',
		'i'  => 'ìíîïĩīĭįǐȉȋỉị',
		'j'  => 'ĵǰ',
		'k'  => 'ķǩḱ',
		'l'  => 'ĺļľḷłŀ',
		'm'  => 'ḿṁṃ',
		'n'  => 'ñńņňǹṅṇ',
		'o'  => 'òóôõöøōŏőơǒǫȍȏȯọỏốồổỗộớờởỡợ',
		'p'  => 'ṕṗ',
		'r'  => 'ŕŗřȑȓṙṛ',
		's'  => 'śŝşšșṡṣ',
		't'  => 'ţťțṫṭ',
		'u'  => 'ùúûüũūŭůűųưǔǖǘǚǜȕȗụủứừửữự',
		'v'  => 'ṽṿ',
		'w'  => 'ŵẁẃẅẇẉ',
		'x'  => 'ẋẍ',
		'y'  => 'ýÿŷȳỳỵỷỹ',
		'z'  => 'źżžẑẓẕ',
		'ss' => 'ß',
		'ae' => 'æ',
		'oe' => 'œ',
		'ij' => 'ĳ',
		'е'  => 'ё',
		'α'  => 'ά',
		'ε'  => 'έ',
		'η'  => 'ή',
		'ι'  => 'ίϊΐ',
		'ο'  => 'ό',
		'υ'  => 'ύϋΰ',
		'ω'  => 'ώ',
		'σ'  => 'ς',
	);

	/** Whether a text is like a pattern, letters of either case and with or without accents being the same. */
	public function mysql_like( $text, $pattern, $escape = '\\' ) {
		if ( null === $text || null === $pattern ) {
			return null;
		}
		static $regexes = array();
		$key            = "$escape\n$pattern";
		if ( ! isset( $regexes[ $key ] ) ) {
			// A search of several words has some, row by row. Patterns of a column are other ones each time.
			$regexes         = count( $regexes ) < 32 ? $regexes : array();
			$regexes[ $key ] = self::regex_of_like( self::folded( $pattern ), (string) $escape );
		}
		// Accents that follow their letter are rare.
		$text = (string) $text;
		$text = false === strpos( $text, "\xcc" ) && false === strpos( $text, "\xcd" ) ? $text : self::folded( $text );
		return (int) @preg_match( $regexes[ $key ], $text );
	}

	/** A pattern of LIKE as a regular expression, each letter with all its accents. */
	private static function regex_of_like( string $pattern, string $escape ): string {
		static $classes = null;
		if ( null === $classes ) {
			$classes = array();
			foreach ( self::ACCENTED as $plain => $letters ) {
				// Letter by letter: "ß" is not "ss".
				if ( 1 === strlen( (string) $plain ) ) {
					$classes[ (string) $plain ] = "[$plain$letters]";
				}
			}
		}
		$regex   = '';
		$letters = preg_split( '//u', $pattern, -1, PREG_SPLIT_NO_EMPTY );
		$count   = count( $letters );
		for ( $i = 0; $i < $count; $i++ ) {
			$letter = $letters[ $i ];
			if ( $letter === $escape && $i + 1 < $count ) {
				$regex .= preg_quote( $letters[ ++$i ], '~' );
			} elseif ( '%' === $letter ) {
				$regex .= '.*';
			} elseif ( '_' === $letter ) {
				$regex .= '.';
			} else {
				$regex .= $classes[ $letter ] ?? preg_quote( $letter, '~' );
			}
		}
		$regex = 0 === strpos( $regex, '.*' ) ? substr( $regex, 2 ) : "^$regex";
		$regex = '.*' === substr( $regex, -2 ) ? substr( $regex, 0, -2 ) : "$regex\$";
		return "~$regex~suiD";
	}

	/** What counted rows a statement has found, without its LIMIT. */
	public $total = null;

	public function mysql_counted( $total ) {
		$this->total = (int) $total;
		return 1;
	}

	/** What a text is sorted by. Numbers and nothing stay what they are. */
	public function mysql_sort_key( $value ) {
		return is_string( $value ) ? self::folded( rtrim( $value, ' ' ) ) : $value;
	}

	/** Words that are searched for in texts: a number over zero when they are there. */
	public function mysql_match( $mode, $search, ...$texts ) {
		if ( null === $search ) {
			return 0;
		}
		$text = ' ' . trim( preg_replace( '/[^\p{L}\p{N}_\']+/u', ' ', self::folded( implode( ' ', array_filter( $texts, 'is_string' ) ) ) ) ?? '' ) . ' ';
		if ( 'BOOLEAN' !== $mode ) {
			$score = 0.0;
			foreach ( $this->words( $search ) as $word ) {
				$score += strlen( $word ) < 3 ? 0 : substr_count( $text, " $word " );
			}
			return $score;
		}
		$score = 0.0;
		preg_match_all( '/([+\-~<>]?)("[^"]*"|[^\s"()]+)/u', self::folded( $search ), $terms, PREG_SET_ORDER );
		foreach ( $terms as $term ) {
			$is_start = '*' === substr( $term[2], -1 );
			$words    = implode( ' ', $this->words( $term[2] ) );
			if ( '' === $words ) {
				continue;
			}
			$count = substr_count( $text, " $words" . ( $is_start ? '' : ' ' ) );
			if ( ( '+' === $term[1] && 0 === $count ) || ( '-' === $term[1] && $count > 0 ) ) {
				return 0;
			}
			$score += '-' === $term[1] ? 0 : $count;
		}
		return $score;
	}

	private function words( $text ): array {
		return preg_split( '/[^\p{L}\p{N}_\']+/u', self::folded( $text ), -1, PREG_SPLIT_NO_EMPTY );
	}

	// Numbers.

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

	// JSON.

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

	/** A text comes without its quotes, so that it can be compared with one. */
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

	// Of the session.

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

	// What is made of many rows.

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
