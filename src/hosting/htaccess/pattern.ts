/**
 * Regular expressions of sites, in time that is linear in the text.
 *
 * Sites write them, and they run in the process that serves all sites of the host. JavaScript's engine backtracks: one
 * expression and one address could keep that process busy for years. So they run here instead. The expression becomes a
 * small program, and a state (a position in the program at a position in the text) is tried at most once, as in RE2's
 * bit-state matcher. All work is counted, and stops when the budget is used up.
 *
 * Supports the syntax that PCRE and RE2 have in common, and lookahead. Does not support back references, lookbehind, or
 * possessive quantifiers.
 */

/** The expression contains syntax that is not supported. */
export class BadPattern extends Error {
  override readonly name = 'BadPattern'
}

/** The work budget is used up without a result. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork'
}

/** The number of steps that are left. */
export interface StepsLeft {
  left: number
}

/** The texts of the groups. The first is the whole match. */
export type Captures = readonly string[]

const MOST_INSTRUCTIONS = 4_000
const MOST_CHARACTERS = 4_096
const MOST_DEPTH = 40
const MOST_GROUPS = 50
const MOST_STATES = 1 << 25

type Node =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'start' | 'end' | 'word' | 'notWord' }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | { readonly kind: 'group'; readonly index: number; readonly part: Node }
  | { readonly kind: 'look'; readonly negated: boolean; readonly part: Node }
  | {
      readonly kind: 'repeat'
      readonly part: Node
      readonly least: number
      readonly most: number
      readonly lazy: boolean
    }

/** Characters, as flat pairs of a first and a last one. */
interface CharacterSet {
  readonly ranges: readonly number[]
  readonly negated: boolean
}

const LAST = 0xffff
const DIGIT = [48, 57]
const WORD = [48, 57, 65, 90, 95, 95, 97, 122]
const SPACE = [9, 13, 32, 32]
/** Returns the complement of ranges, for a class inside a set with other ranges. */
const complement = (ranges: readonly number[]): number[] => {
  const out: number[] = []
  let next = 0
  for (let i = 0; i < ranges.length; i += 2) {
    if ((ranges[i] as number) > next) out.push(next, (ranges[i] as number) - 1)
    next = (ranges[i + 1] as number) + 1
  }
  return [...out, next, LAST]
}

const CLASSES: Record<string, readonly number[]> = { d: DIGIT, w: WORD, s: SPACE, h: [9, 9, 32, 32] }
const POSIX: Record<string, readonly number[]> = {
  alnum: [48, 57, 65, 90, 97, 122],
  alpha: [65, 90, 97, 122],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: DIGIT,
  graph: [33, 126],
  lower: [97, 122],
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: SPACE,
  upper: [65, 90],
  word: WORD,
  xdigit: [48, 57, 65, 70, 97, 102],
}
const ESCAPES: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, e: 27, a: 7 }

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0
  #ignoresCase: boolean
  #groups = 0

  constructor(text: string, ignoresCase: boolean) {
    this.#text = text
    this.#ignoresCase = ignoresCase
  }

  read(): { node: Node; groups: number } {
    const node = this.#alternatives()
    if (this.#at < this.#text.length) throw new BadPattern('a parenthesis that is never opened')
    return { node, groups: this.#groups }
  }

  #alternatives(): Node {
    if (++this.#depth > MOST_DEPTH) throw new BadPattern('parentheses nested too deeply')
    const before = this.#ignoresCase
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    this.#ignoresCase = before
    this.#depth--
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'any', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#text.length && !this.#is('|') && !this.#is(')')) {
      const part = this.#atom()
      if (part) parts.push(this.#repeated(part))
    }
    return { kind: 'all', parts }
  }

  #atom(): Node | undefined {
    const character = this.#next()
    switch (character) {
      case '.':
        return { kind: 'set', set: { ranges: [0, LAST], negated: false } }
      case '^':
        return { kind: 'start' }
      case '$':
        return { kind: 'end' }
      case '[':
        return this.#set()
      case '(':
        return this.#group()
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
        throw new BadPattern(`nothing before ${character}`)
      default:
        return this.#character(character.charCodeAt(0))
    }
  }

  #group(): Node | undefined {
    if (!this.#take('?')) return this.#closed(this.#groups < MOST_GROUPS ? ++this.#groups : -1)
    if (this.#take(':')) return this.#closed(0)
    if (this.#take('=')) return { kind: 'look', negated: false, part: this.#closed(0) }
    if (this.#take('!')) return { kind: 'look', negated: true, part: this.#closed(0) }
    const name = /^P?<[A-Za-z_]\w*>/.exec(this.#rest)
    if (name) {
      this.#at += name[0].length
      return this.#closed(this.#groups < MOST_GROUPS ? ++this.#groups : -1)
    }
    const flags = /^([ims]*)(?:-([ims]*))?([:)])/.exec(this.#rest)
    if (!flags || flags[1]?.includes('m')) throw new BadPattern('a kind of parenthesis that is not supported')
    this.#at += flags[0].length
    const before = this.#ignoresCase
    if (flags[1]?.includes('i')) this.#ignoresCase = true
    if (flags[2]?.includes('i')) this.#ignoresCase = false
    if (flags[3] === ')') return undefined
    const node = this.#closed(0)
    this.#ignoresCase = before
    return node
  }

  #closed(index: number): Node {
    if (index < 0) throw new BadPattern('too many groups')
    const part = this.#alternatives()
    if (!this.#take(')')) throw new BadPattern('a parenthesis that is never closed')
    return index === 0 ? part : { kind: 'group', index, part }
  }

  #escape(): Node {
    const character = this.#next()
    if (character === 'b') return { kind: 'word' }
    if (character === 'B') return { kind: 'notWord' }
    if (character === 'A') return { kind: 'start' }
    if (character === 'z' || character === 'Z') return { kind: 'end' }
    const known = CLASSES[character.toLowerCase()]
    if (known) return { kind: 'set', set: { ranges: known, negated: character !== character.toLowerCase() } }
    return this.#character(this.#escaped(character))
  }

  #escaped(character: string): number {
    if (character === 'x') {
      const hex = /^(?:\{([0-9a-fA-F]{1,4})\}|([0-9a-fA-F]{1,2}))/.exec(this.#rest)
      if (!hex) throw new BadPattern('\\x without a number')
      this.#at += hex[0].length
      return Number.parseInt((hex[1] ?? hex[2]) as string, 16)
    }
    const known = ESCAPES[character]
    if (known !== undefined) return known
    if (/[0-9A-Za-z]/.test(character)) throw new BadPattern(`\\${character} is not supported`)
    return character.charCodeAt(0)
  }

  #set(): Node {
    const negated = this.#take('^')
    const ranges: number[] = []
    for (let isFirst = true; isFirst || !this.#is(']'); isFirst = false) {
      const first = this.#ofSet()
      if (typeof first !== 'number') {
        ranges.push(...first)
        continue
      }
      let last = first
      if (this.#is('-') && this.#text[this.#at + 1] !== ']' && this.#at + 1 < this.#text.length) {
        this.#at++
        const end = this.#ofSet()
        if (typeof end !== 'number') ranges.push(45, 45, ...end)
        else if (end < first) throw new BadPattern('a range in the wrong order')
        else last = end
      }
      ranges.push(first, last)
    }
    this.#at++
    return { kind: 'set', set: { ranges: this.#cased(ranges), negated } }
  }

  /** Reads one character of a set, or the ranges of a class. */
  #ofSet(): number | readonly number[] {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(this.#rest)
    if (posix) {
      const ranges = POSIX[posix[2] as string]
      if (!ranges) throw new BadPattern(`[:${posix[2]}:] is not supported`)
      this.#at += posix[0].length
      return posix[1] ? complement(ranges) : ranges
    }
    const character = this.#next()
    if (character !== '\\') return character.charCodeAt(0)
    const escaped = this.#next()
    if (escaped === 'b') return 8
    const known = CLASSES[escaped.toLowerCase()]
    if (known) return escaped === escaped.toLowerCase() ? known : complement(known)
    return this.#escaped(escaped)
  }

  #character(code: number): Node {
    return { kind: 'set', set: { ranges: this.#cased([code, code]), negated: false } }
  }

  /** Adds the other case of characters when case is ignored. ASCII only, because Apache compares bytes. */
  #cased(ranges: number[]): number[] {
    if (!this.#ignoresCase) return ranges
    const out = [...ranges]
    for (let i = 0; i < ranges.length; i += 2)
      for (const [low, high, by] of [
        [65, 90, 32],
        [97, 122, -32],
      ] as const) {
        const first = Math.max(ranges[i] as number, low)
        const last = Math.min(ranges[i + 1] as number, high)
        if (first <= last) out.push(first + by, last + by)
      }
    return out
  }

  #repeated(part: Node): Node {
    let node = part
    for (;;) {
      if (!'*+?{'.includes(this.#text[this.#at] ?? '.')) return node
      const found = /^(?:[*+?]|\{(\d{1,4})(?:(,)(\d{0,4}))?\})/.exec(this.#rest)
      if (!found) return node
      this.#at += found[0].length
      const [all, from, comma, to] = found
      const least = from === undefined ? (all === '+' ? 1 : 0) : Number(from)
      const open = from === undefined ? all !== '?' : comma !== undefined && to === ''
      const most = open ? Number.POSITIVE_INFINITY : from === undefined ? 1 : Number(comma === undefined ? from : to)
      if (most < least) throw new BadPattern('a repetition in the wrong order')
      if (this.#is('+')) throw new BadPattern('possessive repetition is not supported')
      const lazy = this.#take('?')
      if (/^[*{]/.test(this.#rest) && /^(?:\*|\{\d+(?:,\d*)?\})/.test(this.#rest))
        throw new BadPattern('a repetition of a repetition')
      node = { kind: 'repeat', part: node, least, most, lazy }
    }
  }

  get #rest(): string {
    return this.#text.slice(this.#at, this.#at + 64)
  }

  #is(character: string): boolean {
    return this.#text[this.#at] === character
  }

  #take(character: string): boolean {
    if (!this.#is(character)) return false
    this.#at++
    return true
  }

  #next(): string {
    const character = this.#text[this.#at]
    if (character === undefined) throw new BadPattern('it ends too early')
    this.#at++
    return character
  }
}

// biome-ignore format: a line
const Op = { Set: 0, Split: 1, Jump: 2, Save: 3, Start: 4, End: 5, Word: 6, NotWord: 7, Look: 8, NotLook: 9, Match: 10 } as const

/** One bit for each ASCII character, and the ranges for everything else. */
interface Compiled {
  readonly bits: Uint8Array
  readonly set: CharacterSet
}

/** Parallel arrays: the operations, and their operands. */
interface Program {
  readonly ops: number[]
  readonly a: number[]
  readonly b: number[]
  readonly sets: Compiled[]
}

const has = ({ ranges, negated }: CharacterSet, code: number): boolean => {
  for (let i = 0; i < ranges.length; i += 2)
    if (code >= (ranges[i] as number) && code <= (ranges[i + 1] as number)) return !negated
  return negated
}

class Writer {
  readonly program: Program = { ops: [], a: [], b: [], sets: [] }
  readonly #sets = new Map<CharacterSet, number>()

  emit(op: number, a = 0, b = 0): number {
    const { ops } = this.program
    if (ops.length >= MOST_INSTRUCTIONS) throw new BadPattern('the expression is too large')
    this.program.a.push(a)
    this.program.b.push(b)
    return ops.push(op) - 1
  }

  get #here(): number {
    return this.program.ops.length
  }

  write(node: Node): void {
    const { a, b } = this.program
    switch (node.kind) {
      case 'set':
        this.emit(Op.Set, this.#setOf(node.set))
        return
      case 'start':
        this.emit(Op.Start)
        return
      case 'end':
        this.emit(Op.End)
        return
      case 'word':
        this.emit(Op.Word)
        return
      case 'notWord':
        this.emit(Op.NotWord)
        return
      case 'all':
        for (const part of node.parts) this.write(part)
        return
      case 'any': {
        const ends: number[] = []
        for (const [index, part] of node.parts.entries()) {
          if (index === node.parts.length - 1) {
            this.write(part)
            break
          }
          const split = this.emit(Op.Split)
          a[split] = this.#here
          this.write(part)
          ends.push(this.emit(Op.Jump))
          b[split] = this.#here
        }
        for (const end of ends) a[end] = this.#here
        return
      }
      case 'group':
        this.emit(Op.Save, node.index * 2)
        this.write(node.part)
        this.emit(Op.Save, node.index * 2 + 1)
        return
      case 'look': {
        const look = this.emit(node.negated ? Op.NotLook : Op.Look)
        this.write(node.part)
        this.emit(Op.Match)
        a[look] = this.#here
        return
      }
      case 'repeat':
        this.#repeat(node)
    }
  }

  #repeat({ part, least, most, lazy }: Node & { kind: 'repeat' }): void {
    for (let i = 0; i < least; i++) this.write(part)
    if (most === Number.POSITIVE_INFINITY) {
      const split = this.emit(Op.Split)
      this.#choose(split, lazy, () => {
        this.write(part)
        this.emit(Op.Jump, split)
      })
      return
    }
    const splits: number[] = []
    for (let i = least; i < most; i++) {
      const split = this.emit(Op.Split)
      splits.push(split)
      if (lazy) this.program.b[split] = this.#here
      else this.program.a[split] = this.#here
      this.write(part)
    }
    for (const split of splits)
      if (lazy) this.program.a[split] = this.#here
      else this.program.b[split] = this.#here
  }

  #choose(split: number, lazy: boolean, write: () => void): void {
    const { a, b } = this.program
    const [into, past] = lazy ? [b, a] : [a, b]
    into[split] = this.#here
    write()
    past[split] = this.#here
  }

  /** Returns the index of a set. A repeated part shares one set. */
  #setOf(set: CharacterSet): number {
    const known = this.#sets.get(set)
    if (known !== undefined) return known
    const at = this.program.sets.push(compile(set)) - 1
    this.#sets.set(set, at)
    return at
  }
}

/** Sets of one ASCII character, which are the most common. */
const single: Compiled[] = []

function compile(set: CharacterSet): Compiled {
  const { ranges, negated } = set
  const code = ranges.length === 2 && ranges[0] === ranges[1] && !negated ? (ranges[0] as number) : 128
  const known = single[code]
  if (known) return known
  const bits = new Uint8Array(128).fill(negated ? 1 : 0)
  for (let i = 0; i < ranges.length; i += 2)
    for (let at = ranges[i] as number; at <= Math.min(ranges[i + 1] as number, 127); at++) bits[at] = negated ? 0 : 1
  const compiled = { bits, set }
  if (code < 128) single[code] = compiled
  return compiled
}

/** Returns the characters that a match may begin with, by following everything before the first of them. */
function firstOf({ ops, a, b, sets }: Program): Uint8Array | undefined {
  const first = new Uint8Array(128)
  const seen = new Set<number>()
  const left = [0]
  while (left.length > 0) {
    const pc = left.pop() as number
    if (seen.has(pc)) continue
    seen.add(pc)
    const op = ops[pc] as number
    if (op === Op.Match) return undefined
    if (op === Op.Set) {
      const { bits } = sets[a[pc] as number] as Compiled
      for (let code = 0; code < 128; code++) if (bits[code] === 1) first[code] = 1
    } else if (op === Op.Split) left.push(a[pc] as number, b[pc] as number)
    else if (op === Op.Jump || op === Op.Look || op === Op.NotLook) left.push(a[pc] as number)
    else left.push(pc + 1)
  }
  return first
}

const isWord = (text: string, at: number): boolean => at >= 0 && at < text.length && /\w/.test(text[at] as string)

/** The states tried in the current match. The array is reused, because clearing it is faster than allocating it. */
let tried = new Uint32Array(1 << 12)

/** A site's regular expression. */
export class Pattern {
  readonly #program: Program
  readonly #groups: number
  /** The ASCII characters that a match may begin with. Undefined if it may begin with any, or be empty. */
  readonly #first: Uint8Array | undefined
  /** The memory it takes, in characters. */
  readonly size: number

  /** @throws BadPattern */
  constructor(text: string, ignoresCase = false) {
    if (text.length > MOST_CHARACTERS) throw new BadPattern('the expression is too long')
    const { node, groups } = new Reader(text, ignoresCase).read()
    const writer = new Writer()
    writer.write(node)
    writer.emit(Op.Match)
    this.#program = writer.program
    this.#groups = groups
    this.#first = firstOf(writer.program)
    this.size = writer.program.ops.length
  }

  /** @throws TooMuchWork */
  test(text: string, work: StepsLeft): boolean {
    return this.exec(text, work) !== undefined
  }

  /**
   * Returns the first match, as PCRE finds it.
   * @throws TooMuchWork
   */
  exec(text: string, work: StepsLeft): Captures | undefined {
    const places = this.#search(text, work)
    if (!places) return undefined
    const captures: string[] = []
    for (let group = 0; group <= this.#groups; group++) {
      const [from, to] = [places[group * 2] as number, places[group * 2 + 1] as number]
      captures.push(from < 0 || to < from ? '' : text.slice(from, to))
    }
    return captures
  }

  #search(text: string, work: StepsLeft): number[] | undefined {
    const states = this.#program.ops.length * (text.length + 1)
    if (states > MOST_STATES) throw new TooMuchWork('the text is too long for the expression')
    const words = (states >>> 5) + 1
    work.left -= words >>> 4
    if (tried.length < words) tried = new Uint32Array(words)
    else tried.fill(0, 0, words)
    const places: number[] = new Array((this.#groups + 1) * 2).fill(-1)
    const last = this.#program.ops[0] === Op.Start ? 0 : text.length
    const first = this.#first
    work.left -= last >>> 3
    for (let start = 0; start <= last; start++) {
      if (first && (first[text.charCodeAt(start)] ?? (start < text.length ? 1 : 0)) === 0) continue
      const end = this.#run(text, 0, start, places, work, tried)
      if (end >= 0) {
        places[0] = start
        places[1] = end
        return places
      }
    }
    return undefined
  }

  /** @returns the end of the match, or -1, which leaves `places` as before */
  #run(text: string, entry: number, from: number, places: number[], work: StepsLeft, seen: Uint32Array): number {
    const { ops, a, b, sets } = this.#program
    const width = text.length + 1
    // States to try: a position in the program and in the text. Below zero: the position of a group to restore.
    const stack: number[] = [entry, from]
    while (stack.length > 0) {
      let at = stack.pop() as number
      let pc = stack.pop() as number
      if (pc < 0) {
        places[-pc - 1] = at
        continue
      }
      for (;;) {
        if (--work.left < 0) throw new TooMuchWork('too much work')
        const state = pc * width + at
        const bit = 1 << (state & 31)
        if (((seen[state >>> 5] as number) & bit) !== 0) break
        seen[state >>> 5] = (seen[state >>> 5] as number) | bit
        const op = ops[pc] as number
        if (op === Op.Set) {
          if (at >= text.length) break
          const code = text.charCodeAt(at)
          const { bits, set } = sets[a[pc] as number] as Compiled
          if (code < 128 ? bits[code] === 0 : !has(set, code)) break
          at++
          pc++
        } else if (op === Op.Split) {
          stack.push(b[pc] as number, at)
          pc = a[pc] as number
        } else if (op === Op.Jump) pc = a[pc] as number
        else if (op === Op.Save) {
          const place = a[pc] as number
          stack.push(-place - 1, places[place] as number)
          places[place] = at
          pc++
        } else if (op === Op.Match) return at
        else if (op === Op.Look || op === Op.NotLook) {
          // Uses separate states: a failure inside says nothing about the whole, and a match must match again.
          work.left -= (seen.length >>> 4) + 1
          const held = [...places]
          const found = this.#run(text, pc + 1, at, held, work, new Uint32Array(seen.length)) >= 0
          if (found !== (op === Op.Look)) break
          pc = a[pc] as number
        } else {
          const holds =
            op === Op.Start
              ? at === 0
              : op === Op.End
                ? at === text.length
                : (isWord(text, at - 1) !== isWord(text, at)) === (op === Op.Word)
          if (!holds) break
          pc++
        }
      }
    }
    return -1
  }
}
