import { effect, signal } from '@preact/signals'

/**
 * `hidden` if the person closed them, `shown` if the person reopened them, empty to show them while there are few
 * sites.
 */
type Wish = 'hidden' | 'shown' | ''

const KEY = 'stead-first-steps'
const read = (): Wish => {
  const kept = localStorage.getItem(KEY)
  return kept === 'hidden' || kept === 'shown' ? kept : ''
}

/** The person's decision in this browser. */
export const firstSteps = signal<Wish>(read())

effect(() => {
  if (firstSteps.value) localStorage.setItem(KEY, firstSteps.value)
  else localStorage.removeItem(KEY)
})

/** The most sites with which the checklist appears. People with more know their way. */
const FEW_SITES = 3

/** Returns whether a person with this many sites sees the checklist. */
export const wantsFirstSteps = (sites: number): boolean =>
  firstSteps.value === 'shown' || (firstSteps.value === '' && sites <= FEW_SITES)
