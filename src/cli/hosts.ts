import { listQuarantined } from '../hosting/site-directories/quarantine.ts'
import { timestamp } from '../platform/http/schemas.ts'
import type { ControlDatabase } from '../roles/process-context.ts'

/** Every host that the database knows, one a row. */
export async function describeHosts({ database, folder, facts, belonging }: ControlDatabase) {
  const counts = belonging.kind === 'stranger' ? [] : await sitesByHost(database.read)
  return facts.hosts.map((host) => ({
    name: host.name,
    identity: host.identity,
    epoch: host.epoch,
    sites: counts.find(({ hostId }) => hostId === host.id)?.sites ?? null,
    last_seen: timestamp(host.seenAt),
    is_this_folder: host.identity !== null ? host.identity === folder.identity?.host : host.name === folder.hostName,
  }))
}

const sitesByHost = (tx: ControlDatabase['database']['read']) =>
  tx
    .selectFrom('sites')
    .select(({ fn }) => ['host_id as hostId', fn.countAll<number>().as('sites')])
    .where('deleted_at', 'is', null)
    .groupBy('host_id')
    .execute()

/** What was set aside in a data folder, one a row, oldest first. */
export async function describeQuarantined(dataDir: string) {
  return (await listQuarantined(dataDir)).map(({ path, note }) => ({
    folder: path,
    from: note.from ?? null,
    at: note.at ?? null,
    site: typeof note.mark === 'object' ? (note.mark?.site?.name ?? null) : null,
    reason: note.reason ?? null,
  }))
}
