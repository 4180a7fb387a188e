/** A command line that is not run. The message may be shown to its sender. */
export class LineRefused extends Error {
  override readonly name = 'LineRefused'
}

const BLANK = /[ \t]/
/** Characters that a shell acts on anywhere outside of quotes. */
const SPECIAL = '|&;<>()$`*?[\n\r'
/** The same, at the beginning of a word. */
const SPECIAL_FIRST = '~#'
/** Characters whose meaning a backslash removes within double quotes. */
const ESCAPED_IN_QUOTES = '$`"\\'

/**
 * Returns the words of a command line as a POSIX shell reads simple ones: blanks, quotes, and backslashes. Commands run
 * without a shell, so anything with another meaning for a shell is refused.
 * @throws LineRefused
 */
export function shellWords(line: string): string[] {
  if (line.includes('\0')) throw new LineRefused('A command line cannot hold a zero byte.')
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string
    if (BLANK.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (character === "'") {
      const end = line.indexOf("'", at + 1)
      if (end < 0) throw unclosed("'")
      word = (word ?? '') + line.slice(at + 1, end)
      at = end
    } else if (character === '"') {
      const { text, end } = quoted(line, at + 1)
      word = (word ?? '') + text
      at = end
    } else if (character === '\\') {
      at++
      // A line that continues on the next one.
      if (line[at] !== '\n') word = (word ?? '') + (line[at] ?? '\\')
    } else {
      if (SPECIAL.includes(character) || (word === undefined && SPECIAL_FIRST.includes(character)))
        throw special(character)
      word = (word ?? '') + character
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

/** A command of WP-CLI from a user. */
export interface GivenCommand {
  /** `wp` and the words after it. */
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** What WP-CLI on another machine sends before `wp` if it must run here (`--ssh=…`, or an alias with `ssh:`). */
const FOLDER = /^[ \t]*cd[ \t]+('[^'\0\n]*'|[\w./~-]+)[ \t]*(?:;|&&)[ \t]*/
const VARIABLE = /^[ \t]*([A-Za-z_]\w*)=('[^'\0]*'|"[^"$`\\\0]*"|[\w./:@,-]*)[ \t]+/
const WP = /^[ \t]*wp(\s|$)/
/** The site's folder: as PHP sees it, as SFTP shows it, and where a login starts. */
const SITE_FOLDERS = new Set(['/wordpress', '/', '~', '.', ''])
/** Variables that affect only the output and options of WP-CLI, and nothing of the machine. */
const VARIABLES = new Set([
  'WP_CLI_RUNTIME_ALIAS',
  'WP_CLI_STRICT_ARGS_MODE',
  'WP_CLI_DISABLE_AUTO_CHECK_UPDATE',
  'WP_CLI_AUTO_CHECK_UPDATE_DAYS',
])

interface Split {
  readonly folder: string | undefined
  readonly variables: readonly (readonly [string, string])[]
  readonly rest: string
}

/** Returns whether it is `wp …`, possibly after a folder and variables. */
export const isForWp = (line: string): boolean => WP.test(splitLine(line).rest)

/** @throws LineRefused */
export function commandOf(line: string): GivenCommand {
  const { folder, variables, rest } = splitLine(line)
  if (folder !== undefined && !SITE_FOLDERS.has(folder.replace(/(?<=.)\/+$/, '')))
    throw new LineRefused(`${folder} is not the folder of the site here. Give /wordpress, or no folder.`)
  const refused = variables.find(([name]) => !VARIABLES.has(name))
  if (refused) throw new LineRefused(`The variable ${refused[0]} cannot be set here.`)
  return { words: shellWords(rest), environment: Object.fromEntries(variables) }
}

function splitLine(line: string): Split {
  const cd = FOLDER.exec(line)
  let rest = cd ? line.slice(cd[0].length) : line
  const variables: [string, string][] = []
  for (;;) {
    const [all, name, value] = VARIABLE.exec(rest) ?? []
    if (all === undefined) break
    variables.push([name as string, unquoted(value as string)])
    rest = rest.slice(all.length)
  }
  return { folder: cd ? unquoted(cd[1] as string) : undefined, variables, rest }
}

const unquoted = (text: string): string => (/^['"]/.test(text) ? text.slice(1, -1) : text)

/** Returns the text within double quotes, and the offset of their end. */
function quoted(line: string, from: number): { text: string; end: number } {
  let text = ''
  for (let at = from; at < line.length; at++) {
    const character = line[at] as string
    const next = line[at + 1] ?? ''
    if (character === '"') return { text, end: at }
    if (character === '$' || character === '`') throw special(character)
    if (character === '\\' && next === '\n') at++
    else if (character === '\\' && next !== '' && ESCAPED_IN_QUOTES.includes(next)) {
      text += next
      at++
    } else text += character
  }
  throw unclosed('"')
}

const unclosed = (quote: string) => new LineRefused(`The command line has a ${quote} that is not closed.`)

const special = (character: string) =>
  new LineRefused(
    `There is no shell here: ${character === '\n' || character === '\r' ? 'a second line' : character} is not possible outside of ${character === '$' || character === '`' ? "single quotes ('…')" : 'quotes'}.`,
  )
