import Type from 'typebox'
import { invalidInput } from '../../../platform/http/problem.ts'
import { NEXT_PLACE, oneOf } from '../../../platform/http/schemas.ts'

/** Keys that lists of sites can be sorted by. Sites with the same value are in order of their ID. */
export const sortKeys = ['name', 'created', 'php_version', 'disk'] as const
export type SortKey = (typeof sortKeys)[number]

export interface SiteOrder {
  readonly key: SortKey
  readonly isDescending: boolean
}

/** Place of a site in a sorted list. No two sites have the same value and ID. */
export interface SortedPlace {
  readonly value: string | number
  readonly siteId: number
}

/** Reversed orders begin with a minus. */
const names = sortKeys.flatMap((key) => [key, `-${key}`] as const)

/** Input that sorts a list of sites. */
export const sortQuery = {
  sort: Type.Optional(
    oneOf(names, {
      description:
        'Sort by name, ID (`created`), PHP version, or storage use as of last night (`disk`); a `-` reverses the order. Without it, favorites come first, then names',
      examples: ['-disk'],
    }),
  ),
}

export type SortInput = (typeof names)[number]

/**
 * Returns the order for a value of {@link sortQuery}, or undefined for the usual order.
 * @throws Problem `invalid_input`
 */
export function orderOf({ sort, after }: { sort?: SortInput; after?: number }): SiteOrder | undefined {
  if (!sort) return undefined
  if (after !== undefined) throw invalidInput(['sort: cannot be combined with `after`'])
  return { key: sort.replace('-', '') as SortKey, isDescending: sort.startsWith('-') }
}

/**
 * Columns of `site_access` that lists are sorted by. Each has an index with the account before it and the ID after it.
 */
export const columnOf = {
  name: 'seen.site_name',
  created: 'seen.site_id',
  php_version: 'seen.php_version',
  disk: 'seen.used_bytes',
} as const satisfies Record<SortKey, string>

/**
 * Reads `place` of a sorted list.
 * @returns `undefined` at the start of the list
 * @throws Problem `invalid_input`
 */
export function sortedPlaceOf(order: SiteOrder, place = ''): SortedPlace | undefined {
  if (place === '') return undefined
  const [, sort, value = '', id] = /^(-?[a-z_]+)\.([a-z0-9.-]{1,70})\.(\d{1,15})$/.exec(place) ?? []
  const isNumber = order.key === 'created' || order.key === 'disk'
  if (sort !== nameOf(order) || (isNumber && !/^\d{1,15}$/.test(value)))
    throw invalidInput(['place: must be a value of the header `Next-Place` of the same order'])
  return { value: isNumber ? Number(value) : value, siteId: Number(id) }
}

/** Returns the header with the place after a site, where a sorted list continues. */
export const placeBehind = (order: SiteOrder, last: SortedPlace | undefined): { headers?: Record<string, string> } =>
  last ? { headers: { [NEXT_PLACE]: `${nameOf(order)}.${last.value}.${last.siteId}` } } : {}

const nameOf = ({ key, isDescending }: SiteOrder): string => (isDescending ? `-${key}` : key)
