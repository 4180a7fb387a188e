import { declareMemory } from '../../platform/process-memory.ts'

/** Versions between two others. Null: without an end. */
export interface VersionRange {
  readonly from: string | null
  readonly includesFrom: boolean
  readonly to: string | null
  readonly includesTo: boolean
}

export const isInRanges = (version: string, ranges: readonly VersionRange[]): boolean =>
  ranges.some((range) => isAfter(version, range) && isBefore(version, range))

function isAfter(version: string, { from, includesFrom }: VersionRange): boolean {
  const order = from === null ? 1 : compareExtensionVersions(version, from)
  return order > 0 || (order === 0 && includesFrom)
}

function isBefore(version: string, { to, includesTo }: VersionRange): boolean {
  const order = to === null ? -1 : compareExtensionVersions(version, to)
  return order < 0 || (order === 0 && includesTo)
}

/** Beginnings of words, as PHP knows them, with their order. A number counts as `#`. */
const STAGES: readonly (readonly [begin: string, rank: number])[] = [
  ['dev', 0],
  ['a', 1],
  ['b', 2],
  ['RC', 3],
  ['rc', 3],
  ['#', 4],
  ['p', 5],
]

/**
 * Compares versions of plugins and themes as PHP and WordPress do (`version_compare` of PHP): negative if the first one
 * is older.
 */
export function compareExtensionVersions(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)]
  for (let place = 0; place < Math.max(left.length, right.length); place++) {
    const [a, b] = [left[place], right[place]]
    const order = a === undefined ? -compareToEnd(b as string) : b === undefined ? compareToEnd(a) : compareParts(a, b)
    if (order !== 0) return order
  }
  return 0
}

/** Versions are compared with those of each vulnerability of a plugin, so their parts are kept. */
const kept = new Map<string, readonly string[]>()
declareMemory(() => kept.clear())
const MOST_KEPT = 5_000

/** `1.0RC2-3` has the parts 1, 0, RC, 2, 3. */
function partsOf(version: string): readonly string[] {
  const known = kept.get(version)
  if (known) return known
  const parts = version.match(/\d+|[^\d.\-_+]+/g) ?? []
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(version, parts)
  return parts
}

const isNumber = (part: string): boolean => part >= '0' && part < ':'

/** A further number makes a version newer, and a stage before the release makes it older. */
const compareToEnd = (part: string): number => (isNumber(part) ? 1 : rankOf(part) - rankOf('#'))

function compareParts(a: string, b: string): number {
  if (a === b) return 0
  if (isNumber(a) && isNumber(b)) {
    // Of any length: numbers without leading zeros compare as texts of the same length do.
    const [x, y] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')]
    return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0)
  }
  return rankOf(isNumber(a) ? '#' : a) - rankOf(isNumber(b) ? '#' : b)
}

const rankOf = (part: string): number => STAGES.find(([begin]) => part.startsWith(begin))?.[1] ?? -1
