/** The command palette by keyboard only: every site, page, and action, with names that a screen reader announces. */
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('the palette', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  let shop: number
  beforeAll(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    for (let number = 0; number < 40; number++) await panel.api.site(owner, `site-${number}`)
    shop = await panel.api.site(owner, 'my-shop')
    page = await panel.open(owner, 'sites')
    await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
  })
  afterAll(() => panel?.close())

  const field = () => page.getByRole('combobox', { name: 'Search or jump to…' })
  /** What a screen reader announces as selected. Undefined while nothing is, such as before the answer to a search. */
  const chosen = (): Promise<string | undefined> =>
    page.evaluate(() => {
      const id = document.querySelector('[role=combobox]')?.getAttribute('aria-activedescendant')
      return document.querySelector(`#${id}[aria-selected=true]`)?.textContent
    })
  async function open(): Promise<void> {
    await page.keyboard.press('Control+k')
    await field().waitFor()
    expect(await field().evaluate((each) => each === document.activeElement)).toBe(true)
  }

  test('opens one of many sites by name, and moves the focus to the page', async () => {
    await open()
    await panel.judge(page)
    await page.keyboard.type('my-sh')
    await expect.poll(chosen).toMatch(/^my-shop/)
    await panel.judge(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'my-shop' }).waitFor()
    expect(new URL(page.url()).hash).toBe(`#/sites/${shop}`)
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main')
  })

  test('opens a part of the site with the arrow keys', async () => {
    await open()
    await page.keyboard.type('stat')
    await expect.poll(chosen).toMatch(/^Statistics/)
    await page.keyboard.type(' x')
    await page.getByText('No results.').waitFor()
    for (const _ of ' x') await page.keyboard.press('Backspace')
    await expect.poll(chosen).toMatch(/^Statistics/)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/sites/${shop}/statistics`)
  })

  test('chooses nothing that an earlier search found', async () => {
    await open()
    await page.keyboard.type('my-sh')
    await expect.poll(chosen).toMatch(/^my-shop/)
    const searches: Route[] = []
    await page.route('**/v1/search?q=stat*', (route) => void searches.push(route))
    await page.keyboard.press('Control+a')
    await page.keyboard.type('stat')
    await expect.poll(() => searches.length).toBeGreaterThan(0)
    await expect.poll(chosen).toMatch(/^Statistics/)
    for (const search of searches) await search.abort()
    await page.unroute('**/v1/search?q=stat*')
    await page.keyboard.press('Escape')
    await field().waitFor({ state: 'detached' })
  })

  test('runs an action of the page like its button; Escape changes nothing', async () => {
    await page.goto(`${panel.url}/#/sites/${shop}/overview`)
    await page.getByRole('button', { name: 'Back up database', exact: true }).waitFor()
    await open()
    await page.keyboard.type('open data')
    await expect.poll(chosen).toBe('Open database action')
    await page.keyboard.press('Escape')
    await field().waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await open()
    // closed and reopened before the browser fires its close event, which takes one task
    await page.evaluate(async () => {
      document.querySelector<HTMLButtonElement>('dialog [aria-label=Close]')?.click()
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
      dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    })
    await field().waitFor()
    await page.keyboard.type('sign out')
    await expect.poll(chosen).toMatch(/^Sign out/)
    await page.keyboard.press('Enter')
    await page.getByLabel('E-mail address').waitFor()
    // does not open while nobody is signed in
    await page.keyboard.press('Control+k')
    await expect.poll(() => field().count()).toBe(0)
    expect(panel.faults).toEqual([])
  })
})
