import Type from 'typebox'
import { invalidInput } from '../../../platform/http/problem.ts'
import { NEXT_PLACE } from '../../../platform/http/schemas.ts'
import type { ListedSite } from '../site.ts'

/** Place in the usual order of sites: favorites (rank 0) first, then by name. No two sites share one. */
export interface ListPlace {
  readonly rank: number
  readonly name: string
}

/** Input in addition to `page` and `after`. */
export const placeQuery = {
  place: Type.Optional(
    Type.String({
      maxLength: 110,
      description:
        'Use it instead of `page` to keep the order of the list: empty to begin, then the value of the header `Next-Place`, which is missing on the last answer. Sites that are added or deleted meanwhile cause no gaps',
    }),
  ),
}

/**
 * Reads `place`.
 * @returns `undefined` if it is not used, `begin` at the start of the list
 * @throws Problem `invalid_input`
 */
export function requestedPlace({ place, after }: { place?: string; after?: number }): ListPlace | 'begin' | undefined {
  if (place === undefined) return undefined
  if (after !== undefined) throw invalidInput(['place: cannot be combined with `after`'])
  if (place === '') return 'begin'
  const [, rank, name] = /^([01])\.([a-z0-9-]{1,70})$/.exec(place) ?? []
  if (!rank || !name) throw invalidInput(['place: must be a value of the header `Next-Place`'])
  return { rank: Number(rank), name }
}

/** Returns the place where the list continues after these sites, unless the page is not full. */
export function nextPlace(sites: readonly ListedSite[], perPage: number): { headers?: Record<string, string> } {
  const last = sites.length === perPage ? sites.at(-1) : undefined
  return last ? { headers: { [NEXT_PLACE]: `${last.isFavorite ? 0 : 1}.${last.name}` } } : {}
}
