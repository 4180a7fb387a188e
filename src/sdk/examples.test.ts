import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../test/support/api.ts'
import { examplesOf } from '../../test/support/examples.ts'
import * as sdk from './index.ts'

let api: TestApi
let url: string
let owner: Person
beforeAll(async () => {
  api = await testApi('sqlite')
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  owner = await api.person('owner@example.com')
})
afterAll(() => api?.close())

const AsyncFunction = (async () => {}).constructor as FunctionConstructor

/**
 * Runs an example as a separate module.
 * @returns what it printed
 */
async function run(code: string): Promise<unknown[][]> {
  const printed: unknown[][] = []
  const body = code.replace(/^import (\{.*\}) from 'stead\/sdk'$/m, 'const $1 = sdk')
  const env = { STEAD_API_URL: url, STEAD_TOKEN: owner.token, WEBHOOK_SECRET: 'whsec_AAAA' }
  const { clientId: STEAD_CLIENT_ID, clientSecret: STEAD_CLIENT_SECRET } = owner
  const process = { env: { ...env, STEAD_CLIENT_ID, STEAD_CLIENT_SECRET } }
  const example = new AsyncFunction('sdk', 'process', 'console', body)
  const done = example(sdk, process, { log: (...words: unknown[]) => printed.push(words) })
  // No worker runs here, so operations that an example waits for fail.
  const now = Date.now()
  const failing = setInterval(
    () =>
      api.database.transaction((tx) =>
        tx
          .updateTable('operations')
          .set({ state: 'failed', error: 'no host', finished_at: now })
          .where('finished_at', 'is', null)
          .execute(),
      ),
    50,
  )
  await done.finally(() => clearInterval(failing))
  return printed
}

const expected: Record<string, unknown[][]> = {
  'The SDK': [['owner@example.com']],
  Calls: [['deploying', true], [['shop']]],
  Lists: [['my-first-site', 'deploying'], [expect.stringMatching(/^my-first-site\./)]],
  Operations: expect.arrayContaining([['no host']]),
  Errors: [[400, 'invalid_input', [expect.stringMatching(/^name: /)], expect.any(String)]],
  Webhooks: [[400]],
}

const examples = examplesOf('docs/sdk.md', 'js')

test('each example has an expected output', () => {
  expect(examples.map(([heading]) => heading)).toEqual(Object.keys(expected))
})

// In order: each uses what the previous ones created.
test.each(examples)('docs/sdk.md, %s', async (heading, code) => {
  expect(await run(code)).toEqual(expected[heading])
})
