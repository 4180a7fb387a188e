import { revokeRole } from '../../../certificates/role-certificates.store.ts'
import { recordHost } from '../../../edge/routing/route-changes.store.ts'
import { type HostState, isUsable } from '../../../hosting/host-state.ts'
import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { revokeLogin } from '../../../platform/db/logins/logins.store.ts'
import { notFound, Problem } from '../../../platform/http/problem.ts'
import type { Definitions } from '../../../platform/operations/definition.ts'
import { abandonOperation, unfinishedOnHost } from '../../../platform/operations/host-operations.ts'
import { problems } from '../problems.ts'
import { requestEvacuation } from './evacuate-hosts.job.ts'
import {
  type ChangedHost,
  copiesOn,
  findHostNamed,
  forgetDirectories,
  hasSites,
  isOtherTaking,
  setHostState,
} from './host-changes.store.ts'

/**
 * Keeps new sites off a host, or allows them again.
 * @throws Problem not_found, host_lost
 */
export async function setCordoned(tx: Tx, name: string, isCordoned: boolean, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state === 'lost') throw new Problem(problems.host_lost, { host: name })
  return change(tx, host, isCordoned ? 'cordoned' : 'active', { now })
}

/**
 * Marks a host lost. It can no longer report, and its sites are recovered on others. If repeated, requests the sites
 * that are left.
 * @throws Problem not_found, host_alone, host_running
 */
export async function markLost(tx: Tx, name: string, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state !== 'lost') {
    if (!(await isOtherTaking(tx, host.id))) throw new Problem(problems.host_alone, {})
    if (host.isHeard) throw new Problem(problems.host_running, { host: name })
  }
  const changed = await change(tx, host, 'lost', { now })
  await requestEvacuation(tx)
  return changed
}

/**
 * Lets a lost host start again. It quarantines the directories of sites that are elsewhere now, and serves those that
 * stayed.
 * @throws Problem not_found, host_not_lost
 */
export async function markReturned(tx: Tx, name: string, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state !== 'lost') throw new Problem(problems.host_not_lost, { host: name, state: host.state })
  return change(tx, host, 'active', { now })
}

/**
 * Removes an empty host from all lists.
 * @throws Problem not_found, host_running, host_has_sites
 */
export async function markRemoved(tx: Tx, name: string, now: number): Promise<ChangedHost> {
  const host = await hold(tx, name)
  if (host.state !== 'lost' && host.isHeard) throw new Problem(problems.host_running, { host: name })
  if (await hasSites(tx, host.id)) throw new Problem(problems.host_has_sites, { host: name })
  await forgetDirectories(tx, host.id)
  return change(tx, host, 'removed', { now })
}

/** Holds a cordoned host. @returns why it cannot be removed although it may run, or `undefined` */
export async function reasonToKeep(tx: Tx, name: string): Promise<string | undefined> {
  const { id, state } = await hold(tx, name)
  if (state !== 'cordoned') return `it is ${state}`
  if (await hasSites(tx, id)) return 'it has sites, or deleted sites in the trash'
  return (await copiesOn(tx, id)) > 0 ? 'it has copies of sites' : undefined
}

/**
 * Removes a host that may still run. Its login stays, so that its process learns that it is removed, and ends. What is
 * queued for it ends.
 */
export async function removeEmptied(
  tx: Tx,
  name: string,
  { now, definitions }: { readonly now: number; readonly definitions: Definitions },
): Promise<void> {
  const host = await hold(tx, name)
  for (const id of await unfinishedOnHost(tx, host.id))
    await abandonOperation(tx, id, `The host ${name} was removed`, { now, definitions })
  await forgetDirectories(tx, host.id)
  await change(tx, host, 'removed', { now, keepsLogin: true })
}

/**
 * Holds a host, so that two commands about it run one after the other.
 * @throws Problem not_found
 */
async function hold(tx: Tx, name: string): Promise<ChangedHost> {
  const found = await findHostNamed(tx, name)
  if (found) await lockForUpdate(tx, 'hosts', found.id)
  const host = found && (await findHostNamed(tx, name))
  if (!host || host.state === 'removed') throw notFound()
  return host
}

async function change(
  tx: Tx,
  host: ChangedHost,
  state: HostState,
  { now, keepsLogin }: { readonly now: number; readonly keepsLogin?: true },
): Promise<ChangedHost> {
  await setHostState(tx, host.id, { state, now })
  // Edges no longer connect to it, nor it to others, even if the machine still runs.
  if (!isUsable(state)) await revokeRole(tx, { role: 'host', name: host.name }, now)
  if (state === 'removed' && !keepsLogin) await revokeLogin(tx, { role: 'host', name: host.name })
  // Notifies a host that is still running.
  await recordHost(tx, host.id)
  return { ...host, state }
}
