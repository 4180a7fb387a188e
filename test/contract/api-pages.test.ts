/** Runs the commands of the pages for client authors with curl and jq, in their order. */
import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../support/api.ts'
import { runPage } from '../support/examples.ts'

const hasTools = ['curl', 'jq'].every((tool) => existsSync(`/usr/bin/${tool}`))

/** The output of each page's examples, by heading. */
const pages: Record<string, Record<string, RegExp>> = {
  'docs/api-conventions.md': {
    'API conventions': /^$/,
    Responses: /"message": "Success",\s+"errors": null,\s+"name": "owner@example.com"/,
    Errors:
      /"code": "invalid_input",[\s\S]*"name: must be[\s\S]*"php_version: must be[\s\S]*did-you-mean="php_version"/,
    Lists: /"currentPage": 1,[\s\S]*"perPage": 5,/,
    'Idempotent requests': /^\d+\nidempotency-replayed: true/i,
    Operations: /"type": "site.provision",\s+"state": "queued",[\s\S]*"steps": \[\s+"/,
    Toggles: /^"/,
    'Conditional requests': /^304\n$/,
  },
  'docs/coming-with-a-client.md': { 'Try it': /^"Success"\nowner@example.com\n$/ },
}

describe.skipIf(!hasTools)('pages for client authors', () => {
  let api: TestApi
  let owner: Person
  let url: string
  beforeEach(async () => {
    api = await testApi('sqlite')
    url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    owner = await api.person('owner@example.com')
    await api.site(owner, 'my-first-site')
  })
  afterEach(() => api?.close())

  test.each(Object.entries(pages))('%s', { timeout: 60_000 }, async (page, expected) => {
    const env = { PATH: process.env.PATH, API: url, CLIENT_ID: owner.clientId, CLIENT_SECRET: owner.clientSecret }
    const said = await runPage(page, { env })
    expect([...said.keys()]).toEqual(Object.keys(expected))
    for (const [heading, text] of Object.entries(expected)) expect(said.get(heading), heading).toMatch(text)
  })
})
