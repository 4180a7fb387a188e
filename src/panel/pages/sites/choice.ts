import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { filterOf } from '../../parts/filters.tsx'
import { SORT } from '../../parts/sorting.tsx'
import { go, setQuery } from '../../route.ts'

/** What narrows and sorts the list of sites, in the address: a link, a saved view, or a reload shows the same. */
export const narrowing = ['q', 'state', 'tag', 'kind', SORT] as const
export type Narrowed = Readonly<Partial<Record<(typeof narrowing)[number], string>>>

/** Of the address, in one form. */
export const narrowed = (): string =>
  narrowing.flatMap((name) => (filterOf(name) ? [`${name}=${encodeURIComponent(filterOf(name))}`] : [])).join('&')

export const narrow = (to: Narrowed): void => setQuery(to)

/** As they were when the person left the list for one of its sites. */
let left = ''

/** The list is as it was before, unless its address says how it is to be. */
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
  /** Of which list. */
  readonly of: string
  readonly all: readonly string[]
}

const turned = signal<Places>({ of: '', all: [''] })

/** Where each page that was turned to begins in the list, the shown one last: see `place` of the API. */
export const places = (): readonly string[] => (turned.value.of === narrowed() ? turned.value.all : [''])

export function turnTo(all: readonly string[]): void {
  turned.value = { of: narrowed(), all }
}

/** Sites that something is to be done with, by id, from any page of the list. */
export const chosen = signal<ReadonlyMap<number, string>>(new Map())

export function choose(id: number, name: string, isChosen: boolean): void {
  const next = new Map(chosen.value)
  if (isChosen) next.set(id, name)
  else next.delete(id)
  chosen.value = next
}
