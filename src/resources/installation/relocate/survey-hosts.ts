import { phpVersions } from '../../../hosting/php/runtime.ts'
import { isOnServer } from '../../../hosting/site-database/database-kind.ts'
import type { Tx } from '../../../platform/db/database.ts'
import {
  canRun,
  databaseOfSite,
  type HostRoom,
  type HostRuntimes,
  openHosts,
  runtimesOfHost,
  type Site,
} from '../../sites/public.ts'
import { type Housing, listHousing } from '../installation.store.ts'

/** Host as the place of a site. */
export interface SurveyedHost {
  readonly housing: Housing
  /** Undefined if the host takes no sites. */
  readonly room: HostRoom | undefined
  /** PHP versions that run the kind of the site's database. */
  readonly phpVersions: readonly string[]
  /** Why the host cannot take the site, in a sentence. */
  readonly refusal: string | undefined
}

/** Decides for each host whether it can take a site, in order of id. This is the only rule for it. */
export async function surveyHosts(tx: Tx, site: Site): Promise<SurveyedHost[]> {
  const kind = await databaseOfSite(tx, site.id)
  const open = new Map((await openHosts(tx)).map((room) => [room.id, room]))
  const surveyed: SurveyedHost[] = []
  for (const housing of await listHousing(tx)) {
    const runtimes = await runtimesOfHost(tx, housing.id)
    const versions = phpVersions.filter((version) => runs(runtimes, version, kind))
    const room = open.get(housing.id)
    const refusal = refusalOf(site, housing, room) ?? refusalOfPhp(site, versions)
    surveyed.push({ housing, room, phpVersions: versions, refusal })
  }
  return surveyed
}

type Kind = Awaited<ReturnType<typeof databaseOfSite>>

function runs(runtimes: HostRuntimes, version: string, kind: Kind): boolean {
  const hasDatabase = isOnServer(kind) ? runtimes.databases[version] === kind : runtimes.hasWasm
  return hasDatabase && canRun(runtimes, version, kind)
}

function refusalOf(site: Site, { id, state }: Housing, room: HostRoom | undefined): string | undefined {
  if (id === site.hostId) return 'The site is on this host.'
  if (!room) return state === 'active' ? 'The host does not report.' : 'The host gets no new sites.'
  if (room.freeSites <= 0) return 'The host has no room.'
  const { datacenterCode: code } = site
  const serves = room.datacenters.length === 0 || room.datacenters.includes(code)
  return serves ? undefined : `The host does not serve the datacenter ${code}.`
}

const refusalOfPhp = ({ phpVersion }: Site, versions: readonly string[]): string | undefined =>
  versions.includes(phpVersion) ? undefined : `The host cannot run the site with PHP ${phpVersion} and its database.`
