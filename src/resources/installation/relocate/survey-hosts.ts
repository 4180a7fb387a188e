import { phpVersions } from '../../../hosting/php/runtime.ts'
import type { Tx } from '../../../platform/db/database.ts'
import {
  canTake,
  databaseOfSite,
  type HostRoom,
  type HostRuntimes,
  openHosts,
  runtimesOfHosts,
  type Site,
} from '../../sites/public.ts'
import { type Housing, listHousing } from '../installation.store.ts'
import { arrivingSites } from './relocation.store.ts'

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

/** What a host offers to sites. */
export interface HostPlace {
  readonly room: HostRoom
  readonly runtimes: HostRuntimes
}

type Kind = Awaited<ReturnType<typeof databaseOfSite>>
type Needs = Pick<Site, 'datacenterCode' | 'phpVersion'>

/** Decides for each host whether it can take a site, in order of id. This is the only rule for it. */
export async function surveyHosts(tx: Tx, site: Site): Promise<SurveyedHost[]> {
  const kind = await databaseOfSite(tx, site.id)
  const arriving = await arrivingSites(tx)
  const open = new Map(
    (await openHosts(tx)).map((room) => [
      room.id,
      { ...room, freeSites: room.freeSites - (arriving.get(room.id) ?? 0) },
    ]),
  )
  const all = await listHousing(tx)
  const known = await runtimesOfHosts(tx, idsOf(all))
  return all.map((housing) => {
    const runtimes = known.get(housing.id) as HostRuntimes
    const room = open.get(housing.id)
    const refusal = refusalOf(site, housing, room && refusalOfPlace(site, kind, { room, runtimes }), room)
    return { housing, room, phpVersions: versionsOf(runtimes, kind), refusal }
  })
}

/** Returns what each host that takes sites offers, in order of id. */
export async function placesOfHosts(tx: Tx): Promise<HostPlace[]> {
  const rooms = await openHosts(tx)
  const runtimes = await runtimesOfHosts(tx, idsOf(rooms))
  return rooms.map((room) => ({ room, runtimes: runtimes.get(room.id) as HostRuntimes }))
}

const idsOf = (hosts: readonly { readonly id: number }[]) => hosts.map(({ id }) => id)

/** Returns why a host that takes sites cannot run one, besides its room. */
export function refusalOfPlace(
  { datacenterCode: code, phpVersion }: Needs,
  kind: Kind,
  { room, runtimes }: HostPlace,
): string | undefined {
  if (room.datacenters.length > 0 && !room.datacenters.includes(code))
    return `The host does not serve the datacenter ${code}.`
  if (!versionsOf(runtimes, kind).includes(phpVersion))
    return `The host cannot run the site with PHP ${phpVersion} and its database.`
}

const versionsOf = (runtimes: HostRuntimes, kind: Kind) =>
  phpVersions.filter((version) => canTake(runtimes, version, kind))

function refusalOf(
  site: Site,
  { id, state }: Housing,
  misfit: string | undefined,
  room: HostRoom | undefined,
): string | undefined {
  if (id === site.hostId) return 'The site is on this host.'
  if (!room) return state === 'active' ? 'The host does not report.' : 'The host gets no new sites.'
  return room.freeSites <= 0 ? 'The host has no room.' : misfit
}
