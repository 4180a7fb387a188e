import { readTable } from './read-table.ts'
import type { TableDefinition } from './table.ts'
import { type Token, Tokens, type TokensOptions, UnreadableSql } from './tokens.ts'

/** A value of a row. Bytes are those of text, or of what is no text: only its column knows. */
export type Value =
  | { readonly kind: 'null' }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'string' | 'bits'; readonly bytes: Uint8Array }

/** What a dump says, in its order. */
export type DumpEvent =
  | { readonly kind: 'drop'; readonly table: string }
  | { readonly kind: 'create'; readonly table: TableDefinition }
  | {
      readonly kind: 'row'
      readonly table: string
      readonly columns: readonly string[] | undefined
      readonly values: readonly Value[]
    }

/** What stands in the last line of a dump that is complete: Stead's, `mariadb-dump`'s and `mysqldump`'s. */
const COMPLETE = /^Dump completed/
/** A definition has no more words than this, a row no more values: MySQL's own bound is 4,096 columns. */
const MOST_TOKENS = 200_000
const MOST_COLUMNS = 4096

const NULL: Value = { kind: 'null' }

/** Statements that say nothing of the content, by their first word. */
const WITHOUT_CONTENT = new Set(['SET', 'LOCK', 'UNLOCK', 'START', 'BEGIN', 'COMMIT', 'USE', 'DELIMITER'])

/**
 * Reads the text that `mariadb-dump`, `mysqldump` and Stead write: tables and rows, in the order in which they come. What it does not
 * know it refuses: a trigger or a view that is silently left out would be lost.
 */
export class DumpReader {
  readonly #tokens: Tokens
  readonly #statements: Generator<DumpEvent | undefined, void, void>

  constructor(options: TokensOptions = {}) {
    this.#tokens = new Tokens(options)
    this.#statements = this.#read()
  }

  /** @returns what can be said by now. @throws UnreadableSql */
  *write(chunk: Uint8Array): Generator<DumpEvent, void, void> {
    this.#tokens.write(chunk)
    yield* this.#events()
  }

  /** The dump has ended. @throws UnreadableSql when it is cut off */
  *finish(): Generator<DumpEvent, void, void> {
    this.#tokens.finish()
    yield* this.#events()
    if (!COMPLETE.test(this.#tokens.lastComment))
      throw new UnreadableSql(`It is cut off at ${this.#tokens.place}: the last line does not say that it is complete`)
  }

  *#events(): Generator<DumpEvent, void, void> {
    for (;;) {
      const { value, done } = this.#step()
      if (done || !value) return
      yield value
    }
  }

  #step(): IteratorResult<DumpEvent | undefined, void> {
    try {
      return this.#statements.next()
    } catch (error) {
      if (error instanceof UnreadableSql && !/ at line \d+, byte \d+/.test(error.message))
        throw this.#tokens.fail(error.message)
      throw error
    }
  }

  /** Yields undefined when more is needed. */
  *#read(): Generator<DumpEvent | undefined, void, void> {
    const tokens = this.#tokens
    for (;;) {
      let token = tokens.next()
      while (token === undefined) {
        yield undefined
        token = tokens.next()
      }
      if (isMark(token, ';')) continue
      const word = upper(token)
      if (word === 'INSERT' || word === 'REPLACE') yield* this.#rows()
      else if (word === 'CREATE' || word === 'DROP') yield* this.#definition(token)
      else if (WITHOUT_CONTENT.has(word) || word === 'ALTER') yield* this.#skip(word)
      else
        throw new UnreadableSql(
          `"${'text' in token ? token.text.slice(0, 40) : 'A value'}" begins no statement that is known,`,
        )
    }
  }

  *#next(): Generator<undefined, Token, void> {
    for (;;) {
      const token = this.#tokens.next()
      if (token) return token
      yield undefined
    }
  }

  *#definition(first: Token): Generator<DumpEvent | undefined, void, void> {
    const statement = [first, ...(yield* this.#toSemicolon())]
    const words = statement.slice(0, 5).map(upper)
    if (words[0] === 'DROP' && words[1] === 'TABLE') {
      const names = statement.slice(words[2] === 'IF' ? 4 : 2)
      for (const token of names)
        if (token.kind === 'name' || token.kind === 'word') yield { kind: 'drop', table: token.text }
      return
    }
    if (words[1] === 'DATABASE' || words[1] === 'SCHEMA') return
    if (words[0] === 'CREATE' && words[1] === 'TABLE') yield { kind: 'create', table: readTable(statement) }
    else throw new UnreadableSql(`${words.slice(0, 3).join(' ').trim()} is nothing that can be loaded,`)
  }

  *#skip(word: string): Generator<undefined, void, void> {
    const statement = yield* this.#toSemicolon()
    // ALTER TABLE … DISABLE KEYS, ALTER DATABASE … CHARACTER SET
    const isOfContent = word === 'ALTER' && !statement.some((token) => ['KEYS', 'DATABASE'].includes(upper(token)))
    if (isOfContent) throw new UnreadableSql('ALTER TABLE is nothing that can be loaded,')
  }

  *#toSemicolon(): Generator<undefined, Token[], void> {
    const statement: Token[] = []
    for (;;) {
      const token = yield* this.#next()
      if (isMark(token, ';')) return statement
      if (statement.push(token) > MOST_TOKENS) throw new UnreadableSql('A statement has no end')
    }
  }

  /** `INSERT [IGNORE] INTO t [(a, b)] VALUES (…), (…);` */
  *#rows(): Generator<DumpEvent | undefined, void, void> {
    let token = yield* this.#next()
    while (['INTO', 'IGNORE', 'DELAYED', 'LOW_PRIORITY'].includes(upper(token))) token = yield* this.#next()
    if (token.kind !== 'name' && token.kind !== 'word') throw new UnreadableSql('INSERT names no table')
    let table = token.text
    token = yield* this.#next()
    if (isMark(token, '.')) {
      token = yield* this.#next()
      table = 'text' in token ? token.text : table
      token = yield* this.#next()
    }
    let columns: string[] | undefined
    if (isMark(token, '(')) {
      columns = yield* this.#names()
      token = yield* this.#next()
    }
    if (upper(token) !== 'VALUES' && upper(token) !== 'VALUE') throw new UnreadableSql('INSERT has no VALUES')
    for (;;) {
      const values = yield* this.#tuple()
      if (columns && columns.length !== values.length)
        throw new UnreadableSql(`A row of ${table} has not as many values as columns`)
      yield { kind: 'row', table, columns, values }
      token = yield* this.#next()
      if (isMark(token, ';')) return
      if (!isMark(token, ',')) throw new UnreadableSql(`Rows of ${table} are followed by something else`)
    }
  }

  *#names(): Generator<undefined, string[], void> {
    const names: string[] = []
    for (;;) {
      const token = yield* this.#next()
      if (token.kind !== 'name' && token.kind !== 'word')
        throw new UnreadableSql('There is no name where a column is to be')
      if (names.push(token.text) > MOST_COLUMNS) throw new UnreadableSql('There are too many columns')
      const after = yield* this.#next()
      if (isMark(after, ')')) return names
      if (!isMark(after, ',')) throw new UnreadableSql('Columns are followed by something else')
    }
  }

  *#tuple(): Generator<undefined, Value[], void> {
    let token = yield* this.#next()
    if (!isMark(token, '(')) throw new UnreadableSql('A row does not begin with a parenthesis')
    const values: Value[] = []
    for (;;) {
      token = this.#tokens.next() ?? (yield* this.#next())
      // _binary '…', _utf8mb4 '…': what follows has its bytes
      if (token.kind === 'word' && token.text.startsWith('_')) token = yield* this.#next()
      values.push(literalOf(token))
      if (values.length > MOST_COLUMNS) throw new UnreadableSql('A row has too many values')
      const after = this.#tokens.next() ?? (yield* this.#next())
      if (isMark(after, ')')) return values
      if (!isMark(after, ',')) throw new UnreadableSql('A value is followed by something else')
    }
  }
}

const isMark = (token: Token, mark: string): boolean => token.kind === 'mark' && token.text === mark
const upper = (token: Token): string => (token.kind === 'word' ? token.text.toUpperCase() : '')

function literalOf(token: Token): Value {
  if (token.kind === 'number' || token.kind === 'string' || token.kind === 'bits') return token
  const word = upper(token)
  if (word === 'NULL') return NULL
  if (word === 'TRUE' || word === 'FALSE') return { kind: 'number', text: word === 'TRUE' ? '1' : '0' }
  throw new UnreadableSql(`"${'text' in token ? token.text.slice(0, 40) : ''}" is no value,`)
}
