import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/support/database.ts'
import { operationCounts } from './counts.ts'
import { enqueue } from './enqueue.ts'
import { oneStep } from './harness.ts'

const HOUR_MS = 3_600_000

test('counts open operations and those that ended within the hour; due are those that wait for nothing', async () => {
  const { database, drop } = await testDatabase('sqlite')
  const now = Date.now()
  await database.transaction(async (tx) => {
    const ask = (runAt: number) =>
      enqueue(
        tx,
        oneStep(() => {}),
        {},
        { runAt },
      )
    const end = (id: number, at: number) =>
      tx.updateTable('operations').set({ state: 'succeeded', finished_at: at }).where('id', '=', id).execute()
    await end(await ask(now), now - HOUR_MS + 1000)
    await end(await ask(now), now - HOUR_MS - 1000)
    await ask(now - 5000)
    await ask(now + HOUR_MS)
  })
  expect(await operationCounts(database.read, now)).toEqual({
    counts: [
      { state: 'queued', type: 'test.one', count: 2 },
      { state: 'succeeded', type: 'test.one', count: 1 },
    ],
    due: [{ runner: 'control', count: 1, oldestSeconds: 5 }],
  })
  await drop()
})
