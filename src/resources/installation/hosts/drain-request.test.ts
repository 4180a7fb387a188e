import { expect, test } from 'vitest'
import { testApi } from '../../../../test/support/api.ts'

test('a request to drain a host that is being drained follows the same operation', async (context) => {
  const api = await testApi('sqlite', { settings: { STEAD_BACKUP_DIR: '/backups' } })
  context.onTestFinished(() => api.close())
  const operator = await api.person('operator@example.com')
  const drain = async () => {
    const { status, headers } = await operator.call('PUT', '/v1/installation/hosts/h/drain', {})
    return [status, headers['operation-id']]
  }
  const [status, operation] = await drain()
  expect([status, Number(operation)]).toEqual([200, expect.any(Number)])
  expect(await drain()).toEqual([200, operation])
  await api.database.transaction((tx) =>
    tx.updateTable('operations').set({ state: 'succeeded', finished_at: 1 }).where('type', '=', 'host.drain').execute(),
  )
  const [, next] = await drain()
  expect(Number(next)).toBeGreaterThan(Number(operation))
})
