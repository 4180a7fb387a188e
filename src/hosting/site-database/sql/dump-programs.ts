/** A program that writes dumps. */
export interface DumpProgram {
  readonly name: string
  /** Its first comments. */
  readonly head: RegExp
  /** Its last comment, where it always has one: without it the dump is cut off. */
  readonly end?: RegExp
  /** Stead's own: its bytes are what the columns are to have. */
  readonly isOwn?: true
}

/** What stands in the last line of a dump that is complete: Stead's, `mariadb-dump`'s and `mysqldump`'s. */
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

/** @param comments before the first statement */
export const programOf = (comments: readonly string[]): DumpProgram | undefined =>
  PROGRAMS.find(({ head }) => comments.some((comment) => head.test(comment)))

/** @param program undefined: one whose last line is that of Stead */
export const isAtItsEnd = (program: DumpProgram | undefined, lastComment: string): boolean =>
  (program?.end ?? COMPLETE).test(lastComment)
