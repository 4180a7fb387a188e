/**
 * The one real site of `npm test`: the program as a user starts it and WordPress on WebAssembly, from the request to
 * the page.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

const core = await testCore()

describe.skipIf(!core)('a first site', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead()
  })
  afterAll(() => stead?.remove())

  test('is created by the API, shows its page, and still shows it after a restart', async () => {
    const ordered = await stead.api('POST', '/v1/sites', { name: 'first' })
    expect(ordered.status).toBe(201)
    await stead.live(ordered.body.data.id)
    const page = await stead.visit('first')
    expect([page.status, page.text.includes('<title>first</title>')]).toEqual([200, true])
    await stead.restart()
    expect((await stead.visit('first')).status).toBe(200)
  })
})
