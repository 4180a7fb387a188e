/** The panel with the name, logo and color of an agency: who sees them, and that they can be read. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('the brand of an agency in the panel', () => {
  let panel: PanelOverRecords
  let agency: Person
  let client: Person
  let logo: string
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    await api.person('operator@example.com')
    agency = await api.person('agency@example.com')
    client = await api.person('client@example.com')
    await api.collaborate(client, await api.site(agency, 'shop'), [])
    const artist = await panel.browser.newPage({ viewport: { width: 240, height: 60 } })
    await artist.setContent('<body style="margin:0;background:#123;color:#fff;font:40px sans-serif">Northlight</body>')
    logo = (await artist.screenshot()).toString('base64')
    await artist.close()
    await set({ name: 'Northlight Studio', color: '#ffd400' })
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const set = async (body: object) => expect((await agency.call('PUT', '/v1/account/branding', body)).status).toBe(200)
  const head = (page: Page) => page.getByRole('complementary', { name: 'Navigation' }).getByRole('link').first()
  const accentOf = (page: Page) =>
    page.evaluate(() => document.documentElement.style.getPropertyValue('--brand-accent-light'))
  const reopen = async (page: Page, path: string) => {
    await page.goto('about:blank')
    await page.goto(`${panel.url}/#/${path}`)
    await panel.settled(page)
  }

  test.each(['light', 'dark'] as const)('a client sees it, and can read it, in the %s look', async (colorScheme) => {
    const page = await (await panel.visitor(client, { colorScheme, viewport: { width: 1440, height: 900 } })).newPage()
    await page.goto(`${panel.url}/#/sites`)
    await panel.settled(page)
    expect(await head(page).textContent()).toBe('Northlight Studio')
    expect(await page.title()).toBe('Sites · Northlight Studio')
    await expect.poll(() => accentOf(page)).toMatch(/^#[0-9a-f]{6}$/)
    await panel.judge(page)
    await page.goto(`${panel.url}/#/account/you`)
    await panel.settled(page)
    await panel.judge(page)
    await page.context().close()
  })

  test('the logo stands for a name that it has in it, on a phone, too', async () => {
    await set({ logo })
    const page = await panel.open(client, 'sites')
    const image = head(page).getByRole('img', { name: 'Northlight Studio' })
    await expect.poll(() => image.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBe(240)
    expect(await head(page).textContent()).toBe('')
    await page.setViewportSize({ width: 390, height: 800 })
    const small = page.getByRole('banner').getByRole('img', { name: 'Northlight Studio' })
    expect(await small.isVisible()).toBe(true)
    await panel.judge(page)
    await page.context().close()
    await set({ logo: null })
  })

  test('is there before the session is known, and gone after signing out', async () => {
    const page = await panel.open(client, 'sites')
    await panel.settled(page)
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/v1/session', async (route) => {
      await held
      await route.continue()
    })
    await page.reload()
    await page.getByText('Loading…').first().waitFor()
    expect([await page.title(), await accentOf(page)]).toEqual([
      'Northlight Studio',
      expect.stringMatching(/^#[0-9a-f]{6}$/),
    ])
    answer()
    await panel.settled(page)
    await page.unroute('**/v1/session')
    await page.getByRole('button', { name: /client@example.com/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    expect(await page.evaluate(() => localStorage.getItem('stead-brand'))).toBeNull()
    expect(await accentOf(page)).toBe('')
    await page.context().close()
  })

  test('a brand that the browser kept does nothing but name and color', async () => {
    const page = await panel.open(undefined, 'sites')
    await page.evaluate(() =>
      localStorage.setItem(
        'stead-brand',
        JSON.stringify({
          brand: { name: '<b>x</b>', logo: null },
          tokens: { '--brand-accent-light': 'url(https://other.example/)' },
        }),
      ),
    )
    await reopen(page, 'sites')
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    expect(await accentOf(page)).toBe('')
    await page.evaluate(() => localStorage.setItem('stead-brand', '{'))
    await reopen(page, 'sites')
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    await page.context().close()
  })

  test('a person with sites of their own sees Stead', async () => {
    const own = await panel.api.person('own@example.com')
    await panel.api.collaborate(own, await panel.api.site(agency, 'blog'), [])
    await panel.api.site(own, 'mine')
    const page = await panel.open(own, 'sites')
    await panel.settled(page)
    expect(await head(page).textContent()).toBe('Stead')
    expect(await page.title()).toBe('Sites · Stead')
    await page.context().close()
  })

  test('the agency sees what it types in a preview, and the head when it is saved', async () => {
    const page = await (await panel.visitor(agency, { viewport: { width: 1440, height: 900 } })).newPage()
    await reopen(page, 'account/you')
    const previews = page.locator('.brand-preview')
    expect(await previews.count()).toBe(2)
    await page.getByLabel('Name of your agency').fill('Southlight')
    await page.getByLabel('Accent color').fill('#1f4fd8')
    expect(await previews.locator('.brand').allInnerTexts()).toEqual(['Southlight', 'Southlight'])
    const colors = await previews
      .locator('.button.main')
      .evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor))
    expect(colors[0]).toBe('rgb(31, 79, 216)')
    expect(colors[1]).not.toBe(colors[0])
    await panel.judge(page)
    await page.getByRole('button', { name: 'Save branding' }).click()
    await expect.poll(() => head(page).textContent()).toBe('Southlight')
    await page.context().close()
  })
})
