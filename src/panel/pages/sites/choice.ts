import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { filterOf } from '../../parts/filters.tsx'
import { SORT } from '../../parts/sorting.tsx'
import { go, setQuery } from '../../route.ts'

/**
 * Filters and order of the list of sites, kept in the address, so that a link, a saved view, or a reload shows the
 * same.
 */
export const narrowing = ['q', 'state', 'tag', 'kind', SORT] as const
export type Narrowed = Readonly<Partial<Record<(typeof narrowing)[number], string>>>

/** Normalizes the address. */
export const narrowed = (): string =>
  narrowing.flatMap((name) => (filterOf(name) ? [`${name}=${encodeURIComponent(filterOf(name))}`] : [])).join('&')

export const narrow = (to: Narrowed): void => setQuery(to)

/** The address when the person left the list for a site. */
let left = ''

/** Restores the previous filters of the list, unless its address has its own. */
export function useNarrowing(): void {
  const isOpened = useRef(false)
  const now = narrowed()
  useEffect(() => {
    if (!isOpened.current && now === '' && left) go(`/sites?${left}`)
    else left = now
    isOpened.current = true
  }, [now])
}

interface Places {
  /** The list that the pages belong to. */
  readonly of: string
  readonly all: readonly string[]
}

const turned = signal<Places>({ of: '', all: [''] })

/** The start of each visited page in the list, the current one last. See `place` of the API. */
export const places = (): readonly string[] => (turned.value.of === narrowed() ? turned.value.all : [''])

export function turnTo(all: readonly string[]): void {
  turned.value = { of: narrowed(), all }
}

/** Selected sites by ID, from any page of the list. */
export const chosen = signal<ReadonlyMap<number, string>>(new Map())

export function choose(id: number, name: string, isChosen: boolean): void {
  const next = new Map(chosen.value)
  if (isChosen) next.set(id, name)
  else next.delete(id)
  chosen.value = next
}

export interface Choosable {
  readonly id: number
  readonly displayName: string
}

/** Adds sites to the selection. */
export function chooseAll(sites: readonly Choosable[]): void {
  chosen.value = new Map([...chosen.value, ...sites.map(({ id, displayName }) => [id, displayName] as const)])
}
