/** The bell, the page of alerts, and the settings. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { end, raise } from '../../src/resources/alerts/alerts.fixture.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

const MINUTE_MS = 60_000

describe.skipIf(!hasChromium)('alerts', () => {
  let panel: PanelOverRecords
  let page: Page
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    const owner = await api.person('owner@example.com')
    const [shop, blog] = [await api.site(owner, 'first-shop'), await api.site(owner, 'second-blog')]
    const now = Date.now()
    await raise(api, shop, now - 3 * 1440 * MINUTE_MS)
    await end(api, shop, now - (3 * 1440 - 75) * MINUTE_MS)
    await raise(api, blog, now - 600 * MINUTE_MS, {
      ...{ kind: 'certificate_expiring', subject: 'www.second-blog.example' },
      detail: 'It expires at 2026-12-11 08:00 UTC, and Stead has no newer one: the DNS leads elsewhere',
    })
    await raise(api, shop, now - 20 * MINUTE_MS)
    page = await panel.open(owner, 'alerts')
    await panel.settled(page)
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const titles = () => page.locator('main td a.name').allTextContents()
  /** For people who change the page: pictures of it, on a desk and a phone. */
  const draw = async (name: string) => {
    const folder = process.env.TEST_PICTURES
    if (!folder) return
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height })
      await panel.settled(page)
      await page.screenshot({ path: `${folder}/${name}-${width}.png` })
    }
  }

  test('the bell counts unread alerts, names open ones, and marks them as read', async () => {
    const bell = page.getByRole('banner').getByRole('button', { name: /^Alerts/ })
    await page.getByRole('button', { name: 'Alerts: 2 unread' }).click()
    const menu = page.getByRole('menu', { name: /^Alerts/ })
    expect(await menu.getByRole('menuitem').allTextContents()).toEqual([
      expect.stringMatching(/^first-shop is down/),
      expect.stringMatching(/^The certificate of www\.second-blog\.example/),
      ...['All alerts', 'Alert settings'],
    ])
    await panel.judge(page)
    await draw('bell')
    await expect.poll(() => bell.getAttribute('aria-label')).toBe('Alerts')
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'hidden' })
  })

  test('the page lists open and resolved alerts, filters them, and mutes one with an undo', async () => {
    expect(await titles()).toHaveLength(3)
    await panel.judge(page)
    await draw('list')
    await page.getByLabel('State', { exact: true }).selectOption('Resolved')
    await expect.poll(titles).toEqual(['first-shop is down'])
    await page.getByText('1 h 15 min').waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('Open')
    await page.getByLabel('Kind', { exact: true }).selectOption('Site is down')
    await expect.poll(titles).toEqual(['first-shop is down'])
    await page.getByRole('button', { name: 'Mute: first-shop is down' }).click()
    await page.getByRole('menuitem', { name: 'Mute for 1 day' }).click()
    await page.getByText('Muted. It no longer reaches you').waitFor()
    await page.locator('main .badge', { hasText: 'Muted' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.locator('main .badge', { hasText: 'Muted' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(async () => (await titles()).length).toBe(3)
  })

  test('the settings choose kinds, end mutes, and add a chat room', async () => {
    await page.getByRole('button', { name: 'Mute: first-shop is down' }).first().click()
    await page.getByRole('menuitem', { name: 'Mute everything of this site for 1 day' }).click()
    await page.goto(page.url().replace(/#.*/, '#/account/alerts'))
    await page.getByText('All alerts of first-shop').waitFor()
    await panel.judge(page)
    await draw('settings')
    const mail = page.getByRole('switch', { name: 'Mail: Site is down' })
    expect(await mail.getAttribute('aria-checked')).toBe('true')
    await mail.click()
    await expect.poll(() => mail.getAttribute('aria-checked')).toBe('false')
    await page.getByRole('button', { name: /^Unmute/ }).click()
    await page.getByText('Nothing is muted').waitFor()
    await page.getByRole('button', { name: 'Add chat room' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Address/).fill('https://hooks.example.com/services/secret')
    await dialog.getByLabel(/^Description/).fill('#operations')
    await dialog.getByLabel('Site is down').check()
    await panel.judge(page)
    await draw('room')
    await dialog.getByRole('button', { name: 'Add chat room' }).click()
    await page.getByText('#operations').first().waitFor()
    expect(await page.textContent('main')).not.toContain('services/secret')
    await page.getByRole('button', { name: 'Send test message: #operations' }).click()
    await page.getByText('The test message arrives within a minute.').waitFor()
    await page.getByRole('button', { name: 'Delete chat room: #operations' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete chat room' }).click()
    await page.getByText('Add an incoming webhook of').waitFor()
  })
})
