import { afterEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'

let api: TestApi
afterEach(() => api.close())

test('the checks run only for the operator', async () => {
  let runs = 0
  const found = [{ area: 'ports', state: 'problem', text: 'It is in use.', remedy: 'Choose another.' }] as const
  api = await testApi('sqlite', {
    checks: async () => {
      runs++
      return { at: 1_700_000_000_000, found }
    },
  })
  const operator = await api.person('first@example.com')
  const other = await api.person('second@example.com')
  expect((await other.call('GET', '/v1/installation/checks')).body.data).toEqual({ checked_at: null, checks: null })
  expect(runs).toBe(0)
  const { status, body } = await operator.call('GET', '/v1/installation/checks')
  expect([status, body.data]).toEqual([200, { checked_at: '2023-11-14T22:13:20.000Z', checks: found }])
})
