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

/** `1.0RC2-3` has the parts 1, 0, RC, 2, 3. */
const partsOf = (version: string): string[] => version.match(/\d+|[^\d.\-_+]+/g) ?? []

const isNumber = (part: string): boolean => /^\d/.test(part)

/** A further number makes a version newer, and a stage before the release makes it older. */
const compareToEnd = (part: string): number => (isNumber(part) ? 1 : rankOf(part) - rankOf('#'))

function compareParts(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) {
    const [x, y] = [BigInt(a), BigInt(b)]
    return x < y ? -1 : x > y ? 1 : 0
  }
  return rankOf(isNumber(a) ? '#' : a) - rankOf(isNumber(b) ? '#' : b)
}

const rankOf = (part: string): number => STAGES.find(([begin]) => part.startsWith(begin))?.[1] ?? -1
