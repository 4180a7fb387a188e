import type { components } from '../../sdk/api.generated.ts'
import { stateTexts as texts } from '../texts/parts.ts'

interface Shown {
  readonly state: string
  readonly status?: components['schemas']['SiteStatus']
}

/** What visitors of a site get now, with the reason on hover. */
export function StateOf({ site: { state, status } }: { readonly site: Shown }) {
  const shown = status?.status ?? state
  return (
    <span class={`state ${shown}`} title={status?.reason ?? undefined}>
      {texts[shown] ?? shown}
    </span>
  )
}
