import Type from 'typebox'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { type DnsRecord, presentRecord, RecordSchema } from './records/record.ts'

/** Zone with all records under a registrable domain. */
export interface Zone {
  readonly id: number
  readonly accountId: number
  /** Lower-case A-labels without a final dot. */
  readonly name: string
  readonly createdAt: number
  readonly updatedAt: number
}

const fields = {
  id: Type.Integer(),
  name: Type.String({ examples: ['example.com'] }),
  created: Timestamp,
}

export const ZoneSchema = Type.Object(fields, { title: 'Zone' })
export const ZoneWithRecords = Type.Object(
  { ...fields, updated: Timestamp, records: Type.Array(RecordSchema) },
  { title: 'ZoneWithRecords' },
)

/** Returns the zone list item of the API. */
export const presentZone = ({ id, name, createdAt }: Zone): Type.Static<typeof ZoneSchema> => ({
  ...{ id, name },
  created: timestamp(createdAt),
})

/** Returns the zone object of the API. */
export const presentWhole = (zone: Zone, records: readonly DnsRecord[]): Type.Static<typeof ZoneWithRecords> => ({
  ...presentZone(zone),
  updated: timestamp(zone.updatedAt),
  records: records.map(presentRecord),
})
