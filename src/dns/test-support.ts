import packet from 'dns-packet'
import type { Database } from '../platform/db/database.ts'
import type { DnsRecordRow } from '../resources/dns/tables.ts'
import { createAnswerLimit } from './answer-limit.ts'
import { type Reply, Responder, type ResponderOptions } from './responder.ts'
import { Cookies } from './wire/cookies.ts'
import type { ZoneRecord } from './wire/record-data.ts'
import { createZone } from './zones/zone.ts'
import { ZoneSet } from './zones/zone-set.ts'
import { newestChange } from './zones/zones.store.ts'

export const nameservers = ['ns1.servers.test', 'ns2.servers.test']

type Given = Partial<ZoneRecord> & Pick<ZoneRecord, 'type' | 'name' | 'value'>

export const record = (given: Given): ZoneRecord => ({ priority: null, weight: null, port: null, ttl: 300, ...given })

/** Creates zones by name, with each record as `name type value`, or as an object with all fields. */
export function zonesOf(zones: Record<string, readonly (string | Given)[]>, serial = 7): ZoneSet {
  const set = new ZoneSet()
  for (const [name, records] of Object.entries(zones))
    set.put(createZone({ name, serial, records: records.map(recordOf) }, { nameservers }))
  return set
}

export function recordOf(given: string | Given): ZoneRecord {
  if (typeof given !== 'string') return record(given)
  const [name = '', type = '', ...value] = given.split(' ')
  return record({ name: name === '@' ? '' : name, type, value: value.join(' ') })
}

/** The types of dns-packet lack the rcode. */
export type Message = packet.DecodedPacket & { readonly rcode: string }

export const decode = (message: unknown): Message => packet.decode(message as Buffer) as Message

export const secret = Buffer.alloc(32, 1)

export const responderOf = (zones: ZoneSet, more: Partial<ResponderOptions> = {}): Responder =>
  new Responder({
    zones,
    cookies: new Cookies(secret),
    limit: createAnswerLimit(0),
    keys: new Map(),
    mayTransfer: () => false,
    ...more,
  })

export type Asking = { type?: string; edns?: object; over?: 'udp' | 'tcp'; address?: string; flags?: number }

export const questionFor = (name: string, { type = 'A', edns, flags = 0 }: Asking = {}): Buffer =>
  packet.encode({
    type: 'query',
    id: 4711,
    flags,
    questions: [{ type: type as 'A', name }],
    ...(edns && {
      additionals: [{ type: 'OPT', name: '.', udpPayloadSize: 4096, flags: 0, options: [], ...edns } as never],
    }),
  })

/** Asks a question, and parses the only message of the reply. */
export function ask(responder: Responder, name: string, asking: Asking = {}): Message {
  const { over = 'udp', address = '192.0.2.1' } = asking
  const reply = responder.respond(questionFor(name, asking), { address, transport: over })
  if (!Buffer.isBuffer(reply)) throw new Error('no single answer')
  return decode(reply)
}

/** Returns all messages of a reply. */
export const messagesOf = async (reply: Reply): Promise<Buffer[]> =>
  reply === undefined ? [] : Buffer.isBuffer(reply) ? [reply] : Array.fromAsync(reply)

/** Formats a section of an answer, one line per record. */
export const lines = (records: Message['answers'] = []): string[] =>
  records
    .filter(({ type }) => type !== 'OPT')
    .map((each) => {
      const { name, type, data } = each as { name: string; type: string; data: unknown }
      return `${name} ${type} ${said(data)}`
    })

function said(data: unknown): string {
  if (typeof data === 'string') return data
  if (Buffer.isBuffer(data)) return data.toString()
  if (Array.isArray(data)) return data.map(said).join('')
  return Object.values(data as object).join(' ')
}

/** Creates or changes a zone in the tables, as the API does. */
export async function changeZone(
  database: Database,
  name: string,
  records: readonly ZoneRecord[],
  { isDeleted = false } = {},
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx
      .updateTable('zone_clock')
      .set((row) => ({ seq: row('seq', '+', 1) }))
      .where('id', '=', 1)
      .execute()
    const zones = tx.selectFrom('zones').where('name', '=', name).where('deleted_at', 'is', null)
    const known = await zones.select(['id', 'serial']).executeTakeFirst()
    const now = Date.now()
    const row = {
      name,
      account_id: 1,
      change_seq: (await newestChange(tx)).seq,
      serial: (known?.serial ?? 100) + 1,
      updated_at: now,
      deleted_at: isDeleted ? now : null,
    }
    const { id } = await (known
      ? tx.updateTable('zones').set(row).where('id', '=', known.id).returning('id')
      : tx
          .insertInto('zones')
          .values({ ...row, created_at: now })
          .returning('id')
    ).executeTakeFirstOrThrow()
    await tx.deleteFrom('dns_records').where('zone_id', '=', id).execute()
    for (const { type, ...each } of records)
      await tx
        .insertInto('dns_records')
        .values({ ...each, type: type as DnsRecordRow['type'], zone_id: id, site_id: null, created_at: now })
        .execute()
  })
}
