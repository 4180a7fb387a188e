import { isHeard } from '../hosting/host-state.ts'
import { listQuarantined } from '../hosting/site-directories/quarantine.ts'
import { timestamp } from '../platform/http/schemas.ts'
import type { ControlDatabase } from '../roles/process-context.ts'

/** Returns every host that the database knows, one per row. */
export async function describeHosts({ database, folder, facts, belonging }: ControlDatabase) {
  const isStranger = belonging.kind === 'stranger'
  const counts = isStranger ? [] : await sitesByHost(database.read)
  const states = isStranger ? [] : await hostStates(database.read)
  const stateOf = (id: number) => states.find((each) => each.id === id)
  const shown = facts.hosts.filter(({ id }) => stateOf(id)?.state !== 'removed')
  return shown.map((host) => ({
    name: host.name,
    state: stateOf(host.id)?.state ?? null,
    answers: isStranger ? null : Boolean(stateOf(host.id)?.heard),
    max_sites: stateOf(host.id)?.max_sites ?? null,
    identity: host.identity,
    epoch: host.epoch,
    sites: counts.find(({ hostId }) => hostId === host.id)?.sites ?? null,
    last_seen: timestamp(host.seenAt),
    is_this_folder: host.identity !== null ? host.identity === folder.identity?.host : host.name === folder.hostName,
  }))
}

const hostStates = (tx: ControlDatabase['database']['read']) =>
  tx
    .selectFrom('hosts')
    .select(['hosts.id', 'state', 'max_sites', isHeard(tx).as('heard')])
    .execute()

const sitesByHost = (tx: ControlDatabase['database']['read']) =>
  tx
    .selectFrom('sites')
    .select(({ fn }) => ['host_id as hostId', fn.countAll<number>().as('sites')])
    .where('deleted_at', 'is', null)
    .groupBy('host_id')
    .execute()

/** Returns the quarantined directories of a data folder, one per row, oldest first. */
export async function describeQuarantined(dataDir: string) {
  return (await listQuarantined(dataDir)).map(({ path, note }) => ({
    folder: path,
    from: note.from ?? null,
    at: note.at ?? null,
    site: typeof note.mark === 'object' ? (note.mark?.site?.name ?? null) : null,
    reason: note.reason ?? null,
  }))
}
