import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestApi, testApi } from '../support/api.ts'
import { endpoints } from './walk.ts'

let api: TestApi
beforeAll(async () => {
  api = await testApi('sqlite')
})
afterAll(() => api.close())

it('openapi/openapi.json is what the code describes (else: npm run openapi)', async () => {
  const served = (await api.app.inject({ url: '/openapi.json' })).json()
  const committed = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))
  expect({ ...served, info: { ...served.info, version: committed.info.version } }).toEqual(committed)
})

it('it has every endpoint, and nothing of this machine or of how the code is made', async () => {
  const { body } = await api.app.inject({ url: '/openapi.json' })
  for (const { id } of endpoints) expect(body).toContain(`"operationId":"${id}"`)
  expect(body).not.toMatch(/x-fault|127\.0\.0\.1|localhost|:80\d\d|\/(home|root|tmp|srv)\//)
  const { paths } = JSON.parse(body)
  const shapes = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
  expect(new Set(shapes).size).toBe(shapes.length)
})
