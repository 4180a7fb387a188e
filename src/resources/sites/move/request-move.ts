import type { PhpVersion } from '../../../hosting/php/runtime.ts'
import { type RuntimeKind, runtimeKinds } from '../../../hosting/php/runtime-kinds.ts'
import { databaseKinds, isOnServer } from '../../../hosting/site-database/database-kind.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import type { Change } from '../../kit/change.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { runtimesOfHost } from '../runtime.store.ts'
import { requireInstalled, type Site } from '../site.ts'
import { moveSiteJob } from './move-site.job.ts'

/** The runtime and version that a site should use. */
export interface MoveRequest {
  readonly runtime: RuntimeKind
  /** Default: the current version. */
  readonly phpVersion?: PhpVersion | undefined
}

/**
 * Starts the move of a site, as its owner or the operator requests.
 * @throws Problem site_not_live, runtime_not_there
 */
export async function requestMove(
  tx: Tx,
  site: Site,
  { runtime, phpVersion = site.phpVersion }: MoveRequest,
  change: Pick<Change, 'record' | 'start'>,
): Promise<{ operationId: number; phpVersion: PhpVersion }> {
  requireInstalled(site)
  const host = await runtimesOfHost(tx, site.hostId)
  const { label, database } = runtimeKinds[runtime]
  const isThere = isOnServer(database) ? host.databases[phpVersion] === database : host.hasWasm
  if (!isThere) throw new Problem(problems.runtime_not_there, { runtime, version: phpVersion })
  const how = `${label} and ${databaseKinds[database].label}`
  await change.record({ action: actions['site.updated'], message: `Requested the move to ${how}, PHP ${phpVersion}` })
  const operationId = await change.start(moveSiteJob, { siteId: site.id, runtime, phpVersion })
  return { operationId, phpVersion }
}
