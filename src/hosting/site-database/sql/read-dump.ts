import { checkCharset, isUtf8Charset, leadsOf, toUtf8 } from './charsets.ts'
import { type DumpProgram, isAtItsEnd, programOf } from './dump-programs.ts'
import { readAlter, readIndex } from './read-alter.ts'
import { readTableDefinition } from './read-table.ts'
import { SessionSettings } from './session-settings.ts'
import { SqlTokens, type Token, type TokensOptions, UnreadableSql } from './sql-tokens.ts'
import type { TableDefinition } from './table.ts'

/** A value of a row. Only its column determines whether its bytes are text. */
export type Value =
  | { readonly kind: 'null' }
  | { readonly kind: 'number'; readonly text: string }
  | {
      readonly kind: 'string' | 'bits'
      readonly bytes: Uint8Array
      /**
       * The charset of the text, for a text column; `binary` means that of the column. Default: the bytes are the
       * column's value.
       */
      readonly charset?: string
    }

/** How to treat a row whose key already exists. Default: as an error. */
export type OnDuplicate = 'ignore' | 'replace' | { readonly update: readonly string[] }

/** The contents of a dump, in its order. */
export type DumpEvent =
  | { readonly kind: 'drop'; readonly table: string }
  /** `database` is the current database according to the dump, if any. */
  | { readonly kind: 'create'; readonly table: TableDefinition; readonly database?: string; readonly ifAbsent?: true }
  | {
      readonly kind: 'row'
      readonly table: string
      readonly columns: readonly string[] | undefined
      readonly values: readonly Value[]
      readonly onDuplicate?: OnDuplicate
    }
  | { readonly kind: 'alter'; readonly table: string; readonly apply: (table: TableDefinition) => TableDefinition }
  | { readonly kind: 'empty'; readonly table: string }
  /** Something that only a server can have, and that no table needs: `view v`. */
  | { readonly kind: 'leftOut'; readonly what: string }

export interface DumpReaderOptions extends TokensOptions {
  /**
   * Whether the program of the dump is unknown to Stead, or writes no last line. Then anything other than tables is
   * left out, and text must be valid in its charset. Default: it is one of Stead's, and all of it is required.
   */
  readonly isForeign?: boolean
}

/** The most words of a definition, and values of a row. MySQL's own limit is 4,096 columns. */
const MOST_TOKENS = 200_000
const MOST_COLUMNS = 4096
/** The size limit of all words of a statement other than INSERT. */
const MOST_STATEMENT_BYTES = 16 << 20
/** The size limit of rows that wait for the end of their INSERT, which may say how to treat existing rows. */
const MOST_WAITING_BYTES = 4 << 20
const MOST_NESTED = 16

const NULL: Value = { kind: 'null' }

/** Statements without content, by their first word. */
const WITHOUT_CONTENT = new Set(
  'LOCK UNLOCK START BEGIN COMMIT ANALYZE OPTIMIZE CHECK REPAIR FLUSH CHANGE SAVEPOINT RELEASE DO'.split(' '),
)
/** Statements about a server, which are left out of a dump of another program. */
const OF_SERVER = new Set('GRANT REVOKE RENAME CALL INSTALL'.split(' '))
/** What CREATE and DROP can create and remove in addition to tables. */
const NOUNS = new Set(
  'TABLE VIEW TRIGGER PROCEDURE FUNCTION EVENT SEQUENCE USER ROLE SERVER PACKAGE INDEX DATABASE SCHEMA TABLESPACE LOGFILE'.split(
    ' ',
  ),
)
const WITH_BODY = new Set('TRIGGER PROCEDURE FUNCTION EVENT PACKAGE'.split(' '))
/** The databases in a dump of a whole server that do not belong to sites. */
const OF_SERVERS = new Set(['mysql', 'sys', 'information_schema', 'performance_schema', 'phpmyadmin'])
const CORRECT = 'Correct the dump there, or export the database again.'
const PLAIN_EXPORT = 'Export the database again with wp db export or mysqldump.'

/**
 * Reads the text that Stead, `mariadb-dump`, `mysqldump`, and other programs write: tables and rows, in the order in
 * which they appear. It refuses anything unknown, which would otherwise be lost silently.
 */
export class DumpReader {
  readonly #tokens: SqlTokens
  readonly #isForeign: boolean
  readonly #statements: Generator<DumpEvent | undefined, void, void>
  readonly #session = new SessionSettings()
  #program: DumpProgram | undefined
  #hasProgram = false
  #database: string | undefined
  #hasTables = false
  #isInStatement = false
  #isAnsi = false
  /** Whether the current database is one of the server's own. */
  #isOfServer = false

  constructor({ isForeign = false, ...options }: DumpReaderOptions = {}) {
    this.#tokens = new SqlTokens(options)
    this.#isForeign = isForeign
    this.#statements = this.#read()
  }

  /** Returns program messages between the statements, which were redirected into the same file. */
  get messages(): readonly string[] {
    return this.#tokens.noise
  }

  /** Returns whether its program is known, or its last line says that it is complete. */
  get saysItsEnd(): boolean {
    return this.#program !== undefined || /^Dump completed/.test(this.#tokens.lastComment)
  }

  /** Returns the place up to which it has read. Most of that is not in the database yet. */
  get place(): string {
    return this.#tokens.place
  }

  /** Adds the current place to an error. */
  placed(error: unknown): unknown {
    if (!(error instanceof UnreadableSql) || / at line \d+, byte \d+/.test(error.message)) return error
    return this.#tokens.fail(error.message, error.remedy ?? (this.#isForeign ? CORRECT : undefined))
  }

  /** @returns the events so far. @throws UnreadableSql */
  *write(chunk: Uint8Array): Generator<DumpEvent, void, void> {
    this.#tokens.write(chunk)
    yield* this.#events()
  }

  /** Ends the dump. @throws UnreadableSql when it is cut off */
  *finish(): Generator<DumpEvent, void, void> {
    this.#tokens.finish()
    yield* this.#events()
    this.#findProgram()
    const { lastComment, place } = this.#tokens
    const again = 'Copy the file again, or export the database again.'
    const mustSay = !this.#isForeign || this.#program?.end !== undefined
    const program = this.#isForeign ? this.#program : undefined
    if (mustSay && !isAtItsEnd(program, lastComment))
      throw new UnreadableSql(`It is cut off at ${place}: the last line does not say that it is complete`, again)
    if (this.#isInStatement) throw new UnreadableSql(`It is cut off at ${place}: its last statement has no end`, again)
    if (this.#isForeign && !this.#hasTables)
      throw new UnreadableSql(`It has no tables, at ${place}`, 'Check that the file is a dump of a MySQL database.')
  }

  *#events(): Generator<DumpEvent, void, void> {
    for (;;) {
      const { value, done } = this.#step()
      if (done || !value) return
      if (!this.#isOfServer || value.kind === 'leftOut') yield value
    }
  }

  #step(): IteratorResult<DumpEvent | undefined, void> {
    try {
      return this.#statements.next()
    } catch (error) {
      throw this.placed(error)
    }
  }

  #findProgram(): void {
    if (this.#hasProgram) return
    this.#hasProgram = true
    this.#program = programOf(this.#tokens.head)
  }

  /** Yields undefined when more is needed. */
  *#read(): Generator<DumpEvent | undefined, void, void> {
    const tokens = this.#tokens
    for (;;) {
      tokens.beginStatement()
      this.#isInStatement = false
      let token = tokens.next()
      while (token === undefined) {
        yield undefined
        token = tokens.next()
      }
      this.#findProgram()
      if (isMark(token, ';')) continue
      const word = upper(token)
      this.#isInStatement = !['COMMIT', 'UNLOCK', 'SET'].includes(word)
      if (word === 'INSERT' || word === 'REPLACE') yield* this.#rows(word)
      else if (word === 'CREATE') yield* this.#creation(token)
      else if (word === 'DROP') yield* this.#removal(token)
      else if (word === 'ALTER') yield* this.#change(token)
      else if (word === 'TRUNCATE' || word === 'DELETE') yield* this.#emptying(word)
      else if (word === 'SET') yield* this.#setting()
      else if (word === 'USE') yield* this.#use()
      else if (WITHOUT_CONTENT.has(word)) yield* this.#skipStatement()
      else if (this.#isForeign && OF_SERVER.has(word)) {
        yield* this.#skipStatement()
        yield { kind: 'leftOut', what: `a statement ${word}` }
      } else throw unknown(token)
    }
  }

  *#next(): Generator<undefined, Token, void> {
    for (;;) {
      const token = this.#tokens.next()
      if (token) return token
      yield undefined
    }
  }

  *#use(): Generator<DumpEvent | undefined, void, void> {
    const [name] = yield* this.#toSemicolon()
    if (name === undefined || !isName(name)) return
    this.#database = nameOf(name)
    this.#isOfServer = this.#isForeign && OF_SERVERS.has(this.#database.toLowerCase())
    if (this.#isOfServer) yield { kind: 'leftOut', what: `database ${this.#database}` }
  }

  *#setting(): Generator<undefined, void, void> {
    this.#session.set(yield* this.#toSemicolon())
    const { charset, modes } = this.#session
    checkCharset(charset)
    this.#tokens.leads = leadsOf(charset)
    this.#tokens.hasBackslashes = !modes.has('NO_BACKSLASH_ESCAPES')
    this.#tokens.hasAnsiQuotes = this.#isAnsi || modes.has('ANSI_QUOTES') || modes.has('ANSI')
  }

  *#creation(first: Token): Generator<DumpEvent | undefined, void, void> {
    const { statement, noun } = yield* this.#definition(first)
    if (noun === 'DATABASE' || noun === 'SCHEMA') return
    if (noun === 'INDEX') {
      yield { kind: 'alter', ...readIndex(this.#inUtf8(statement)) }
      return
    }
    const words = statement.slice(0, 8).map(upper)
    if (noun !== 'TABLE') {
      yield this.#leaveOut(statement, noun)
      return
    }
    // Adminer creates such a table for a view, so that other views can use it.
    const paren = statement.findIndex((token) => isMark(token, '('))
    if (this.#isForeign && paren > 0 && isMark(statement[paren + 1] ?? NOTHING, ')')) return
    const isTemporary = words.includes('TEMPORARY')
    const table = readTableDefinition(this.#inUtf8(statement))
    if (isTemporary) return
    this.#hasTables = true
    const database = databaseIn(statement) ?? this.#database
    const ifAbsent = words.slice(0, 6).join(' ').includes('TABLE IF NOT EXISTS')
    yield { kind: 'create', table, ...(database !== undefined && { database }), ...(ifAbsent && { ifAbsent }) }
  }

  *#removal(first: Token): Generator<DumpEvent | undefined, void, void> {
    const { statement, noun } = yield* this.#definition(first)
    if (noun === 'TABLE') for (const table of droppedTables(statement)) yield { kind: 'drop', table }
    else if (!this.#isForeign && noun !== 'DATABASE' && noun !== 'SCHEMA') throw nothingToLoad(statement)
  }

  *#change(first: Token): Generator<DumpEvent | undefined, void, void> {
    const statement = [first, ...(yield* this.#toSemicolon())]
    const noun = statement
      .slice(0, 4)
      .map(upper)
      .find((word) => word === 'TABLE' || NOUNS.has(word))
    if (noun === 'DATABASE' || noun === 'SCHEMA') return
    if (noun !== 'TABLE') {
      yield this.#leaveOut(statement, noun)
      return
    }
    const change = readAlter(this.#inUtf8(statement))
    if (change) yield { kind: 'alter', ...change }
  }

  /** Leaves out views, triggers, and routines, which would run with the rights of others. */
  #leaveOut(statement: readonly Token[], noun: string | undefined): DumpEvent {
    if (!this.#isForeign || noun === undefined) throw nothingToLoad(statement)
    return { kind: 'leftOut', what: `${noun.toLowerCase()} ${nameAfter(statement, noun)}`.trim() }
  }

  *#emptying(word: string): Generator<DumpEvent | undefined, void, void> {
    const statement = yield* this.#toSemicolon()
    const names = statement.filter(
      (token) => !['TABLE', 'FROM', 'QUICK', 'IGNORE', 'LOW_PRIORITY'].includes(upper(token)),
    )
    const table = names.at(-1)
    const isQualified = names.length === 3 && isMark(names[1] as Token, '.')
    if (!table || !isName(table) || (names.length !== 1 && !isQualified))
      throw new UnreadableSql(`${word} of some rows is nothing that can be loaded,`, PLAIN_EXPORT)
    yield { kind: 'empty', table: nameOf(table) }
  }

  *#skipStatement(): Generator<undefined, void, void> {
    for (;;) if (isMark(yield* this.#next(), ';')) return
  }

  /** Reads all words of CREATE and DROP, and their object. Of objects with a body, reads only the beginning. */
  *#definition(first: Token): Generator<undefined, { statement: Token[]; noun: string | undefined }, void> {
    const statement = [first]
    let noun: string | undefined
    let [depth, bytes, isAfterEnd] = [0, 0, false]
    for (;;) {
      const token = yield* this.#next()
      const word = upper(token)
      if (isMark(token, ';') && depth <= 0) return { statement, noun }
      if (noun === undefined && statement.length < 40 && NOUNS.has(word)) noun = word
      if (noun === 'TABLE' && isAnsiName(token) && ['TABLE', 'EXISTS'].includes(upper(statement.at(-1) as Token))) {
        this.#readAnsi()
        statement.push({ kind: 'name', text: nameOf(token) })
        continue
      }
      const hasBody = noun !== undefined && WITH_BODY.has(noun)
      if (hasBody) {
        const isRestOfEnd = isAfterEnd && ['IF', 'LOOP', 'REPEAT', 'WHILE', 'CASE'].includes(word)
        isAfterEnd = word === 'END'
        if (isRestOfEnd) depth += word === 'CASE' ? 0 : 1
        else if (word === 'BEGIN' || word === 'CASE') depth++
        else if (word === 'END') depth--
        if (statement.length < 60) statement.push(token)
        continue
      }
      bytes += sizeOf(token)
      if (statement.push(token) > MOST_TOKENS || bytes > MOST_STATEMENT_BYTES)
        throw new UnreadableSql('A statement has no end')
    }
  }

  *#toSemicolon(): Generator<undefined, Token[], void> {
    const statement: Token[] = []
    let bytes = 0
    for (;;) {
      const token = yield* this.#next()
      if (isMark(token, ';')) return statement
      bytes += sizeOf(token)
      if (statement.push(token) > MOST_TOKENS || bytes > MOST_STATEMENT_BYTES)
        throw new UnreadableSql('A statement has no end')
    }
  }

  /** Returns the words of a definition, with their texts as UTF-8. */
  #inUtf8(statement: readonly Token[]): Token[] {
    const { charset } = this.#session
    const isKnown = charset === 'binary' || isUtf8Charset(charset)
    if (isKnown) return [...statement]
    return statement.map((token) =>
      token.kind === 'string' ? { kind: 'string', bytes: toUtf8(token.bytes, charset) ?? token.bytes } : token,
    )
  }

  /** Reads names in double quotes from now on, whether a sql_mode said so or not. */
  #readAnsi(): void {
    this.#isAnsi = true
    this.#tokens.hasAnsiQuotes = true
  }

  /** `INSERT [IGNORE] INTO t [(a, b)] VALUES (…), (…) [ON DUPLICATE KEY UPDATE a = VALUES(a)];` */
  *#rows(word: string): Generator<DumpEvent | undefined, void, void> {
    let onDuplicate: OnDuplicate | undefined = word === 'REPLACE' ? 'replace' : undefined
    let token = yield* this.#next()
    while (['INTO', 'IGNORE', 'DELAYED', 'LOW_PRIORITY', 'HIGH_PRIORITY'].includes(upper(token))) {
      if (upper(token) === 'IGNORE') onDuplicate = 'ignore'
      token = yield* this.#next()
    }
    const named = yield* this.#tableOf(token)
    const { table } = named
    token = named.after
    let columns: string[] | undefined
    if (isMark(token, '(')) {
      columns = yield* this.#names()
      token = yield* this.#next()
    }
    if (upper(token) !== 'VALUES' && upper(token) !== 'VALUE')
      throw new UnreadableSql(`INSERT has no VALUES, but ${textOf(token)},`, PLAIN_EXPORT)
    let waiting: DumpEvent[] | undefined = this.#isForeign && onDuplicate === undefined ? [] : undefined
    let bytes = 0
    for (;;) {
      const values = yield* this.#tuple()
      if (columns && columns.length !== values.length)
        throw new UnreadableSql(`A row of ${table} has a different number of values than columns`)
      const row: DumpEvent = { kind: 'row', table, columns, values, ...(onDuplicate && { onDuplicate }) }
      if (waiting) {
        waiting.push(row)
        for (const value of values) bytes += 'bytes' in value ? value.bytes.length : 40
        if (bytes > MOST_WAITING_BYTES) {
          yield* waiting
          waiting = undefined
        }
      } else yield row
      token = yield* this.#next()
      if (isMark(token, ';')) {
        this.#isInStatement = false
        if (waiting) yield* waiting
        return
      }
      if (['AS', 'ON'].includes(upper(token))) {
        const update = yield* this.#updates(token)
        if (!waiting)
          throw new UnreadableSql(`An INSERT of ${table} is too long to end with ON DUPLICATE KEY UPDATE`, PLAIN_EXPORT)
        for (const each of waiting) yield { ...each, onDuplicate: { update } } as DumpEvent
        return
      }
      if (!isMark(token, ',')) throw new UnreadableSql(`Rows of ${table} are followed by something else`)
    }
  }

  /** Reads `[AS new] ON DUPLICATE KEY UPDATE a = VALUES(a), b = new.b;`. Other expressions are refused. */
  *#updates(first: Token): Generator<undefined, string[], void> {
    const rest = [first, ...(yield* this.#toSemicolon())].map((token) =>
      token.kind === 'string' || token.kind === 'bits' ? "''" : token.text,
    )
    const alias = rest[0]?.toUpperCase() === 'AS' ? rest.splice(0, 2)[1] : undefined
    const refused = new UnreadableSql('ON DUPLICATE KEY UPDATE does more than taking the new values,', PLAIN_EXPORT)
    if (rest.splice(0, 4).join(' ').toUpperCase() !== 'ON DUPLICATE KEY UPDATE') throw refused
    const names: string[] = []
    while (rest.length > 0) {
      const name = rest.shift() as string
      if (rest.shift() !== '=') throw refused
      const isNew = alias !== undefined && rest[0] === alias && rest[1] === '.' && rest[2] === name
      const isValues = rest[0]?.toUpperCase() === 'VALUES' && rest[1] === '(' && rest[2] === name && rest[3] === ')'
      if (!isNew && !isValues) throw refused
      rest.splice(0, isNew ? 3 : 4)
      names.push(name)
      if (rest.length > 0 && rest.shift() !== ',') throw refused
    }
    return names
  }

  *#tableOf(first: Token): Generator<undefined, { table: string; after: Token }, void> {
    if (!isName(first)) throw new UnreadableSql('INSERT names no table')
    if (isAnsiName(first)) this.#readAnsi()
    let table = nameOf(first)
    let after = yield* this.#next()
    if (isMark(after, '.')) {
      table = nameOf(yield* this.#next())
      after = yield* this.#next()
    }
    return { table, after }
  }

  *#names(): Generator<undefined, string[], void> {
    const names: string[] = []
    for (;;) {
      const token = yield* this.#next()
      if (isMark(token, ')') && names.length === 0) return names
      if (!isName(token)) throw new UnreadableSql('A column has no name')
      if (names.push(nameOf(token)) > MOST_COLUMNS) throw new UnreadableSql('There are too many columns')
      const after = yield* this.#next()
      if (isMark(after, ')')) return names
      if (!isMark(after, ',')) throw new UnreadableSql('Columns are followed by something else')
    }
  }

  *#tuple(): Generator<undefined, Value[], void> {
    const token = yield* this.#next()
    if (!isMark(token, '(')) throw new UnreadableSql('A row does not begin with a parenthesis')
    const values: Value[] = []
    for (;;) {
      let after: Token
      // Most values are simple, and need no generator.
      const first = this.#tokens.next() ?? (yield* this.#next())
      if (isMark(first, ')') && values.length === 0) return values
      const plain = first.kind === 'word' ? undefined : this.#literal(first)
      if (plain) {
        values.push(plain)
        after = this.#tokens.next() ?? (yield* this.#next())
        // Adjacent texts form one text.
        while (after.kind === 'string' && plain.kind === 'string') {
          const more = this.#literal(after) as typeof plain
          values.push({ ...plain, bytes: Buffer.concat([(values.pop() as typeof plain).bytes, more.bytes]) })
          after = this.#tokens.next() ?? (yield* this.#next())
        }
      } else {
        const read = yield* this.#value(first, 0)
        values.push(read.value)
        after = read.after
      }
      if (values.length > MOST_COLUMNS) throw new UnreadableSql('A row has too many values')
      if (isMark(after, ')')) return values
      if (!isMark(after, ',')) throw new UnreadableSql('A value is followed by something else')
    }
  }

  #literal(token: Token): Value | undefined {
    if (token.kind === 'number') return token
    if (token.kind !== 'string' && token.kind !== 'bits') return undefined
    return this.#withCharset(token.kind, token.bytes, token.kind === 'bits' ? 'binary' : this.#session.charset)
  }

  #withCharset(kind: 'string' | 'bits', bytes: Uint8Array, charset: string): Value {
    const isAsItIs = this.#program?.isOwn || (!this.#isForeign && (charset === 'binary' || isUtf8Charset(charset)))
    return isAsItIs ? { kind, bytes } : { kind, bytes, charset }
  }

  /**
   * Reads a value and the token after it. Accepts calls of a few functions that programs write instead of plain values.
   */
  *#value(first: Token, depth: number): Generator<undefined, { value: Value; after: Token }, void> {
    const plain = this.#literal(first)
    if (plain) return { value: plain, after: yield* this.#next() }
    const word = upper(first)
    if (depth > MOST_NESTED) throw new UnreadableSql('Values are nested too deeply')
    // _binary '…', _utf8mb4 '…', N'…': the next token has the bytes.
    if (word.startsWith('_') || word === 'N') {
      const token = yield* this.#next()
      if (token.kind !== 'string' && token.kind !== 'bits') throw noValue(token)
      const charset = word === 'N' ? this.#session.charset : word.slice(1).toLowerCase()
      checkCharset(charset)
      return { value: this.#withCharset(token.kind, token.bytes, charset), after: yield* this.#next() }
    }
    const constant = CONSTANTS[word]
    if (constant) return { value: constant, after: yield* this.#next() }
    if (word === 'CONV') return yield* this.#bits(first)
    if (!['UNHEX', 'FROM_BASE64', 'CONVERT', 'BINARY', 'CONCAT'].includes(word)) throw noValue(first)
    if (word === 'BINARY') {
      const { value, after } = yield* this.#value(yield* this.#next(), depth + 1)
      return { value: 'bytes' in value ? { ...value, charset: 'binary' } : value, after }
    }
    if (!isMark(yield* this.#next(), '(')) throw noValue(first)
    let { value, after } = yield* this.#value(yield* this.#next(), depth + 1)
    if (word === 'CONCAT') {
      while (isMark(after, ',')) {
        const more = yield* this.#value(yield* this.#next(), depth + 1)
        if (!('bytes' in value) || !('bytes' in more.value)) throw noValue(first)
        value = { ...value, bytes: Buffer.concat([value.bytes, more.value.bytes]) }
        after = more.after
      }
    } else if (word === 'CONVERT') {
      if (upper(after) !== 'USING') throw noValue(first)
      const charset = nameOf(yield* this.#next()).toLowerCase()
      checkCharset(charset)
      if ('bytes' in value && (value.charset === undefined || value.charset === 'binary'))
        value = this.#withCharset('string', value.bytes, charset)
      after = yield* this.#next()
    } else if (value.kind === 'string') {
      const text = Buffer.from(value.bytes).toString('latin1')
      value = this.#withCharset('bits', Buffer.from(text, word === 'UNHEX' ? 'hex' : 'base64'), 'binary')
    }
    if (!isMark(after, ')')) throw noValue(first)
    return { value, after: yield* this.#next() }
  }

  /** Reads `CONV('101', 2, 10) + 0`, as Adminer writes bits. */
  *#bits(first: Token): Generator<undefined, { value: Value; after: Token }, void> {
    const words: string[] = []
    let after = yield* this.#next()
    for (; words.length < 7 && words.at(-1) !== ')'; after = yield* this.#next()) words.push(nameOf(after))
    const digits = /^\( ([01]{1,64}) , 2 , 10 \)$/.exec(words.join(' '))?.[1]
    if (digits === undefined) throw noValue(first)
    if (isMark(after, '+') && nameOf(yield* this.#next()) === '0') after = yield* this.#next()
    return { value: { kind: 'number', text: String(BigInt(`0b${digits}`)) }, after }
  }
}

const NOTHING: Token = { kind: 'mark', text: '' }

const CONSTANTS: Readonly<Record<string, Value>> = {
  NULL,
  TRUE: { kind: 'number', text: '1' },
  FALSE: { kind: 'number', text: '0' },
}

export const isMark = (token: Token, mark: string): boolean => token.kind === 'mark' && token.text === mark
const upper = (token: Token): string => (token.kind === 'word' ? token.text.toUpperCase() : '')
/** Returns whether the token is a name in double quotes, as servers in another mode write them. */
const isAnsiName = (token: Token): token is Extract<Token, { kind: 'string' }> =>
  token.kind === 'string' && token.isDouble === true
const isName = (token: Token): boolean => token.kind === 'name' || token.kind === 'word' || isAnsiName(token)
const nameOf = (token: Token): string => ('text' in token ? token.text : Buffer.from(token.bytes).toString())
const textOf = (token: Token): string => ('text' in token ? `"${token.text.slice(0, 40)}"` : 'a value')
const sizeOf = (token: Token): number => ('text' in token ? token.text.length : token.bytes.length)

/** Returns the error for unknown text, which recognizes other programs' output by its beginning. */
function unknown(token: Token): UnreadableSql {
  const text = 'text' in token ? token.text.slice(0, 40) : 'A value'
  const remedy =
    text === '<'
      ? 'The file is a page of the web, or XML: export the database as SQL.'
      : /^(COPY|PRAGMA|\\)$/i.test(text)
        ? 'The file is of another kind of database than MySQL, or for one client: export the database with mysqldump.'
        : 'Remove the statement, or export the database again with wp db export or mysqldump.'
  return new UnreadableSql(`"${text}" begins no statement that is known,`, remedy)
}

const nothingToLoad = (statement: readonly Token[]): UnreadableSql =>
  new UnreadableSql(
    `${statement.slice(0, 3).map(upper).join(' ').trim()} is nothing that can be loaded,`,
    'Remove it from the dump.',
  )

const noValue = (token: Token): UnreadableSql => new UnreadableSql(`${textOf(token)} is not a value,`, PLAIN_EXPORT)

/** Reads `DROP TABLE IF EXISTS a, db.b CASCADE`. */
function droppedTables(statement: readonly Token[]): string[] {
  const from = statement.findIndex((token) => upper(token) === 'TABLE') + 1
  const names = statement.slice(from + (upper(statement[from] ?? (statement[0] as Token)) === 'IF' ? 2 : 0))
  return names.flatMap((token, at) => {
    const before = names[at - 1]
    const isFirst = before === undefined || isMark(before, ',') || isMark(before, '.')
    const after = names[at + 1]
    return isFirst && isName(token) && !(after && isMark(after, '.')) ? [nameOf(token)] : []
  })
}

/** Reads `CREATE TABLE db.t (`. */
function databaseIn(statement: readonly Token[]): string | undefined {
  const dot = statement.slice(0, 10).findIndex((token) => isMark(token, '.'))
  const paren = statement.findIndex((token) => isMark(token, '('))
  const name = statement[dot - 1]
  return dot > 0 && (paren < 0 || dot < paren) && name ? nameOf(name) : undefined
}

function nameAfter(statement: readonly Token[], noun: string): string {
  const at = statement.findIndex((token) => upper(token) === noun) + 1
  const names = statement.slice(at).filter((token) => !['IF', 'NOT', 'EXISTS'].includes(upper(token)))
  const name = names[1] && isMark(names[1], '.') ? names[2] : names[0]
  return name ? nameOf(name).slice(0, 64) : ''
}
