/** A program that writes dumps. */
export interface DumpProgram {
  readonly name: string
  /** Matches its first comments. */
  readonly head: RegExp
  /** Matches its last comment, if it always writes one. Without it the dump is cut off. */
  readonly end?: RegExp
  /** Set for Stead's own dumps: their bytes are exactly the values of the columns. */
  readonly isOwn?: true
}

/** The last line of a complete dump of Stead, `mariadb-dump`, and `mysqldump`. */
const COMPLETE = /^Dump completed/

const PROGRAMS: readonly DumpProgram[] = [
  { name: 'Stead', head: /^Stead dump \d/, end: COMPLETE, isOwn: true },
  { name: 'mysqldump', head: /^(?:MySQL|MariaDB) dump\b/, end: COMPLETE },
  { name: 'mysqlpump', head: /^Dump created by MySQL pump/, end: /^Dump end time/ },
  { name: 'Duplicator', head: /^DUPLICATOR\b.*MYSQL SCRIPT/, end: /DUPLICATOR_MYSQLDUMP_EOF/ },
  { name: 'Adminer', head: /^Adminer [\d.-]+ .*dump$/, end: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/ },
  { name: 'phpMyAdmin', head: /^phpMyAdmin SQL Dump/ },
  { name: 'UpdraftPlus', head: /UpdraftPlus/ },
  { name: 'BackWPup', head: /BackWPup/ },
  { name: 'HeidiSQL', head: /HeidiSQL/ },
]

/** @param comments the comments before the first statement */
export const programOf = (comments: readonly string[]): DumpProgram | undefined =>
  PROGRAMS.find(({ head }) => comments.some((comment) => head.test(comment)))

/** @param program undefined for an unknown one, whose last line must be like Stead's */
export const isAtItsEnd = (program: DumpProgram | undefined, lastComment: string): boolean =>
  (program?.end ?? COMPLETE).test(lastComment)
