import { revokeRole } from '../../../certificates/role-certificates.store.ts'
import { recordHost } from '../../../edge/routing/route-changes.store.ts'
import { type HostState, isUsable } from '../../../hosting/host-state.ts'
import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { requestEvacuation } from './evacuate-hosts.job.ts'
import {
  type ChangedHost,
  findHostNamed,
  forgetDirectories,
  hasSites,
  isOtherTaking,
  setHostState,
} from './host-changes.store.ts'

/** Thrown when a host cannot be changed in this way. The message says why, and what to do. */
export class HostRefusal extends Error {
  override readonly name = 'HostRefusal'
}

/**
 * Keeps new sites off a host, or allows them again.
 * @throws HostRefusal
 */
export async function setCordoned(tx: Tx, name: string, isCordoned: boolean, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state === 'lost')
    throw new HostRefusal(`${name} is marked lost. To use it again, run stead host return --name=${name}`)
  return change(tx, host, isCordoned ? 'cordoned' : 'active', now)
}

/**
 * Marks a host lost. It can no longer report, and its sites are recovered on others. If repeated, requests the sites
 * that are left.
 * @throws HostRefusal
 */
export async function loseHost(tx: Tx, name: string, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state !== 'lost') {
    if (!(await isOtherTaking(tx, host.id)))
      throw new HostRefusal('No other host can take its sites. Start another host that is active, then try again.')
    if (host.isHeard)
      throw new HostRefusal(`${name} is running: it reported in the last ten seconds. Stop it first, then try again.`)
  }
  const changed = await change(tx, host, 'lost', now)
  await requestEvacuation(tx)
  return changed
}

/**
 * Lets a lost host start again. It quarantines the directories of sites that are elsewhere now, and serves those that
 * stayed.
 * @throws HostRefusal
 */
export async function returnHost(tx: Tx, name: string, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state !== 'lost') throw new HostRefusal(`${name} is not marked lost. It is ${host.state}.`)
  return change(tx, host, 'active', now)
}

/**
 * Removes an empty host from all lists.
 * @throws HostRefusal
 */
export async function removeHost(tx: Tx, name: string, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state !== 'lost' && host.isHeard)
    throw new HostRefusal(`${name} is running: it reported in the last ten seconds. Stop it first, then try again.`)
  if (await hasSites(tx, host.id))
    throw new HostRefusal(`${name} still has sites. Delete them, or recover them with stead host lost, then try again.`)
  await forgetDirectories(tx, host.id)
  return change(tx, host, 'removed', now)
}

/** Holds a host, so that two commands about it run one after the other. */
async function hold(tx: Tx, name: string): Promise<ChangedHost> {
  const found = await findHostNamed(tx, name)
  if (found) await lockForUpdate(tx, 'hosts', found.id)
  const host = found && (await findHostNamed(tx, name))
  if (!host || host.state === 'removed')
    throw new HostRefusal(`No host is named ${name}. To list hosts, run stead host list`)
  return host
}

async function change(tx: Tx, host: ChangedHost, state: HostState, now: number): Promise<ChangedHost> {
  await setHostState(tx, host.id, { state, now })
  // Edges no longer connect to it, nor it to others, even if the machine still runs.
  if (!isUsable(state)) await revokeRole(tx, { role: 'host', name: host.name }, now)
  // Notifies a host that is still running.
  await recordHost(tx, host.id)
  return { ...host, state }
}
