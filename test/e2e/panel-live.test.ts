/** The panel shows changes of others automatically, reports and repairs a lost connection, and keeps what was typed. */
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PASSWORD, withPassword } from '../../src/resources/sign-in/sign-in.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { siteNamed } from '../support/panel.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('the panel, while others work', () => {
  let panel: PanelOverRecords
  let owner: Person
  let helper: Person
  let site: number
  beforeEach(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    helper = await panel.api.person('helper@example.com')
    site = await panel.api.site(owner, 'my-shop')
    await panel.api.collaborate(helper, site, ['manage_notes', 'update_site_custom_name'])
  })
  afterEach(() => panel?.close())

  const heading = siteNamed
  const notLive = (page: Page) => page.getByText(/^Connection lost/)

  test("shows two people on one site each other's changes", async () => {
    const [hers, his] = [await panel.open(owner, `sites/${site}`), await panel.open(helper, `sites/${site}/settings`)]
    await heading(hers, 'my-shop').waitFor()
    await his.getByLabel('Site name', { exact: true }).fill('Our shop')
    await his.getByRole('button', { name: 'Rename' }).click()
    await heading(hers, 'Our shop').waitFor()
    await hers.goto(`${panel.url}/#/sites/${site}/notes`)
    await hers.getByText('No notes').or(hers.getByText(/note/i)).first().waitFor()
    await helper.call('POST', `/v1/sites/${site}/notes`, { subject: 'Of the helper', body: 'x' })
    await hers.getByText('Of the helper').first().waitFor()
    await owner.call('PUT', `/v1/sites/${site}`, { name: 'Her shop' })
    await heading(his, 'Her shop').waitFor()
    // and what they may do
    await panel.api.collaborate(helper, site, [])
    await owner.call('PUT', `/v1/sites/${site}`, { name: 'Her own shop' })
    await heading(his, 'Her own shop').waitFor()
    await his.getByRole('button', { name: 'Rename' }).waitFor({ state: 'detached' })
    expect(panel.faults).toEqual([])
  })

  test('shares one connection among all tabs of a browser, which all receive events', async () => {
    const context = await panel.visitor(owner)
    const tabs: Page[] = []
    for (let count = 0; count < 3; count++) {
      const tab = await context.newPage()
      await tab.goto(`${panel.url}/#/sites/${site}`)
      await heading(tab, 'my-shop').waitFor()
      tabs.push(tab)
    }
    const streams = async () => {
      const { body } = await panel.api.call('GET', '/v1/activity', undefined, {})
      expect(body.code).toBe('unauthorized')
      return new Promise<number>((resolve) => panel.api.app.server.getConnections((_, count) => resolve(count)))
    }
    await owner.call('PUT', `/v1/sites/${site}`, { name: 'Renamed' })
    for (const tab of tabs) {
      await tab.bringToFront()
      await heading(tab, 'Renamed').waitFor()
    }
    // a browser opens at most six connections to an address: none is held per tab
    expect(await streams()).toBeLessThanOrEqual(6)
    expect(
      await tabs[0]?.evaluate(() =>
        performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/v1/activity')),
      ),
    ).toBe(false)
  })

  test('reports a lost connection, and shows missed changes once it is back', async () => {
    const page = await panel.open(owner, `sites/${site}`)
    await heading(page, 'my-shop').waitFor()
    await page.waitForFunction(() => navigator.onLine)
    panel.cut()
    await notLive(page).waitFor()
    await owner.call('PUT', `/v1/sites/${site}`, { name: 'Meanwhile' })
    panel.mend()
    await heading(page, 'Meanwhile').waitFor()
    await notLive(page).waitFor({ state: 'detached' })
    await owner.call('PUT', `/v1/sites/${site}`, { name: 'Afterwards' })
    await heading(page, 'Afterwards').waitFor()
  })

  test('keeps what is typed while the connection is lost, even after an attempt to save it', async () => {
    const page = await panel.open(owner, `sites/${site}/settings`)
    const name = page.getByLabel('Site name', { exact: true })
    await name.fill('Half a na')
    panel.cut()
    await notLive(page).waitFor()
    expect(await page.getByText(/^Connection lost/).count()).toBe(1)
    await name.fill('Whole name')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('Stead does not answer.').first().waitFor()
    expect(await name.inputValue()).toBe('Whole name')
    panel.mend()
    await notLive(page).waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe('Whole name')
    await page.getByRole('button', { name: 'Rename' }).click()
    await heading(page, 'Whole name').waitFor()
  })

  test('loads a page that failed while Stead was away', async () => {
    const page = await panel.open(owner, `sites/${site}`)
    await heading(page, 'my-shop').waitFor()
    panel.cut()
    await notLive(page).waitFor()
    await page.goto(`${panel.url}/#/platform`)
    await page.getByText('Stead does not answer.').first().waitFor()
    panel.mend()
    await page.getByRole('heading', { name: 'Platform', level: 1 }).waitFor()
  })

  test('leads to sign-in when the session was ended elsewhere, and keeps what was typed', async () => {
    await withPassword(panel.api, owner.accountId)
    const page = await panel.open(owner, `sites/${site}/settings`)
    await page.getByLabel('Site name', { exact: true }).fill('Half a na')
    const { data } = (await owner.call('GET', '/v1/sessions')).body
    for (const { id } of data) await owner.call('DELETE', `/v1/sessions/${id}`)
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    expect(await dialog.getByLabel('E-mail address').inputValue()).toBe(owner.email)
    expect(await dialog.getByLabel('Password').evaluate((it) => it === document.activeElement)).toBe(true)
    // closing the dialog would sign out, and drop what was typed
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(1)
    // the API's message is meant for programs
    await expect.poll(() => page.getByText(/bearer|authorization/i).count()).toBe(0)
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Site name', { exact: true }).inputValue()).toBe('Half a na')
    await page.getByRole('button', { name: 'Rename' }).click()
    await heading(page, 'Half a na').waitFor()
    await owner.call('PUT', `/v1/sites/${site}`, { name: 'Live again' })
    await heading(page, 'Live again').waitFor()
  })
})
