/**
 * Does what a newcomer to the API does: opens /docs, authorizes with client ID and secret, and tries the examples
 * unchanged.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../support/api.ts'
import { hasChromium, openChromium } from '../support/chromium.ts'

describe.skipIf(!hasChromium)('/docs in a browser', () => {
  let api: TestApi
  let base: string
  let person: Person
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const outside: string[] = []
  beforeAll(async () => {
    api = await testApi('sqlite')
    base = await api.app.listen({ host: '127.0.0.1', port: 0 })
    person = await api.person('owner@example.com')
    browser = await openChromium()
    page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on(
      'request',
      (request) =>
        /^(data:|blob:)/.test(request.url()) || request.url().startsWith(base) || outside.push(request.url()),
    )
    await page.goto(`${base}/docs`)
    await page.locator('.opblock').first().waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await api?.close()
  })

  /** Opens an operation and has the page send its example. @returns status and body as the page shows them */
  async function tried(operationId: string): Promise<{ status: string | null; text: string | null }> {
    const block = page.locator(`.opblock[id$="-${operationId}"]`)
    await block.locator('.opblock-summary-control').click()
    await block.locator('.try-out__btn').click()
    await block.locator('.btn.execute').click()
    const live = block.locator('.live-responses-table .response').first()
    await live.waitFor()
    return {
      status: await live.locator('.response-col_status').textContent(),
      text: await live.locator('.response-col_description').textContent(),
    }
  }

  test('has its own logo, and requests nothing from other hosts', async () => {
    const logo = page.locator('.topbar img').first()
    const source = Buffer.from(String(await logo.getAttribute('src')).split(',')[1] as string, 'base64').toString()
    expect(source).toMatch(/^<svg .*aria-label="Stead"/)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/icon\.svg$/)
  })

  // swagger-ui 5.33 to 5.35 show only a few operations when there are 128 or more
  test('shows every operation', async () => {
    const methods = Object.values((await api.app.inject('/openapi.json')).json().paths).flatMap((path) =>
      Object.keys(path as object),
    )
    await page
      .locator('.opblock')
      .nth(methods.length - 1)
      .waitFor()
    expect(await page.locator('.opblock').count()).toBe(methods.length)
  })

  test('gets a token for client ID and secret, with which the unchanged examples work', async () => {
    await page.locator('.btn.authorize').first().click()
    const form = page.locator('.auth-container', { hasText: 'clientCredentials' })
    await form.locator('#client_id_clientCredentials').fill(person.clientId)
    await form.locator('#client_secret_clientCredentials').fill(person.clientSecret)
    await form.locator('.btn.authorize').click()
    await form.getByText('Logout').waitFor()
    await page.locator('.btn-done').first().click()
    expect(await tried('getAccount')).toMatchObject({
      status: expect.stringContaining('200'),
      text: expect.stringContaining('owner@example.com'),
    })
    const made = await tried('createSite')
    expect(made).toMatchObject({
      status: expect.stringContaining('201'),
      text: expect.stringContaining('my-first-site'),
    })
    // the first site has the ID of the examples
    expect(await tried('addSiteTags')).toMatchObject({ status: expect.stringContaining('200') })
    expect(await tried('getSite')).toMatchObject({
      status: expect.stringContaining('200'),
      text: expect.stringContaining('shop'),
    })
    expect([complaints, outside]).toEqual([[], []])
  })
})
