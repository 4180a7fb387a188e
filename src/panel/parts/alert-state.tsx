import type { components } from '../../sdk/api.generated.ts'
import { alertsTexts as texts } from '../texts/alerts.ts'
import { Tip } from './tip.tsx'

export type Alert = components['schemas']['Alert']

/** The state of an alert, in the color of its severity while it is open, with the details in a tooltip. */
export function AlertState({ of }: { readonly of: Pick<Alert, 'state' | 'severity' | 'detail'> }) {
  const look = of.state === 'resolved' ? 'live' : of.severity === 'critical' ? 'failed' : 'maintenance'
  return (
    <Tip class={`state ${look}`} text={of.detail}>
      {texts.states[of.state]}
    </Tip>
  )
}

/** The page of a site that shows the reason of an alert. */
const partOf: Readonly<Record<string, string>> = {
  site_down: 'uptime',
  domain_elsewhere: 'domains',
  certificate_expiring: 'domains',
  backup_failed: 'backups',
  backup_proof_failed: 'backups',
  update_undone: 'plugins',
  vulnerability: 'plugins',
  php_errors: 'logs',
  mail_bouncing: 'logs',
}

/** Returns the address of the page that shows the reason of an alert. */
export const pageOfAlert = ({ kind, site_id: site }: Pick<Alert, 'kind' | 'site_id'>): string =>
  site === null ? '#/platform' : `#/sites/${site}/${partOf[kind] ?? 'overview'}`
