/** A site may be renamed at any moment while it is created. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

const core = await testCore()

describe.skipIf(!core)('a site that is renamed during its creation', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '1' } })
  })
  afterAll(() => stead?.remove())

  test.each(['first', 'second', 'third'])(
    'goes live at the first attempt of each step, with the last name: %s',
    async (name) => {
      const { body } = await stead.api('POST', '/v1/sites', { name })
      const id: number = body.data.id
      let names = 0
      let state = 'deploying'
      // as fast as the API answers, so that some fall between any two steps
      while (state === 'deploying') {
        const renamed = await stead.api('PUT', `/v1/sites/${id}`, { name: `${name} ${++names}` })
        expect(renamed.status).toBe(200)
        state = renamed.body.data.state
        const failed = await stead.api('GET', `/v1/operations?site_id=${id}&state=failed`)
        expect(failed.body.data).toEqual([])
      }
      expect(names).toBeGreaterThan(5)
      const [operation] = (await stead.api('GET', `/v1/operations?site_id=${id}`)).body.data.slice(-1)
      expect(operation).toMatchObject({ type: 'site.provision', state: 'succeeded' })
      expect(operation.steps.map((step: { error: unknown }) => step.error)).toEqual(operation.steps.map(() => null))
      expect(JSON.stringify((await stead.api('GET', `/v1/sites/${id}`)).body.data)).toContain(`"${name} ${names}"`)
      expect((await stead.visit(name)).status).toBe(200)
    },
  )
})
