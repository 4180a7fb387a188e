import type { AddressChange } from './database-content.ts'
import { ESCAPED_DASH, likeDashes, type Quoted, quotedSerialized, type TextEdit } from './quoted.ts'

/**
 * Escapes of escapes: `\/` is JSON, `\\\/` is JSON in JSON. 63 backslashes are six levels. Without a limit, a text of
 * only backslashes would be searched from each of them.
 */
const ESCAPES = '\\\\{0,63}'
/** The nesting depth of values. Each level is searched again. Deeper values stay unchanged. */
const DEEPEST = 32
/** A host name of 253 characters, and a port. */
const LONGEST_ADDRESS = 260

/** Rewrites one value. A value without any of the addresses is returned unchanged, at the cost of one search. */
export type RewriteAddress = <Value extends string | Uint8Array>(value: Value) => Value

/**
 * Creates a function that replaces addresses in a value of a database:
 *
 * - after `//`, in text, JSON (`\/`), JSON in JSON, and percent-encoded (`%2F%2F`, `%252F…`), in upper case too
 * - as the whole value, or the whole text between double quotes: a setting that is just the address
 * - in serialized PHP, with its lengths in bytes, even if that is serialized again. It is never unserialized, because
 * that   would run code of the site's classes. A value that cannot be read, or an object that serializes itself, stays
 * unchanged:   a wrong length would cost its owner the whole value.
 * - in a JSON text that is serialized PHP (and in JSON in JSON), with the lengths of the meaning, not of its escaped
 * form
 * - never a part of a longer host name, never another port, never in mail addresses, never in base64 (only its owner
 * knows   what that means, and often a signature of it follows)
 *
 * It applies all changes in one pass, so that two addresses can swap places. `replace-address.php` does so in a site.
 * The cases in `rewrite-cases.fixture.ts` apply to both.
 * @param changes `from` is matched in any letter case
 */
export function addressRewriter(changes: readonly AddressChange[]): RewriteAddress {
  const targets = new Map(changes.map(({ from, to }) => [latin1(from.toLowerCase()), latin1(to)]))
  if (targets.size === 0) return (value) => value
  const search = new RegExp([...new Set([...targets.keys()].map(nameOf))].map(namePattern).join('|'), 'i')
  const rewrite = latin1Rewriter(targets, search)
  return <Value extends string | Uint8Array>(value: Value): Value => {
    if (typeof value !== 'string') {
      const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')
      const changed = search.test(text) ? rewrite(text) : text
      return (changed === text ? value : Buffer.from(changed, 'latin1')) as Value
    }
    if (!search.test(value)) return value
    // Lengths in serialized values count bytes.
    const text = latin1(value)
    const changed = rewrite(text)
    return (changed === text ? value : Buffer.from(changed, 'latin1').toString()) as Value
  }
}

/** Applies {@link addressRewriter} to one value. For many, create the function once. */
export const rewriteAddress = <Value extends string | Uint8Array>(
  value: Value,
  changes: readonly AddressChange[],
): Value => addressRewriter(changes)(value)

/** Works on text in which each character is a byte. */
type Rewrite = (text: string) => string

function latin1Rewriter(targets: ReadonlyMap<string, string>, search: RegExp): Rewrite {
  const pattern = addressPattern([...targets.keys()])
  const targetOf = (found: string): string | undefined =>
    targets.get(
      found
        .replace(/%(?:25)*3A/i, ':')
        .replaceAll(ESCAPED_DASH, '-')
        .toLowerCase(),
    )
  const addressesIn = (text: string): TextEdit[] =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const [whole, slashes, afterSlashes, , quoted] = match
      const found = afterSlashes ?? (quoted as string)
      const to = targetOf(found)
      if (to === undefined) return []
      const end = match.index + whole.length
      return [{ start: end - found.length, end, text: written(to, found, slashes ?? '') }]
    })
  const inText = (text: string, depth: number): TextEdit[] => {
    const addresses = addressesIn(text)
    const edits: TextEdit[] = []
    let next = 0
    const takeUntil = (end: number, isWanted: boolean): void => {
      for (let edit = addresses[next]; edit && edit.start < end; edit = addresses[++next])
        if (isWanted) edits.push(edit)
    }
    for (const quoted of quotedSerialized(text)) {
      if (!hasLengths(quoted)) continue
      takeUntil(quoted.start, true)
      takeUntil(quoted.end, false)
      for (const edit of editsOf(quoted.meant, depth + 1)) edits.push(quoted.asWritten(edit))
    }
    takeUntil(text.length, true)
    return edits
  }
  const editsOf = (text: string, depth: number): TextEdit[] => {
    if (depth > DEEPEST || !search.test(text)) return []
    const whole = text.length <= LONGEST_ADDRESS ? targetOf(text) : undefined
    if (whole !== undefined) return [{ start: 0, end: text.length, text: whole }]
    if (!looksSerialized(text)) return inText(text, depth)
    return editsOfSerialized(text, (inner) => editsOf(inner, depth + 1)) ?? []
  }
  return (text) => edited(text, editsOf(text, 0))
}

const hasLengths = ({ meant }: Quoted): boolean => looksSerialized(meant) || !quotedSerialized(meant).next().done

function edited(text: string, edits: readonly TextEdit[]): string {
  let at = 0
  const parts = edits.map(({ start, end, text: instead }) => {
    const part = text.slice(at, start) + instead
    at = end
    return part
  })
  return parts.join('') + text.slice(at)
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
const nameOf = (address: string): string => address.replace(/:\d+$/, '')
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const namePattern = (name: string): string => escaped(name).replaceAll('--', '(?:--|\\\\{1,63}u002d\\\\{1,63}u002d)')

function addressPattern(addresses: readonly string[]): RegExp {
  const any = addresses
    .toSorted((left, right) => right.length - left.length)
    .map((address) => {
      const port = address.slice(nameOf(address).length + 1)
      return namePattern(nameOf(address)) + (port && `(?::|%(?:25)*3A)${port}`)
    })
    .join('|')
  const end = '(?![.-]{0,8}\\w|(?::|%(?:25){0,8}3A)\\d)'
  const slashes = `(?:${ESCAPES}/){2}|(?:%(?:25){0,8}2F){2}`
  return new RegExp(`(${slashes})(${any})${end}|(${ESCAPES}")(${any})(?=${ESCAPES}")`, 'gi')
}

/** Returns an address in the notation of its surroundings. */
function written(to: string, found: string, slashes: string): string {
  const percent = slashes.match(/^%((?:25)*)/)?.[1]
  const colon =
    found.match(/%(?:25)*3A/i)?.[0] ?? (percent === undefined || /:\d+$/.test(found) ? ':' : `%${percent}3A`)
  return likeDashes(found, nameOf(to)) + to.slice(nameOf(to).length).replace(':', colon)
}

/** Returns whether WordPress would take the text for serialized. WordPress trims it before it checks. */
function looksSerialized(text: string): boolean {
  return /^[ \t\n\r\0\v]*(?:[aOC]:\d+:|[sE]:\d+:")/.test(text) && /[;}][ \t\n\r\0\v]*$/.test(text.slice(-64))
}

const SCALAR = /(?:N;|[bi]:-?\d+;|d:[^;]{1,40};|[rR]:\d+;|E:\d+:"[^"]{1,1000}";)/y
const STRING = /s:(\d+):"/y
const CONTAINER = /(?:a:(\d+)|O:\d+:"[^"]{1,1000}":(\d+)):\{/y
const OPAQUE = /C:\d+:"[^"]{1,1000}":(\d+):\{/y
const BLANKS = /[ \t\n\r\0\v]*/y

/** @returns the changes of each text in it, and of its lengths; undefined when it cannot be read to its end */
function editsOfSerialized(text: string, editsOf: (inner: string) => readonly TextEdit[]): TextEdit[] | undefined {
  const reader = new SerializedReader(text)
  const edits: TextEdit[] = []
  reader.skipBlanks()
  // The number of remaining values of each open container. No recursion, because a value may be as deep as it is long.
  const open: number[] = [1]
  for (let left = 1; open.length > 0; left = open.at(-1) as number) {
    if (left === 0) {
      open.pop()
      if (open.length > 0 && !reader.closes()) return undefined
      continue
    }
    open[open.length - 1] = left - 1
    const part = reader.next()
    if (!part) return undefined
    if (part.string) for (const edit of editsOfString(part.string, editsOf)) edits.push(edit)
    if (part.values !== undefined) open.push(part.values)
  }
  reader.skipBlanks()
  return reader.isAtEnd() ? edits : undefined
}

function editsOfString(
  { start, digits, content }: SerializedString,
  editsOf: (inner: string) => readonly TextEdit[],
): TextEdit[] {
  const inner = editsOf(content)
  if (inner.length === 0) return []
  const grown = inner.reduce((sum, edit) => sum + edit.text.length - (edit.end - edit.start), 0)
  // s:24:"…
  const lengthEnd = start - 2
  return [
    { start: lengthEnd - digits, end: lengthEnd, text: String(content.length + grown) },
    ...inner.map((edit) => ({ ...edit, start: start + edit.start, end: start + edit.end })),
  ]
}

/** A value, or the head of one that contains others. */
interface SerializedPart {
  readonly string?: SerializedString
  /** For the head of an array or object: the number of values before its end, including keys. */
  readonly values?: number
}

interface SerializedString {
  /** The offset of its content. */
  readonly start: number
  /** The number of digits of its length. */
  readonly digits: number
  readonly content: string
}

class SerializedReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  next(): SerializedPart | undefined {
    if (this.#match(SCALAR)) return {}
    const string = this.#match(STRING)
    if (string) {
      const start = this.#at
      const content = this.#content(Number(string[1]), '";')
      return content === undefined ? undefined : { string: { start, digits: (string[1] as string).length, content } }
    }
    const container = this.#match(CONTAINER)
    if (container) return { values: 2 * Number(container[1] ?? container[2]) }
    const opaque = this.#match(OPAQUE)
    return opaque && this.#content(Number(opaque[1]), '}') !== undefined ? {} : undefined
  }

  closes(): boolean {
    return this.#text[this.#at++] === '}'
  }

  skipBlanks(): void {
    this.#match(BLANKS)
  }

  isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  #content(bytes: number, end: string): string | undefined {
    const start = this.#at
    this.#at += bytes + end.length
    return this.#text.startsWith(end, start + bytes) ? this.#text.slice(start, start + bytes) : undefined
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at = pattern.lastIndex
    return found
  }
}
