import { effect, signal } from '@preact/signals'

/** `hidden`: the person closed them. `shown`: the person asked for them again. Empty: while there are few sites. */
type Wish = 'hidden' | 'shown' | ''

const KEY = 'stead-first-steps'
const read = (): Wish => {
  const kept = localStorage.getItem(KEY)
  return kept === 'hidden' || kept === 'shown' ? kept : ''
}

/** What the person decided in this browser. */
export const firstSteps = signal<Wish>(read())

effect(() => {
  if (firstSteps.value) localStorage.setItem(KEY, firstSteps.value)
  else localStorage.removeItem(KEY)
})

/** Who has more has found the way without. */
const FEW_SITES = 3

/** Whether a person with so many sites sees the checklist. */
export const wantsFirstSteps = (sites: number): boolean =>
  firstSteps.value === 'shown' || (firstSteps.value === '' && sites <= FEW_SITES)
