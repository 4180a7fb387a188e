import { signal } from '@preact/signals'
import type { sitesTexts as texts } from '../../texts/sites.ts'

/** What the list of sites shows, kept while somebody looks at one of them. */
export const shown = {
  /** Where each page that was turned to begins in the list, the shown one last: see `place` of the API. */
  places: signal<readonly string[]>(['']),
  name: signal(''),
  state: signal<keyof typeof texts.states>(''),
  tag: signal(''),
  kind: signal<keyof typeof texts.shownKinds>('all'),
}

/** Sites that something is to be done with, by id, from any page of the list. */
export const chosen = signal<ReadonlyMap<number, string>>(new Map())

export function choose(id: number, name: string, isChosen: boolean): void {
  const next = new Map(chosen.value)
  if (isChosen) next.set(id, name)
  else next.delete(id)
  chosen.value = next
}
