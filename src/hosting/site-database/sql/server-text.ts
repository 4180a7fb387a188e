import type { Token } from './sql-tokens.ts'
import { charsetOf, nearest, type TableDefinition } from './table.ts'
import { expressionText, quoted } from './token-text.ts'

/**
 * Returns a table in the text of the server that shows it, for features that a definition cannot express. The text
 * comes from a site. Of the words around its columns, only those listed here stay, so that it cannot name another
 * engine, folder, or server. Names of databases are removed. The result is one statement, because its words contain no
 * semicolon outside quotes.
 * @param tokens the tokens of `CREATE TABLE …`
 * @returns undefined for words that no server shows
 */
export function serverTableText(
  tokens: readonly Token[],
  { name, autoIncrement, collation, comment }: Omit<TableDefinition, 'more' | 'ownText'>,
): string | undefined {
  const start = tokens.findIndex((token) => isMark(token, '('))
  const end = endOf(tokens, start)
  const body = tokens.slice(start, end)
  const rest = tokens.slice(end)
  if (tokens.some((token) => FORBIDDEN.has(upper(token)))) return undefined
  const has = (...words: string[]) =>
    rest.some((_token, at) => words.every((each, place) => upper(rest[at + place]) === each))
  const isCompressed = rest.some((token) => 'text' in token && token.text.toUpperCase() === 'PAGE_COMPRESSED')
  const options = [
    'ENGINE=InnoDB',
    ...(autoIncrement === undefined ? [] : [`AUTO_INCREMENT=${autoIncrement}`]),
    `DEFAULT CHARSET=${word(charsetOf(collation))} COLLATE=${word(nearest(collation))}`,
    ...(isCompressed ? ["`page_compressed`='1'"] : []),
    ...(comment ? [`COMMENT=${quoted(comment)}`] : []),
    ...(has('SEQUENCE') ? ['SEQUENCE=1'] : []),
    ...(has('WITH', 'SYSTEM', 'VERSIONING') ? ['WITH SYSTEM VERSIONING'] : []),
  ]
  const partition = rest.findIndex((token, at) => upper(token) === 'PARTITION' && upper(rest[at + 1]) === 'BY')
  const parts = partition < 0 ? '' : `\n ${expressionText(withoutPlaces(unqualified(rest.slice(partition))))}`
  return `CREATE TABLE ${expressionText([{ kind: 'name', text: name }])} ${expressionText(unqualified(body))} ${options.join(' ')}${parts}`
}

/** A table definition contains no query, and reads and writes no file. */
const FORBIDDEN: ReadonlySet<string> = new Set(['SELECT', 'INTO', 'LOAD_FILE', 'OUTFILE', 'DUMPFILE'])
/** Options of a partition that would store it elsewhere. */
const PLACES: ReadonlySet<string> = new Set(['DIRECTORY', 'CONNECTION', 'TABLESPACE', 'NODEGROUP'])

const isMark = (token: Token | undefined, mark: string): boolean => token?.kind === 'mark' && token.text === mark
const upper = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toUpperCase() : '')
const isName = (token: Token | undefined): boolean => token?.kind === 'name' || token?.kind === 'word'
const word = (name: string): string => (/^\w{1,64}$/.test(name) ? name : 'utf8mb4')

/** Returns the index after the parenthesis that closes the one at `start`. */
function endOf(tokens: readonly Token[], start: number): number {
  let depth = 0
  for (let at = start; at < tokens.length; at++) {
    if (isMark(tokens[at], '(')) depth++
    if (isMark(tokens[at], ')') && --depth === 0) return at + 1
  }
  return tokens.length
}

/** Removes database and table names before names, and replaces collations that MariaDB lacks. */
function unqualified(tokens: readonly Token[]): Token[] {
  const kept: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token
    if (isName(token) && isMark(tokens[at + 1], '.')) at++
    else kept.push(token.kind === 'word' ? { kind: 'word', text: nearest(token.text) } : token)
  }
  return kept
}

/** Removes where partitions are stored, and their engine, because the server decides that. */
function withoutPlaces(tokens: readonly Token[]): Token[] {
  const kept: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const isPlace = PLACES.has(upper(token))
    if (!isPlace && upper(token) !== 'ENGINE') {
      kept.push(token)
      continue
    }
    if (upper(token) === 'DIRECTORY') kept.pop()
    if (isMark(tokens[at + 1], '=')) at++
    at++
    if (!isPlace) kept.push(token, { kind: 'mark', text: '=' }, { kind: 'word', text: 'InnoDB' })
  }
  return kept
}
