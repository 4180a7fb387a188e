import type { Tx } from '../../platform/db/database.ts'
import { endAlert, raiseAlert } from '../alerts/public.ts'
import { namesOfUpdate, type SafeUpdateOrder, type UpdatedItem } from './safe-update.ts'

/** The subject of an alert about an update of several plugins and themes. */
const SEVERAL = 'several plugins and themes'
/** As in the alert about an update of WordPress alone. */
const WORDPRESS = 'WordPress'
/** Characters of names, so that the reason still fits. */
const MOST_NAMED = 200

/** Returns the names that alerts about single updates have as their subject. */
const namesIn = ({ plugins, themes, core }: SafeUpdateOrder): string[] => [
  ...[...plugins, ...themes].map(({ path }) => path),
  ...(core ? [WORDPRESS] : []),
]

const causeOf = (siteId: number, subject: string) => ({ kind: 'update_undone', siteId, subject }) as const

/** Opens one alert for an update that was undone, however many plugins and themes it had. */
export async function raiseUndone(tx: Tx, order: SafeUpdateOrder, reason: string, now: number): Promise<void> {
  const [name, other] = namesIn(order)
  if (name === undefined) return
  if (other === undefined) return raiseAlert(tx, { ...causeOf(order.siteId, name), detail: reason }, now)
  const names = namesOfUpdate(order).slice(0, MOST_NAMED)
  await raiseAlert(tx, { ...causeOf(order.siteId, SEVERAL), detail: `${names}: ${reason}` }, now)
}

/**
 * Ends the alerts about earlier updates of what a kept update has updated. Opens one for each part that WordPress
 * refused, or that broke the site at once.
 */
export async function judgeParts(
  tx: Tx,
  order: SafeUpdateOrder,
  items: readonly UpdatedItem[],
  now: number,
): Promise<void> {
  const failed = items.filter(({ outcome }) => outcome === 'failed')
  const kept = namesIn(order).filter((each) => !failed.some(({ name }) => name === each))
  for (const subject of [SEVERAL, ...kept]) await endAlert(tx, causeOf(order.siteId, subject), now)
  for (const { name, message: detail } of failed)
    await raiseAlert(tx, { ...causeOf(order.siteId, name), detail: detail.replace(/\.$/, '') }, now)
}
