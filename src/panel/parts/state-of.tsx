import type { components } from '../../sdk/api.generated.ts'
import { stateTexts as texts } from '../texts/parts.ts'
import { Tip } from './tip.tsx'

interface Shown {
  readonly state: string
  readonly status?: components['schemas']['SiteStatus']
}

/** What visitors of a site see now, with the reason in a tooltip. */
export function StateOf({ site: { state, status } }: { readonly site: Shown }) {
  const shown = status?.status ?? state
  const name = texts[shown] ?? shown
  if (!status?.reason) return <span class={`state ${shown}`}>{name}</span>
  return (
    <Tip class={`state ${shown}`} text={status.reason}>
      {name}
    </Tip>
  )
}
