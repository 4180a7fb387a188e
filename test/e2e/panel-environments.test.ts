/** Environments in the panel: the switch, links, and a push with its preview. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

const pictures = process.env.TEST_PICTURES
const sizes = [
  { name: 'desk', viewport: { width: 1440, height: 900 } },
  { name: 'phone', viewport: { width: 390, height: 844 } },
] as const

const report = {
  siteId: 0,
  fromSiteId: 0,
  files: {
    added: { count: 1, bytes: 300, first: ['wp-content/themes/shop/new.css'] },
    changed: { count: 2, bytes: 4096, first: ['wp-content/themes/shop/style.css', 'wp-content/plugins/a/a.php'] },
    removed: { count: 0, bytes: 0, first: [] },
  },
  database: {
    since: '2026-01-31T09:30:00.000Z',
    tables: [{ table: 'wp_posts', rows: 14, fromRows: 11 }],
    counts: [
      { table: 'wp_wc_orders', kind: 'shop_order', new: 3, changed: 1 },
      { table: 'wp_comments', kind: 'comment', new: 1, changed: 0 },
    ],
    newest: [{ table: 'wp_comments', kind: 'comment', id: 7, title: 'Visitor', at: '2026-02-01 10:00:00' }],
  },
}

describe.skipIf(!hasChromium)('environments in the panel', () => {
  let panel: PanelOverRecords
  let host: Awaited<ReturnType<typeof idleHost>>
  beforeAll(async () => {
    panel = await panelOverRecords()
    host = await idleHost(panel.api, { 'site.preview_sync': { report } })
    if (pictures) await mkdir(pictures, { recursive: true })
  })
  afterAll(async () => {
    await host?.stop(1000)
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  describe.each(sizes)('on a $name', ({ name: size, viewport }) => {
    let owner: Person
    let page: Page
    let [shop, staging] = [0, 0]
    beforeAll(async () => {
      const { api } = panel
      owner = await api.person(`${size}@example.com`)
      shop = await api.site(owner, `${size}-shop`)
      staging = await api.site(owner, `${size}-staging`)
      const clone = { staging: 1, cloned_from_id: shop } as const
      await api.database.transaction((tx) => tx.updateTable('sites').set(clone).where('id', '=', staging).execute())
      page = await (await panel.visitor(owner, { viewport })).newPage()
      page.setDefaultTimeout(8_000)
    })
    const button = (name: string | RegExp) => page.getByRole('button', { name })
    const open = (id: number, part = '') => page.goto(`${panel.url}#/sites/${id}${part}`)
    const take = async (what: string) => {
      if (pictures) await page.screenshot({ path: join(pictures, `environments-${what}-${size}.png`), fullPage: true })
    }
    const linked = async () => (await owner.call('GET', `/v1/sites/${shop}/environments`)).body.data.environments.length

    test('links a clone, and switches between the two', async () => {
      await open(shop, '/copies')
      await button(`More actions for ${size}-staging`).click()
      await page.getByRole('menuitem', { name: 'Link as environment' }).click()
      await page.getByText('Environment of this site').waitFor()
      expect(await linked()).toBe(1)
      await take('copies')
      await panel.judge(page)
      await open(shop)
      const switcher = page.getByRole('navigation', { name: 'Environments' })
      await switcher.getByRole('link', { name: 'Live', exact: true }).waitFor()
      await take('live')
      await panel.judge(page)
      await switcher.getByRole('link', { name: 'Staging', exact: true }).click()
      await page.getByRole('heading', { name: `${size}-staging` }).waitFor()
      const current = page.getByRole('navigation', { name: 'Environments' }).locator('[aria-current=page]')
      await expect.poll(() => current.textContent()).toBe('Staging')
      await take('staging')
    })

    test('shows the pair as one line of the list, which switches between the two', async () => {
      await page.goto(`${panel.url}#/sites`)
      const names = () => page.locator('main td a.name').allTextContents()
      const switcher = page.getByLabel(`Environment of ${size}-shop`)
      await switcher.waitFor()
      expect(await names()).toEqual([`${size}-shop`])
      await take('list')
      await panel.judge(page)
      await switcher.selectOption('Staging')
      await expect.poll(names).toEqual([`${size}-staging`])
      await take('list-staging')
      await page.getByLabel(`Environment of ${size}-staging`).selectOption('Live')
      await expect.poll(names).toEqual([`${size}-shop`])
      await page.getByLabel('Name, domain, or tag').fill('staging')
      await expect.poll(names).toEqual([`${size}-staging`])
      await page.getByLabel('Name, domain, or tag').fill('')
      await expect.poll(names).toEqual([`${size}-shop`])
    })

    test('says what a push of everything would lose, before it asks', async () => {
      Object.assign(report, { siteId: shop, fromSiteId: staging })
      await open(shop, '/copies')
      await button(`Pull ${size}-staging to ${size}-shop`).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Everything', exact: true }).click()
      await dialog.getByText(`3 orders, 1 comment arrived on ${size}-shop since`).waitFor()
      await dialog.getByText('2 files changed').waitFor()
      await take('preview')
      await panel.judge(page)
      await dialog.getByLabel(`Type ${size}-shop to confirm`).fill(`${size}-shop`)
      await dialog.getByRole('button', { name: 'Overwrite site' }).click()
      await page.getByRole('status').getByText(`Sync to ${size}-shop`).first().waitFor()
      const rows = panel.api.database.read.selectFrom('operations').select('input').where('type', '=', 'site.sync')
      const inputs = (await rows.where('site_id', '=', shop).execute()).map(({ input }) => JSON.parse(input))
      expect(inputs).toMatchObject([{ siteId: shop, sourceId: staging, database: true }])
      expect(inputs[0].parts).toContain('content')
    })

    test('ends the link, and keeps both sites', async () => {
      await open(shop, '/copies')
      await button(`More actions for ${size}-staging`).click()
      await page.getByRole('menuitem', { name: 'Unlink' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
      await page.getByText('Clone of this site').waitFor()
      expect(await linked()).toBe(0)
    })
  })
})
