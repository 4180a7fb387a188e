/** The page of the plugins and themes of all sites. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withExtensions } from '../../src/resources/inventory/inventory.fixture.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('plugins and themes of all sites', () => {
  let panel: PanelOverRecords
  let page: Page
  let first: number
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    const owner = await api.person('owner@example.com')
    first = await api.site(owner, 'first-shop')
    const forms = { slug: 'forms', title: 'Best Forms' }
    await withExtensions(api, first, [
      { ...forms, version: '1.9', update_version: '2.0', is_automatic: 1 },
      { slug: 'woocommerce', title: 'WooCommerce' },
      { kind: 'theme', slug: 'storefront', title: 'Storefront' },
    ])
    for (const [name, version] of [
      ['second-shop', '2.0'],
      ['third-shop', '1.5'],
      ['fourth-shop', '1.2'],
    ] as const)
      await withExtensions(api, await api.site(owner, name), [{ ...forms, version }])
    page = await panel.open(owner, 'plugins')
    await panel.settled(page)
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const names = () => page.locator('main td a.name').allTextContents()

  test('lists them with versions and updates due, and filters them', async () => {
    expect(await names()).toEqual(['Best Forms', 'WooCommerce'])
    const [forms = ''] = await page.locator('main tbody tr').allTextContents()
    expect(forms).toContain('4 sites')
    expect(forms).toContain('and 1 more')
    await panel.judge(page)
    await page.getByLabel('Update', { exact: true }).selectOption('Up to date')
    await expect.poll(names).toEqual(['WooCommerce'])
    await page.getByRole('button', { name: 'Remove filter Update: Up to date' }).click()
    await page.getByLabel('Name', { exact: true }).fill('forms')
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['Best Forms'])
    await page.getByRole('tab', { name: 'Themes' }).click()
    await expect.poll(names).toEqual(['Storefront'])
  })

  test('leads from an update that is due to the sites, and to their plugins', async () => {
    await page.getByRole('tab', { name: 'Plugins' }).click()
    await page.getByRole('link', { name: 'Update due on 1 site' }).click()
    await page.getByRole('heading', { name: 'forms' }).waitFor()
    await expect.poll(names).toEqual(['first-shop'])
    await page.getByText('1.9 → 2.0').waitFor()
    await panel.judge(page)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(async () => (await names()).length).toBe(4)
    expect(await page.getByRole('link', { name: 'first-shop' }).getAttribute('href')).toBe(`#/sites/${first}/plugins`)
    await page.locator('h1 a').click()
    await expect.poll(names).toEqual(['Best Forms', 'WooCommerce'])
  })
})
