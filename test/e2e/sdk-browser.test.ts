/** The SDK in a page: its sources without types, and its two libraries. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../support/api.ts'
import { hasChromium, openChromium } from '../support/chromium.ts'

/** What the page's module leaves for the tests. */
interface InPage {
  readonly sdk: typeof import('../../src/sdk/index.ts')
}

const root = join(import.meta.dirname, '../..')
const libraries: Record<string, string> = {
  'openapi-fetch': 'node_modules/openapi-fetch/dist/index.mjs',
  'eventsource-parser': 'node_modules/eventsource-parser/dist/index.js',
  'eventsource-parser/stream': 'node_modules/eventsource-parser/dist/stream.js',
}
const imports = Object.fromEntries(Object.entries(libraries).map(([name, file]) => [name, `/sdk-test/${file}`]))

describe.skipIf(!hasChromium)('the SDK in a browser', () => {
  let api: TestApi
  let other: TestApi
  let owner: Person
  let browser: Browser
  let page: Page
  let otherUrl: string
  beforeAll(async () => {
    api = await testApi('sqlite')
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    owner = await api.person('owner@example.com')
    other = await testApi('sqlite', { settings: { STEAD_CORS_ORIGINS: url } })
    otherUrl = await other.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await openChromium()
    page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await page.route(/\/sdk-test\//, async (route) => {
      const file = new URL(route.request().url()).pathname.replace('/sdk-test/', '')
      const text = readFileSync(join(root, file), 'utf8')
      const body = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
      return route.fulfill({ contentType: 'text/javascript', body })
    })
    // Chromium lets a page that Playwright answered call no loopback address of another origin
    await page.goto(`${url}/healthz`)
    await page.setContent(`<script type="importmap">${JSON.stringify({ imports })}</script>
      <script type="module">import * as sdk from '/sdk-test/src/sdk/index.ts'; globalThis.sdk = sdk</script>`)
    await page.waitForFunction(() => 'sdk' in globalThis)
  })
  afterAll(async () => {
    await browser?.close()
    await api?.close()
    await other?.close()
  })

  test('gets a token, calls, creates, lists, and sees errors, in a page of the API’s own origin', async () => {
    const { clientId, clientSecret } = owner
    const seen = await page.evaluate(
      async (credentials) => {
        const { Stead } = (globalThis as unknown as InPage).sdk
        const stead = new Stead({ url: location.origin, ...credentials })
        const { data: account } = await stead.get('/v1/account')
        const made = await stead.post('/v1/sites', { body: { name: 'by-browser' } })
        const names: string[] = []
        for await (const { name } of stead.list('/v1/sites')) names.push(name)
        const leave = new AbortController()
        const told: string[] = []
        await stead
          .waitForOperation(made.operationId as number, {
            signal: leave.signal,
            onProgress: ({ state }) => {
              told.push(state)
              leave.abort()
            },
          })
          .catch(() => {})
        const { code } = await stead.post('/v1/sites', { body: { name: 'x' } }).catch((error) => error)
        return { email: account.email, status: made.status, names, told, code }
      },
      { clientId, clientSecret },
    )
    expect(seen).toEqual({
      email: 'owner@example.com',
      status: 201,
      names: ['by-browser'],
      told: ['queued'],
      code: 'invalid_input',
    })
  })

  test('calls an API that allows the page’s origin, retries and operations included', async () => {
    const person = await other.person('other@example.com')
    const seen = await page.evaluate(
      async ([url, token]) => {
        const { Stead } = (globalThis as unknown as InPage).sdk
        const { data, operationId, requestId } = await new Stead({ url, token }).post('/v1/sites', {
          body: { name: 'from-afar' },
        })
        return { name: data.name, hasOperation: operationId !== undefined, hasId: requestId !== null }
      },
      [otherUrl, person.token] as const,
    )
    expect(seen).toEqual({ name: 'from-afar', hasOperation: true, hasId: true })
  })

  test('verifies a webhook', async () => {
    const message = await page.evaluate(async () => {
      const { verifyWebhook } = (globalThis as unknown as InPage).sdk
      const time = Math.floor(Date.now() / 1000)
      const key = await crypto.subtle.importKey(
        'raw',
        new Uint8Array([1, 2, 3]),
        { name: 'HMAC', hash: 'SHA-256' },
        false,
        ['sign'],
      )
      const mark = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`id.${time}.{"type":"t"}`))
      const headers = {
        'webhook-id': 'id',
        'webhook-timestamp': String(time),
        'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(mark)))}`,
      }
      return (await verifyWebhook({ secret: 'whsec_AQID', headers, body: '{"type":"t"}' })).type
    })
    expect(message).toBe('t')
  })
})
