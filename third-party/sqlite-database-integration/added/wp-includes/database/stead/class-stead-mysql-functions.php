<?php
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-dates.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-saved.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-date-formats.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-texts.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-patterns.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-numbers.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-json.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-session.php';
require_once __DIR__ . '/functions/trait-stead-mysql-functions-of-aggregates.php';

/**
 * Functions of MySQL that SQLite has not, or has otherwise.
 *
 * Each public method named "mysql_…" is a function that the translation can call. It becomes known to SQLite only when
 * a statement needs it: a page that needs none pays nothing. None of them may ever be part of the schema (an index, a
 * generated column, a trigger): other programs read the database, too, and know none of them.
 */
class Stead_MySQL_Functions {
	use Stead_MySQL_Functions_Of_Dates;
	use Stead_MySQL_Functions_Of_Saved;
	use Stead_MySQL_Functions_Of_Date_Formats;
	use Stead_MySQL_Functions_Of_Texts;
	use Stead_MySQL_Functions_Of_Patterns;
	use Stead_MySQL_Functions_Of_Numbers;
	use Stead_MySQL_Functions_Of_JSON;
	use Stead_MySQL_Functions_Of_Session;
	use Stead_MySQL_Functions_Of_Aggregates;

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
}
