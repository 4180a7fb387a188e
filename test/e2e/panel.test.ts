/** A person's way through the control panel: the link of the first start, a site, tasks on it, and its deletion. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, openChromium } from '../support/chromium.ts'
import { testCore } from '../support/core.ts'
import { clicksOf, judge as judgePage } from '../support/panel.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'
import { accountParts } from './panel/account-parts.ts'
import { pictures } from './panel/pictures.ts'
import { siteParts } from './panel/site-parts.ts'
import { zones } from './panel/zones.ts'

const core = await testCore()
const PASSWORD = 'a lamp beside the door'

describe.skipIf(!core || !hasChromium)('the control panel', () => {
  let stead: Stead
  let browser: Browser
  let page: Page
  let faults: string[]
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '0' } })
    browser = await openChromium()
    faults = []
    page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(300_000)
    watch(page)
  })
  afterAll(async () => {
    await browser?.close()
    await stead?.remove()
  })

  /** Collects violations of the security policy, failed scripts, and requests to other hosts. */
  function watch(watched: Page): void {
    watched.on('pageerror', (error) => faults.push(String(error)))
    watched.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text())
    })
    watched.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(stead.apiUrl).origin) faults.push(request.url())
    })
  }

  const judge = () => judgePage({ page })
  const parts = () => page.getByRole('navigation', { name: 'Site' })
  const openPart = (name: string) => parts().getByRole('link', { name, exact: true }).click()

  test('sets a password with the link of the first start, once, and signs in', async () => {
    const { panel_link: link } = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
    await page.goto(link)
    await page.getByLabel('New password').fill('short')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('must have at least 10 characters').waitFor()
    // the input is still there
    expect(await page.getByLabel('New password').inputValue()).toBe('short')
    await judge()
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
    const other = await (await browser.newContext()).newPage()
    await other.goto(link)
    await other.getByLabel('New password').fill(PASSWORD)
    await other.getByRole('button', { name: 'Set password' }).click()
    await other.getByText('The link was already used').waitFor()
    await other.close()
  })

  test('shows the progress of a new site, and then opens its page', async () => {
    await judge()
    const creating = await clicksOf(page, async () => {
      await page.getByRole('button', { name: 'New site' }).first().click()
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('my-shop')
      await judge()
      await page.getByRole('button', { name: 'Create site' }).click()
      await page.getByRole('dialog', { name: 'my-shop is ready' }).waitFor()
      await judge()
      const opened = page.context().waitForEvent('page')
      await page.getByRole('link', { name: 'Open site' }).click()
      await (await opened).close()
    })
    expect(creating).toBeLessThanOrEqual(3)
    await page.getByRole('link', { name: 'Manage site' }).click()
    await page.getByRole('heading', { name: 'my-shop' }).waitFor()
    await expect.poll(() => page.title()).toBe('my-shop: Overview · Stead')
    await page.locator('main .state.live').waitFor()
    expect((await stead.visit('my-shop')).status).toBe(200)
    await judge()
  })

  test('checks off first steps that are done; they can be hidden and shown again', async () => {
    await page.goto(`${stead.apiUrl}/#/sites`)
    const steps = page.getByRole('list', { name: 'First steps' })
    await steps.getByText('Create your first site').waitFor()
    await steps.locator('li.done').getByText('Create your first site').waitFor()
    await steps.locator('li.now').getByText('Secure your account').waitFor()
    await judge()
    await page.getByRole('button', { name: 'Hide', exact: true }).click()
    await steps.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('link', { name: 'my-shop', exact: true }).waitFor()
    await expect.poll(() => steps.count()).toBe(0)
    await page.getByRole('button', { name: /^Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'First steps' }).click()
    await steps.waitFor()
    await page.getByRole('button', { name: 'Hide', exact: true }).click()
    await page.getByRole('link', { name: 'my-shop', exact: true }).click()
    await page.getByRole('heading', { name: 'my-shop' }).waitFor()
  })

  test('creates a backup with its progress, and shows changes of others automatically', async () => {
    const confirm = async (button: string) => {
      await page.getByLabel('Type my-shop to confirm').fill('my-shop')
      await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
    }
    const toSites = async () => {
      await page.goto(`${stead.apiUrl}/#/sites`)
      await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
    }
    await openPart('Backups')
    await page.getByRole('button', { name: 'Back up now' }).first().click()
    await page.getByRole('menuitem', { name: 'Database', exact: true }).click()
    const restore = page.getByRole('button', { name: /^Restore .*20/ }).first()
    await restore.waitFor()
    await judge()
    await toSites()
    const restoring = await clicksOf(page, async () => {
      await page.getByRole('link', { name: 'my-shop', exact: true }).click()
      await openPart('Backups')
      await restore.click()
      await page.getByText('Nothing changed since this backup.').waitFor()
      await judge()
      await confirm('Restore')
    })
    expect(restoring).toBeLessThanOrEqual(4)
    await page.locator('.toast', { hasText: 'Restore my-shop' }).locator('.state.succeeded').first().waitFor()
    const undoing = await clicksOf(page, async () => {
      await page.getByRole('button', { name: 'Undo restore' }).click()
      await judge()
      await confirm('Undo restore')
    })
    expect(undoing).toBeLessThanOrEqual(2)
    await page.locator('.toast', { hasText: 'Undo restore' }).locator('.state.succeeded').first().waitFor()
    await toSites()
    await expect.poll(() => page.title()).toBe('Sites · Stead')
    await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
    await stead.api('POST', '/v1/sites', { name: 'of-another' })
    await page.getByRole('link', { name: 'of-another', exact: true }).waitFor()
  })

  test.each(['Domains', 'Plugins', 'Operations', 'Activity'])('opens %s of the site', async (part) => {
    await page.goto(`${stead.apiUrl}/#/sites`)
    await page.getByRole('link', { name: 'my-shop', exact: true }).click()
    await openPart(part)
    await page.locator('main h2, main table, main form, main .timeline').first().waitFor()
    await judge()
  })

  test('shows the pages of the account; a phone does not scroll sideways', async () => {
    await page.goto(`${stead.apiUrl}/#/sites`)
    for (const name of ['Operations', 'Activity']) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await judge()
    }
    await page.setViewportSize({ width: 360, height: 740 })
    for (const path of ['sites', 'operations', 'account']) {
      await page.goto(`${stead.apiUrl}/#/${path}`)
      await page.locator('h1').first().waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    }
    await page.setViewportSize({ width: 1200, height: 800 })
  })

  siteParts(() => ({ stead, page }))
  zones(() => ({ stead, page }))
  accountParts(() => ({ stead, page }))
  pictures(() => ({ stead, page }), 'my-shop')

  test('continues the list of sites after the last one shown, whatever changes before it', async () => {
    await page.route(/\/v1\/sites\?.*place=/, (route) =>
      route.continue({ url: route.request().url().replace('per_page=25', 'per_page=1') }),
    )
    const turn = (to: string) => page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: to })
    await page.goto(`${stead.apiUrl}/#/sites`)
    const listed = async (): Promise<{ id: number; displayName: string }[]> =>
      (await stead.api('GET', '/v1/sites')).body.data
    const shows = ({ displayName }: { displayName: string } | undefined = { displayName: '' }) =>
      page.getByRole('link', { name: displayName, exact: true }).waitFor()
    const before = await listed()
    const last = before.at(-1)?.id
    await shows(before[0])
    expect(await page.locator('h1').textContent()).toMatch(/[2-9]/)
    await judge()
    await turn('Next').click()
    await shows(before[1])
    // a site that is added before the shown page moves nothing, and appears on the way back
    await stead.api('POST', `/v1/sites/${last}/favorites`)
    await shows(before[1])
    await turn('Back').click()
    await shows((await listed())[0])
    expect(await turn('Back').isDisabled()).toBe(true)
    await stead.api('DELETE', `/v1/sites/${last}/favorites`)
    await page.unroute(/\/v1\/sites\?.*place=/)
  })

  test('deletes a site after its name is typed', async () => {
    await page.goto(`${stead.apiUrl}/#/sites`)
    await page.getByRole('link', { name: 'my-shop', exact: true }).click()
    await openPart('Settings')
    // The panel asks for the password 15 minutes after the sign-in, and the tests before this one may take longer.
    const proof = { data: { password: PASSWORD }, headers: { 'stead-panel': '1' } }
    expect((await page.request.post(`${stead.apiUrl}/v1/session/proof`, proof)).status()).toBe(200)
    await page.getByRole('button', { name: 'Delete site', exact: true }).click()
    await page.getByLabel('Type my-shop to delete it').fill('my-shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete site' }).click()
    await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
    await expect.poll(async () => (await stead.visit('my-shop')).status).toBe(404)
  })

  test('ends a session that was ended elsewhere, and signs in again', async () => {
    const { data: sessions } = (await stead.api('GET', '/v1/sessions')).body
    for (const { id } of sessions) await stead.api('DELETE', `/v1/sessions/${id}`)
    await page.reload()
    await page.getByLabel('E-mail address').fill('owner@stead.localhost')
    await page.getByLabel('Password').fill('a wrong one, surely')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('The e-mail address or the password is wrong.').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
  })

  test('causes no script error, no policy violation, and no request to other hosts', () => {
    expect(faults).toEqual([])
  })
})
