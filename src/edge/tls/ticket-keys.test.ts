import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { followTicketKeys } from './ticket-keys.ts'

const HOUR_MS = 3_600_000

describe.each(dialects)('keys of session tickets on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  const sealer = createSealer(randomBytes(32))
  const edge = (clock: { now: number }) => {
    const used: string[] = []
    const keys = followTicketKeys({
      ...{ database: made.database, sealer, now: () => clock.now },
      use: (key) => used.push(key.toString('base64')),
      onError(error) {
        throw error
      },
    })
    return { used, ...keys }
  }

  test('are the same in all edge processes, change after half a day, and are deleted when expired', async () => {
    const clock = { now: 1000 * HOUR_MS }
    const [one, two] = [edge(clock), edge(clock)]
    await Promise.all([one.look(), two.look()])
    await one.look()
    expect(one.used).toHaveLength(1)
    expect(one.used).toEqual(two.used)
    expect(Buffer.from(one.used[0] as string, 'base64')).toHaveLength(48)
    clock.now += 12 * HOUR_MS
    await two.look()
    await one.look()
    expect(one.used).toEqual(two.used)
    expect(new Set(one.used).size).toBe(2)
    const rows = await made.database.read.selectFrom('edge_ticket_keys').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(rows[0]?.ticket_key).not.toContain(one.used[1])
    one.close()
    two.close()
  })
})
