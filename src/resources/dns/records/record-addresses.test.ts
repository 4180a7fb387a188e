import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { migrations } from '../../../../migrations/index.ts'
import { dialects, testDatabase } from '../../../../test/support/database.ts'
import { migrate } from '../../../platform/db/migrate.ts'
import { makeAccount } from '../../account/account.ts'
import { insertZone } from '../zone.store.ts'

describe.each(dialects)('IPv6 records from before addresses had one spelling, on $dialect', ({ dialect, skip }) => {
  test.skipIf(skip)('get it, and duplicates are removed', async () => {
    const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0069'))
    const { database, drop } = await testDatabase(dialect, before)
    try {
      await database.transaction(async (tx) => {
        const { id } = await makeAccount(tx, { email: 'a@example.com', plan: 'Personal', now: 1 })
        const zone = await insertZone(tx, id, 'example.com', 1)
        for (const [type, name, value] of [
          ['AAAA', 'www', '2001:db8:0::1'],
          ['AAAA', 'www', '2001:db8::1'],
          ['AAAA', 'www', '2001:db8::2'],
          ['AAAA', 'mail', '2001:db8:0:0::1'],
          ['AAAA', 'local', 'fe80::1%eth0'],
          ['TXT', 'www', '2001:db8:0::1'],
        ])
          await sql`insert into dns_records (zone_id, type, name, value, ttl, created_at)
            values (${zone.id}, ${type}, ${name}, ${value}, 60, 1)`.execute(tx)
      })
      await migrate(database, migrations)
      const records = database.read.selectFrom('dns_records').select(['type', 'name', 'value']).orderBy('id')
      const shown = (await records.execute()).map(({ type, name, value }) => `${name} ${type} ${value}`)
      expect(shown).toEqual([
        'www AAAA 2001:db8::1',
        'www AAAA 2001:db8::2',
        'mail AAAA 2001:db8::1',
        'local AAAA fe80::1%eth0',
        'www TXT 2001:db8:0::1',
      ])
    } finally {
      await drop()
    }
  })
})
