import type { Migration } from 'kysely/migration'
import { canonicalAddress } from '../src/dns/wire/ip-address.ts'
import type { AnyDb } from './columns.ts'

/**
 * IPv6 addresses in DNS records get their canonical spelling. Records that then equal an earlier one are deleted. An
 * address with a zone identifier stays as it is: name servers omit it, and its owner can see and delete it.
 */
export const recordAddresses: Migration = {
  async up(db: AnyDb) {
    const rows = await db
      .selectFrom('dns_records')
      .select(['id', 'zone_id', 'name', 'value'])
      .where('type', '=', 'AAAA')
      .orderBy('id')
      .execute()
    const seen = new Set<string>()
    for (const { id, zone_id, name, value } of rows) {
      const address = spelled(value)
      const record = [zone_id, name, address].join(' ')
      if (seen.has(record)) await db.deleteFrom('dns_records').where('id', '=', id).execute()
      else if (address !== value)
        await db.updateTable('dns_records').set({ value: address }).where('id', '=', id).execute()
      seen.add(record)
    }
  },
}

function spelled(value: string): string {
  try {
    return canonicalAddress('AAAA', value)
  } catch {
    return value
  }
}
