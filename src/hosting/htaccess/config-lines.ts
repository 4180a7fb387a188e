/** The syntax of an Apache configuration file: lines, words, sections. */

/** A directive, or the beginning or end of a section. */
export interface Line {
  /** The line number in the file, from 1. */
  readonly number: number
  readonly kind: 'directive' | 'begin' | 'end'
  /** In lower case. */
  readonly name: string
  /** Everything after the name. */
  readonly rest: string
}

/** Yields lines, except comments and empty ones. A line that ends in `\` continues on the next. */
export function* configLines(text: string): Generator<Line> {
  const physical = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
  for (let i = 0; i < physical.length; i++) {
    const number = i + 1
    let line = physical[i] as string
    while (line.endsWith('\\') && i + 1 < physical.length) line = line.slice(0, -1) + physical[++i]
    line = line.trim()
    if (line === '' || line.startsWith('#')) continue
    if (line.startsWith('</')) {
      yield {
        number,
        kind: 'end',
        name: line
          .slice(2)
          .replace(/\s*>.*$/, '')
          .trim()
          .toLowerCase(),
        rest: '',
      }
      continue
    }
    const begins = line.startsWith('<')
    const body = begins ? line.slice(1).replace(/>\s*$/, '') : line
    const [, name, rest] = /^(\S*)\s*([\s\S]*)$/.exec(body) as unknown as [string, string, string]
    yield { number, kind: begins ? 'begin' : 'directive', name: name.toLowerCase(), rest: rest.trim() }
  }
}

/** Splits a line into words. Quoted words may contain spaces, and `\\` is one backslash. */
export function splitWords(rest: string): string[] {
  const out: string[] = []
  let at = 0
  for (;;) {
    while (at < rest.length && /\s/.test(rest[at] as string)) at++
    if (at >= rest.length) return out
    const quote = rest[at] === '"' || rest[at] === "'" ? (rest[at] as string) : undefined
    if (quote) at++
    let word = ''
    for (; at < rest.length; at++) {
      const character = rest[at] as string
      const next = rest[at + 1]
      if (character === '\\' && (next === '\\' || (quote && next === quote))) {
        word += next
        at++
      } else if (quote ? character === quote : /\s/.test(character)) break
      else word += character
    }
    if (quote) at++
    out.push(word)
  }
}
