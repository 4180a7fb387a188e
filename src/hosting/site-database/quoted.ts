/**
 * Finds JSON texts that are serialized PHP, or JSON that contains such texts. Each character of a text is a byte, as in
 * `rewrite-addresses.ts`.
 */

/** A replacement of a part of a text. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A text between two quotes. */
export interface Quoted {
  readonly start: number
  readonly end: number
  /** Its meaning: the text without its escapes. */
  readonly meant: string
  /**
   * Converts a change of the meaning to one of the surrounding text. The new text must not need escapes. Its dashes are
   * written like those that it replaces.
   */
  asWritten(edit: TextEdit): TextEdit
}

/** The mark of such texts only: the length of a text before an escaped quote. */
const MARK = /s:\d+:\\/
/** A quote that may start one: before an array, object, or text of PHP, or of JSON. */
const OPENING = /(?<!\\)"(?=[ \t\n\r]{0,64}(?:[aO]:\d|s:\d+:\\|[[{]|\\))/g
const CLOSING_OR_ESCAPE = /["\\]/g

/** Yields all in a text, first to last, none inside another one. */
export function* quotedSerialized(text: string): Generator<Quoted> {
  if (!MARK.test(text)) return
  let at = 0
  for (;;) {
    OPENING.lastIndex = at
    const opening = OPENING.exec(text)
    if (!opening) return
    const start = opening.index + 1
    at = start
    const end = endOf(text, start)
    if (end === undefined) return
    const written = text.slice(start, end)
    const read = MARK.test(written) ? unescaped(written) : undefined
    if (!read) continue
    at = end + 1
    yield { start, end, meant: read.meant, asWritten: (edit) => asWritten(text, start, read.turns, edit) }
  }
}

function endOf(text: string, start: number): number | undefined {
  let at = start
  for (;;) {
    CLOSING_OR_ESCAPE.lastIndex = at
    const found = CLOSING_OR_ESCAPE.exec(text)
    if (!found) return undefined
    if (found[0] === '"') return found.index
    at = found.index + 2
  }
}

/** From this pair of offsets up to the next one, the meaning equals the written text. */
interface Turn {
  readonly meant: number
  readonly written: number
}

const ESCAPE = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt]|)/g
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Removes the escapes of JSON (RFC 8259 §7). @returns undefined when one of them is invalid, or half a character */
function unescaped(written: string): { meant: string; turns: Turn[] } | undefined {
  const parts: string[] = []
  const turns: Turn[] = [{ meant: 0, written: 0 }]
  let [at, length] = [0, 0]
  for (const { 0: escaped, index } of written.matchAll(ESCAPE)) {
    const meant = meaningOf(escaped)
    if (meant === undefined) return undefined
    parts.push(written.slice(at, index), meant)
    length += index - at
    turns.push({ meant: length, written: index })
    length += meant.length
    at = index + escaped.length
    turns.push({ meant: length, written: at })
  }
  parts.push(written.slice(at))
  return { meant: parts.join(''), turns }
}

function meaningOf(escaped: string): string | undefined {
  const [, kind] = escaped
  if (kind !== 'u') return kind && (CONTROLS[kind] ?? kind)
  const units = escaped.slice(2).split('\\u')
  const character = String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16)))
  return character.isWellFormed() ? Buffer.from(character).toString('latin1') : undefined
}

function placeOf(turns: readonly Turn[], meant: number): number {
  let [low, high] = [0, turns.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((turns[middle] as Turn).meant <= meant) low = middle
    else high = middle - 1
  }
  const turn = turns[low] as Turn
  return turn.written + meant - turn.meant
}

function asWritten(text: string, offset: number, turns: readonly Turn[], edit: TextEdit): TextEdit {
  const [start, end] = [offset + placeOf(turns, edit.start), offset + placeOf(turns, edit.end)]
  return { start, end, text: likeDashes(text.slice(start, end), edit.text) }
}

/** Two escaped dashes, as the block editor writes them into its comments, which plain dashes would end. */
export const ESCAPED_DASH = /\\{1,63}u002d/gi

/** Writes a name with the dashes of another. */
export function likeDashes(found: string, name: string): string {
  const dashes = found.match(ESCAPED_DASH)
  return dashes ? name.replaceAll('--', `${dashes[0]}${dashes[0]}`) : name
}
