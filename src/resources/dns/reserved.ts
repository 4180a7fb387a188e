import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { reservationOf } from '../access/reserved-names.ts'
import { isOperator } from '../account/public.ts'
import type { Caller } from '../kit/caller.ts'
import { problems } from './problems.ts'
import type { Zone } from './zone.ts'
import { managedZone } from './zone-access.ts'

/*
 * Names of the installation. Only the account that operates it has zones with them, and no site has the name of a
 * service.
 */

export interface Asking {
  readonly tx: Tx
  readonly caller: Pick<Caller, 'accountId'>
  readonly config: Config
}

/**
 * Rejects a host name that a site must not have. The operator may host a site at `example.com` when the panel is at
 * `panel.example.com`, but no site may have the name of a service itself.
 * @param ownerId the account of the site
 * @throws Problem `reserved_name`
 */
export async function requireHostName(
  { tx, caller, config }: Asking,
  hostName: string,
  ownerId: number,
): Promise<void> {
  const reservation = reservationOf(hostName, config)
  if (reservation === undefined) return
  const isTheirs = caller.accountId === ownerId && (await isOperator(tx, ownerId))
  if (reservation === 'service' || !isTheirs) throw new Problem(problems.reserved_name, { hostName })
}

/**
 * Returns the zone of a path, held, for a change of its records or keys.
 *
 * Only the operator may change a zone of the installation, because that decides where the panel and the name servers
 * are. Collaborators on the operator's sites may not. An account that had the zone before a setting reserved it can
 * only remove records.
 * @throws Problem `reserved_name`, and those of {@link managedZone}
 */
export async function zoneToChange(
  context: Asking & { readonly caller: Caller },
  zoneId: number,
  change: 'any' | 'removal' = 'any',
): Promise<Zone> {
  const { tx, caller, config } = context
  const zone = await managedZone(context, zoneId)
  if (reservationOf(zone.name, config) === undefined) return zone
  const isOfOperator = await isOperator(tx, zone.accountId)
  const isAllowed = isOfOperator ? caller.accountId === zone.accountId : change === 'removal'
  if (!isAllowed) throw new Problem(problems.reserved_name, { hostName: zone.name })
  return zone
}
