import Type from 'typebox'
import { invalidInput } from '../../../platform/http/problem.ts'
import { NEXT_PLACE, oneOf } from '../../../platform/http/schemas.ts'

/** By what lists of sites can be sorted. Sites with the same value come in order of their ID. */
export const sortKeys = ['name', 'created', 'php_version', 'disk'] as const
export type SortKey = (typeof sortKeys)[number]

export interface SiteOrder {
  readonly key: SortKey
  readonly isDescending: boolean
}

/** A site in the order of a list: no two have the same value and ID. */
export interface SortedPlace {
  readonly value: string | number
  readonly siteId: number
}

/** Reversed ones have a minus. */
const names = sortKeys.flatMap((key) => [key, `-${key}`] as const)

/** The input that sorts a list of sites. */
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
 * Of a value of {@link sortQuery}; nothing for the usual order.
 * @throws Problem `invalid_input`
 */
export function orderOf({ sort, after }: { sort?: SortInput; after?: number }): SiteOrder | undefined {
  if (!sort) return undefined
  if (after !== undefined) throw invalidInput(['sort: cannot be combined with `after`'])
  return { key: sort.replace('-', '') as SortKey, isDescending: sort.startsWith('-') }
}

/** The column of `site_access` that a list is sorted by: each is in an index, with the account before it and the ID behind it. */
export const columnOf = {
  name: 'seen.site_name',
  created: 'seen.site_id',
  php_version: 'seen.php_version',
  disk: 'seen.used_bytes',
} as const satisfies Record<SortKey, string>

/**
 * Reads `place` of a sorted list. @returns `undefined` where the list begins
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

/** Where a sorted list goes on behind a site. */
export const placeBehind = (order: SiteOrder, last: SortedPlace | undefined): { headers?: Record<string, string> } =>
  last ? { headers: { [NEXT_PLACE]: `${nameOf(order)}.${last.value}.${last.siteId}` } } : {}

const nameOf = ({ key, isDescending }: SiteOrder): string => (isDescending ? `-${key}` : key)
