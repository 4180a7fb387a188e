import type { components } from '../../sdk/api.generated.ts'
import { uptimeTexts } from '../texts/monitoring.ts'
import { Tip } from './tip.tsx'

type Shown = Pick<components['schemas']['MonitoredSite'], 'state' | 'detail'>

/** Each looks like a state of sites that means as much. */
const looks = { up: 'live', slow: 'maintenance', down: 'failed', paused: '', unknown: '' }

/** A state, with the reason in a tooltip. */
export function MonitoringState({ of: { state, detail } }: { readonly of: Shown }) {
  const name = uptimeTexts.states[state]
  const look = `state ${looks[state]}`.trim()
  if (!detail) return <span class={look}>{name}</span>
  return (
    <Tip class={look} text={detail}>
      {name}
    </Tip>
  )
}
