import Type from 'typebox'
import { invalidInput, Problem } from '../../../platform/http/problem.ts'
import { addition } from '../neighbours.ts'
import { problems } from '../problems.ts'
import { readRecord } from '../records/read-record.ts'
import type { DnsRecord, RecordDraft } from '../records/record.ts'
import type { Zone } from '../zone.ts'
import {
  type FileEntry,
  isServersOwn,
  type LeftOutLine,
  MOST_FILE_BYTES,
  readZoneFile,
  recordInput,
  shownLine,
  type ZoneFile,
  ZoneFileFault,
} from './zone-file.ts'

export const ZoneFileText = Type.String({ maxLength: MOST_FILE_BYTES, examples: ['mail 3600 IN A 192.0.2.1\n'] })

const Line = Type.Integer({ description: 'Line number in the file, from 1', examples: [3] })

export const LeftOutSchema = Type.Object(
  {
    line: Line,
    text: Type.String({ description: 'Beginning of the line', examples: ['@ ALIAS shops.example.net.'] }),
    reason: Type.String({ examples: ['ALIAS is not a DNS type.'] }),
  },
  { title: 'ZoneFileLeftOut' },
)

export const TakenSchema = Type.Object(
  {
    line: Line,
    type: Type.String({ examples: ['A'] }),
    name: Type.String({
      description: 'Part before the name of the zone. Empty for the zone itself',
      examples: ['mail'],
    }),
    value: Type.String({ examples: ['192.0.2.1'] }),
    isNew: Type.Boolean({ description: 'False: an identical record exists', examples: [true] }),
  },
  { title: 'ZoneFileTaken' },
)
type Taken = Type.Static<typeof TakenSchema>

/** Effect of adding a file to a zone. */
export interface ZoneImportPlan {
  readonly added: readonly RecordDraft[]
  /** Records whose value changes, which are SPF records. */
  readonly changed: ReadonlyMap<DnsRecord, string>
  readonly taken: readonly Taken[]
  readonly leftOut: readonly LeftOutLine[]
  /** Errors in the file. SOA and NS records of the zone itself do not count. */
  readonly faults: readonly string[]
}

/**
 * Decides which records of a zone file are added, which are not, and why.
 * @throws Problem `invalid_input` when none of it can be read as intended, `record_limit_reached`
 */
export function planImport(file: string, zone: Zone, before: readonly DnsRecord[]): ZoneImportPlan {
  const { entries, leftOut: unread } = readFile(file, zone.name)
  const records = [...before]
  const added: RecordDraft[] = []
  const changed = new Map<DnsRecord, string>()
  const taken: Taken[] = []
  const leftOut = [...unread]
  const faults = unread.map(({ line, reason }) => `file: line ${line}: ${reason}`)
  const leave = (entry: FileEntry, reasons: readonly string[]) => {
    leftOut.push({ line: entry.line, text: lineOf(entry), reason: reasons.join(' ') })
    faults.push(...reasons.map((reason) => `file: line ${entry.line}: ${reason}`))
  }
  for (const entry of entries) {
    if (isServersOwn(entry, zone.name)) {
      leftOut.push({ line: entry.line, text: lineOf(entry), reason: `Stead answers with its own ${entry.type} record` })
      continue
    }
    const read = readRecord(recordInput(entry), zone.name)
    if ('faults' in read) {
      leave(entry, read.faults)
      continue
    }
    const { type, name, value } = read.record
    const shown = { line: entry.line, type, name, value }
    try {
      const next = addition(read.record, records)
      if ('add' in next) {
        added.push(next.add)
        records.push({ ...next.add, id: 0, zoneId: zone.id, createdAt: 0, isPrimary: false })
      } else {
        const at = records.indexOf(next.change)
        records[at] = { ...next.change, value: next.value }
        const ofFile = added.findIndex((draft) => draft.type === 'TXT' && draft.value === next.change.value)
        if (next.change.id === 0) added[ofFile] = { ...(added[ofFile] as RecordDraft), value: next.value }
        else changed.set(before.find(({ id }) => id === next.change.id) as DnsRecord, next.value)
      }
      taken.push({ ...shown, isNew: true })
    } catch (error) {
      if (!(error instanceof Problem) || error.code === problems.record_limit_reached.code) throw error
      if (error.code === problems.record_exists.code) taken.push({ ...shown, isNew: false })
      else leave(entry, error.errors)
    }
  }
  return { added, changed, taken, leftOut: leftOut.toSorted((a, b) => a.line - b.line), faults }
}

const lineOf = ({ name, type, words }: FileEntry): string => shownLine([`${name}.`, type, ...words])

function readFile(file: string, zone: string): ZoneFile {
  try {
    return readZoneFile(file, zone)
  } catch (error) {
    throw error instanceof ZoneFileFault ? invalidInput([`file: ${error.message}`]) : error
  }
}
