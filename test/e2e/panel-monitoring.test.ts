/** The page of monitoring, and the uptime of a site. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addUptime } from '../../src/edge/monitor/monitor.store.ts'
import { dayOf } from '../../src/platform/log-store/days.ts'
import { edgesSay } from '../../src/resources/monitoring/monitoring.fixture.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

const MINUTE_MS = 60_000

describe.skipIf(!hasChromium)('monitoring', () => {
  let panel: PanelOverRecords
  let page: Page
  let shop: number
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    const owner = await api.person('owner@example.com')
    shop = await api.site(owner, 'first-shop')
    const [blog, quiet] = [await api.site(owner, 'second-blog'), await api.site(owner, 'third-quiet')]
    await api.site(owner, 'fourth-new')
    const [now, today] = [Date.now(), dayOf(Date.now())]
    await api.database.transaction(async (tx) => {
      for (const site_id of [shop, blog])
        for (let ago = 0; ago < 60; ago++) {
          const failed = site_id === blog || ago % 17 !== 9 ? 0 : ago === 9 ? 90 : 3
          await addUptime(tx, [{ site_id, day: today - ago, asked: 1440, slow: 0, failed }])
        }
    })
    await edgesSay(api, shop, { one: 'down' }, now - 9 * 1440 * MINUTE_MS)
    await edgesSay(api, shop, { one: 'up' }, now - (9 * 1440 - 75) * MINUTE_MS)
    await edgesSay(api, quiet, { one: 'paused' }, now - 50 * MINUTE_MS)
    await edgesSay(api, blog, { one: 'up' }, now - 40 * MINUTE_MS)
    await edgesSay(api, shop, { one: 'down' }, now - 20 * MINUTE_MS)
    await edgesSay(api, blog, { one: 'up' }, now)
    page = await panel.open(owner, 'monitoring')
    await panel.settled(page)
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const names = () => page.locator('main td a.name').allTextContents()
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
      await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
    }
  }

  test('lists the sites with state and uptime, and those that are down', async () => {
    expect(await names()).toEqual(['first-shop', 'fourth-new', 'second-blog', 'third-quiet'])
    const rows = await page.locator('main tbody tr').allTextContents()
    expect(rows[0]).toMatch(/Down.*99\.\d+ %/)
    expect(rows[1]).toContain('Unknown')
    expect(rows[2]).toContain('100 %')
    expect(await page.locator('main tbody tr').first().locator('.uptime-bars i').count()).toBe(90)
    await panel.judge(page)
    await draw('list')
    await page.getByRole('region', { name: 'Down' }).getByRole('link', { name: '1' }).click()
    await expect.poll(names).toEqual(['first-shop'])
    await page.getByRole('button', { name: 'Remove filter State: Down' }).click()
    await expect.poll(async () => (await names()).length).toBe(4)
  })

  test('leads to the incidents of a site, which its overview shows, too', async () => {
    await page.getByRole('link', { name: 'first-shop' }).click()
    await page.getByRole('heading', { name: 'Incidents' }).waitFor()
    await page.getByText('still down').waitFor()
    await page.getByText('1 h 15 min').waitFor()
    await panel.judge(page)
    await draw('site')
    await page.goto(page.url().replace(/#.*/, `#/sites/${shop}/overview`))
    await page.getByRole('link', { name: 'Uptime and incidents' }).waitFor()
    await draw('overview')
  })
})
