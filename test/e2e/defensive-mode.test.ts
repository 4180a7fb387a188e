/**
 * Defensive mode as visitors see it: a real browser and a real site, over plain http on a host name that is not a
 * secure context.
 */
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium } from '../support/chromium.ts'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

describe.skipIf(!core || !hasChromium)('defensive mode', () => {
  let stead: Stead
  let browser: Browser
  let id: number
  let url: string
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_STAGING_DOMAIN: 'plain.test', STEAD_EDGE_PROCESSES: '2' } })
    id = await stead.createSite({ name: 'defended' })
    url = `http://defended.plain.test:${stead.edgePort}/`
    const { status } = await stead.api('PUT', `/v1/sites/${id}/edge-cache/defensive-mode`, { duration: '30-minutes' })
    expect(status).toBe(200)
    await until('visitors are challenged', async () => (await stead.visit('defended')).status === 503)
    const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--host-resolver-rules=MAP * 127.0.0.1']
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args })
  })
  afterAll(async () => {
    await browser?.close()
    await stead?.remove()
  })

  test('lets a browser solve the challenge and see the page; later visits are not challenged, not even at the log-in', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy|Refused/.test(message.text())) faults.push(message.text())
    })
    const seen: string[] = []
    page.on('response', (response) => {
      if (response.request().isNavigationRequest()) seen.push(String(response.status()))
    })
    const startedAt = performance.now()
    await page.goto(url)
    await page.waitForFunction(() => document.title === 'defended')
    console.log(`challenge and page in ${Math.round(performance.now() - startedAt)} ms`)
    expect(seen).toEqual(['503', '200'])
    expect(await page.evaluate(() => isSecureContext)).toBe(false)
    expect(faults).toEqual([])
    await page.goto(`${url}hello-world/`)
    await page.goto(`${url}wp-login.php`)
    expect(seen).toEqual(['503', '200', '200', '200'])
    await page.waitForSelector('#user_login')
    await context.close()
  })

  test('explains what is needed when scripts are off; without cookies it stops reloading', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false })
    const page = await plain.newPage()
    await page.goto(url)
    expect(await page.textContent('body')).toContain('needs JavaScript')
    await plain.close()
    const forgetful = await browser.newContext()
    const visitor = await forgetful.newPage()
    await visitor.route('**/.well-known/stead/challenge', (route) => route.fulfill({ status: 204 }))
    await visitor.goto(url)
    await visitor.waitForFunction(() => document.body.textContent?.includes('allow cookies'), undefined, {
      timeout: 60_000,
    })
    await forgetful.close()
  })

  test('challenges nobody when it is off', async () => {
    await stead.api('PUT', `/v1/sites/${id}/edge-cache/defensive-mode`, { duration: null })
    await until('visitors get the page', async () => (await stead.visit('defended')).status === 200)
  })
})
