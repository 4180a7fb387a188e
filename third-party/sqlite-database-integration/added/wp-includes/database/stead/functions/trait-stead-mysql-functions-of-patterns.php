<?php
/**
 * Patterns, words, and letters without case and accents. Part of Stead_MySQL_Functions.
 */
trait Stead_MySQL_Functions_Of_Patterns {
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
}
