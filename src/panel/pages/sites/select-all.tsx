import { useSignal } from '@preact/signals'
import type { Got } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { readAll } from '../../read-all.ts'
import { sitesTexts as texts } from '../../texts/sites.ts'
import { type Choosable, chooseAll } from './choice.ts'

/** The most sites of one selection. */
const MOST = 1000
/** The most that the API returns at once. */
const AT_ONCE = 50

/** Selects every site that matches the filters, from all pages of the list. */
export function SelectAllSites(props: {
  readonly total: number
  read(asked: { place: string; per_page: number }): Promise<Got<readonly Choosable[]>>
}) {
  const isBusy = useSignal(false)
  const count = Math.min(props.total, MOST)
  async function select(): Promise<void> {
    isBusy.value = true
    try {
      const read = (place: string) => props.read({ place, per_page: AT_ONCE })
      const { rows } = await readAll({ read, first: '', nextOf: ({ nextPlace }) => nextPlace, most: MOST })
      chooseAll(rows)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Button isDisabled={isBusy.value} onClick={attempt(select)}>
      {count < props.total ? texts.selectFirst(count) : texts.selectAll(count)}
    </Button>
  )
}
