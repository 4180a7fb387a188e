import type { Config } from '../../../config.ts'
import { isOnServer } from '../../../hosting/site-database/database-kind.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { haveStorageInCommon } from '../../backups/public.ts'
import type { Starting } from '../../kit/change.ts'
import {
  canRun,
  choosePlace,
  databaseOfSite,
  type HostRoom,
  openHosts,
  requireInstalled,
  runtimesOfHost,
  type Site,
} from '../../sites/public.ts'
import { findHostNamed } from '../hosts/host-changes.store.ts'
import { problems } from '../problems.ts'
import { relocateSiteJob } from './relocate-site.job.ts'
import { openRelocation } from './relocation.store.ts'

export interface RelocationRequest {
  /** Name of the new host. Default: the one with the most room. */
  readonly host?: string | undefined
  readonly config: Pick<Config, 'datacenters' | 'backupS3Bucket' | 'backupDir'>
  /** The operator's account, which owns the operation. */
  readonly accountId: number
}

/**
 * Starts the move of a held site to another host.
 * @returns the name of the new host, and the operation
 * @throws Problem site_not_live, storage_not_shared, host_unknown, host_unfit, site_on_host, no_host, relocation_open
 */
export async function requestRelocation(
  tx: Tx,
  site: Site,
  { host, config, accountId }: RelocationRequest,
  { start }: Starting,
): Promise<{ host: string; operationId: number }> {
  requireInstalled(site)
  if (!haveStorageInCommon(config)) throw new Problem(problems.storage_not_shared, {})
  const operation = await openRelocation(tx, site.id)
  if (operation !== undefined) throw new Problem(problems.relocation_open, { operation })
  const toHostId = host === undefined ? await anyHost(tx, site, config) : await namedHost(tx, site, host)
  const about = { accountId, siteId: site.id, hostId: site.hostId }
  const operationId = await start(relocateSiteJob, { siteId: site.id, toHostId }, { about })
  return { host: await hostName(tx, toHostId), operationId }
}

/** @throws Problem no_host */
async function anyHost(tx: Tx, site: Site, { datacenters }: Pick<Config, 'datacenters'>): Promise<number> {
  const fit = await fitHosts(tx, site)
  return choosePlace(site.datacenterCode, null, datacenters, fit).hostId
}

/** @throws Problem host_unknown, site_on_host, host_unfit */
async function namedHost(tx: Tx, site: Site, host: string): Promise<number> {
  const found = await findHostNamed(tx, host)
  if (!found || found.state === 'removed') throw new Problem(problems.host_unknown, { host })
  if (found.id === site.hostId) throw new Problem(problems.site_on_host, { host })
  const room = (await fitHosts(tx, site)).find(({ id }) => id === found.id)
  if (!room || room.freeSites <= 0 || !serves(room, site)) throw new Problem(problems.host_unfit, { host })
  return found.id
}

const serves = ({ datacenters }: HostRoom, { datacenterCode }: Site): boolean =>
  datacenters.length === 0 || datacenters.includes(datacenterCode)

/** Returns the other hosts that take sites, and have the PHP version and the kind of database. */
async function fitHosts(tx: Tx, { id, hostId, phpVersion }: Site): Promise<HostRoom[]> {
  const kind = await databaseOfSite(tx, id)
  const fit: HostRoom[] = []
  for (const host of await openHosts(tx)) {
    if (host.id === hostId) continue
    const runtimes = await runtimesOfHost(tx, host.id)
    const hasDatabase = isOnServer(kind) ? runtimes.databases[phpVersion] === kind : runtimes.hasWasm
    if (hasDatabase && canRun(runtimes, phpVersion, kind)) fit.push(host)
  }
  return fit
}

async function hostName(tx: Tx, id: number): Promise<string> {
  return (await tx.selectFrom('hosts').select('name').where('id', '=', id).executeTakeFirstOrThrow()).name
}
