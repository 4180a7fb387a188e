import Type from 'typebox'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { endpoint } from '../endpoint.ts'
import { actions } from './actions.ts'
import { addition } from './neighbours.ts'
import { problems } from './problems.ts'
import { readRecord } from './read-record.ts'
import { type DnsRecord, type RecordDraft, ZoneId } from './record.ts'
import { zoneToChange } from './reserved.ts'
import { changeValue, findZone, insertRecords, recordsOf } from './zone.store.ts'
import { presentWhole, type Zone, ZoneWithRecords } from './zone.ts'
import { type FileEntry, inputOf, isServersOwn, MOST_FILE_BYTES, readZoneFile, ZoneFileFault } from './zone-file.ts'

/** Faults that are told of a file; more help nobody. */
const MOST_FAULTS = 50

export const importZone = endpoint({
  id: 'importZone',
  method: 'PUT',
  path: '/v1/zones/{zone_id}/file',
  summary: 'Add the records of a zone file',
  description:
    'An addition of Stead: reads a zone file (RFC 1035 §5, as BIND writes it) and adds what is not there yet; nothing is removed. SOA, and NS of the zone ' +
    'itself, are passed over: those are the name server’s own. All of the file, or nothing of it. For the owner of the zone, or a collaborator ' +
    'with the role `manage_dns` on all sites that the zone leads to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  body: Type.Object(
    { file: Type.String({ maxLength: MOST_FILE_BYTES, examples: ['mail 3600 IN A 192.0.2.1\n'] }) },
    { title: 'ZoneFile' },
  ),
  response: ZoneWithRecords,
  problems: [authenticationProblems.forbidden, problems.reserved_name, problems.record_limit_reached],

  async handle(context, { params, body }) {
    const { tx, now } = context
    const zone = await zoneToChange(context, params.zone_id)
    const before = await recordsOf(tx, zone.id)
    const { added, changed } = planOf(entriesOf(body.file, zone.name), zone, before)
    for (const [record, value] of changed) await changeValue(tx, record, value, now)
    if (added.length > 0) await insertRecords(tx, zone.id, added, now)
    const message = `${zone.name}: added ${added.length} records of a zone file`
    await context.record({ action: actions.dns, message })
    return presentWhole((await findZone(tx, zone.id)) as Zone, await recordsOf(tx, zone.id))
  },
})

function entriesOf(file: string, zone: string): FileEntry[] {
  try {
    return readZoneFile(file, zone).filter((entry) => !isServersOwn(entry, zone))
  } catch (error) {
    throw error instanceof ZoneFileFault ? invalidInput([`file: ${error.message}`]) : error
  }
}

/** @throws Problem with one entry for each line at fault */
function planOf(entries: readonly FileEntry[], { name: zone, id: zoneId }: Zone, before: readonly DnsRecord[]) {
  const records = [...before]
  const added: RecordDraft[] = []
  const changed = new Map<DnsRecord, string>()
  const faults: string[] = []
  for (const entry of entries) {
    const read = readRecord(inputOf(entry), zone)
    if ('faults' in read) faults.push(...read.faults.map((fault) => `file: line ${entry.line}: ${fault}`))
    else
      try {
        const next = addition(read.record, records)
        if ('add' in next) {
          added.push(next.add)
          records.push({ ...next.add, id: 0, zoneId, createdAt: 0, isPrimary: false })
        } else {
          const at = records.indexOf(next.change)
          records[at] = { ...next.change, value: next.value }
          const ofFile = added.findIndex((draft) => draft.type === 'TXT' && draft.value === next.change.value)
          if (next.change.id === 0) added[ofFile] = { ...(added[ofFile] as RecordDraft), value: next.value }
          else changed.set(before.find(({ id }) => id === next.change.id) as DnsRecord, next.value)
        }
      } catch (error) {
        if (!(error instanceof Problem) || error.code === problems.record_limit_reached.code) throw error
        if (error.code !== problems.record_exists.code)
          faults.push(...error.errors.map((fault) => `file: line ${entry.line}: ${fault}`))
      }
    if (faults.length >= MOST_FAULTS) break
  }
  if (faults.length > 0) throw invalidInput(faults)
  return { added, changed }
}
