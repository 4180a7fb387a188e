import type { Config } from '../../../config.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import type { Starting } from '../../kit/change.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { choosePlace, requireInstalled, type Site } from '../../sites/public.ts'
import { problems } from '../problems.ts'
import { relocateDeletedJob } from './relocate-deleted.job.ts'
import { relocateSiteJob } from './relocate-site.job.ts'
import { openRelocation } from './relocation.store.ts'
import { type SurveyedHost, surveyHosts } from './survey-hosts.ts'

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
  const { housing: to } = host === undefined ? await anyHost(tx, site, config) : await namedHost(tx, site, host)
  const about = { accountId, siteId: site.id, hostId: site.hostId }
  const operationId = await start(relocateSiteJob, { siteId: site.id, toHostId: to.id }, { about })
  return { host: to.name, operationId }
}

/**
 * Starts the move of a held, deleted site to another host.
 * @returns the operation
 * @throws Problem host_unknown, host_unfit, site_on_host, no_host
 */
export async function requestDeletedRelocation(
  tx: Tx,
  site: Site,
  { host, config, accountId }: RelocationRequest,
  { start }: Starting,
): Promise<number> {
  const { housing: to } = host === undefined ? await anyHost(tx, site, config) : await namedHost(tx, site, host)
  const about = { accountId, siteId: site.id, hostId: site.hostId }
  return start(relocateDeletedJob, { siteId: site.id, toHostId: to.id }, { about })
}

/** @throws Problem no_host */
async function anyHost(tx: Tx, site: Site, { datacenters }: Pick<Config, 'datacenters'>): Promise<SurveyedHost> {
  const fit = (await surveyHosts(tx, site)).filter(({ refusal }) => refusal === undefined)
  const rooms = fit.flatMap(({ room }) => room ?? [])
  const { hostId } = choosePlace(site.datacenterCode, null, datacenters, rooms)
  return fit.find(({ housing }) => housing.id === hostId) as SurveyedHost
}

/** @throws Problem host_unknown, site_on_host, host_unfit */
async function namedHost(tx: Tx, site: Site, host: string): Promise<SurveyedHost> {
  const found = (await surveyHosts(tx, site)).find(({ housing }) => housing.name === host)
  if (!found) throw new Problem(problems.host_unknown, { host })
  if (found.housing.id === site.hostId) throw new Problem(problems.site_on_host, { host })
  if (found.refusal !== undefined) throw new Problem(problems.host_unfit, { host })
  return found
}
