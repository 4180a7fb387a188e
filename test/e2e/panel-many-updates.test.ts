/** Safe updates of many sites in the panel: started from the sites with a plugin, or from the list of sites. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withExtensions } from '../../src/resources/inventory/inventory.fixture.ts'
import { endBatch, setBatchSite } from '../../src/resources/safe-updates/batch/batch.store.ts'
import { withUpdate } from '../../src/resources/safe-updates/safe-updates.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

/** The number of an operation that the panel no longer lists. */
const UPDATE = 4711

describe.skipIf(!hasChromium)('safe updates of many sites in the panel', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  let sites: number[]
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    owner = await api.person('careful@example.com')
    sites = []
    for (const name of ['first-shop', 'second-shop', 'third-shop']) sites.push(await api.site(owner, name))
    const due = { version: '1.9', update_version: '2.0' }
    const forms = { slug: 'forms', title: 'Best Forms' }
    for (const site of sites.slice(0, 2))
      await withExtensions(api, site, [
        { ...forms, ...due },
        { kind: 'theme', slug: 'storefront', ...due },
      ])
    await withExtensions(api, sites[2] as number, [{ ...forms, version: '2.0' }])
    page = await panel.open(owner, 'plugins/forms')
    await panel.settled(page)
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })
  const dialog = (name: string) => page.getByRole('dialog', { name })
  const rows = () => page.locator('main tbody tr').allTextContents()
  /** Answers the question, and returns what was ordered. */
  async function confirmed(question: string) {
    await dialog(question).getByRole('button', { name: 'Update safely' }).click()
    await page.waitForURL(/tab=updates&batch=\d+/)
    const id = Number(new URL(page.url()).hash.match(/batch=(\d+)/)?.[1])
    const { body } = await owner.call('GET', `/v1/safe-updates/${id}`)
    const { all, core, plugins, themes } = body.data
    return { id, all, core, plugins, themes, of: body.data.sites.map(({ site_id }: { site_id: number }) => site_id) }
  }

  test('start on all sites with the update, and show what became of each', async () => {
    await button('Update safely on 2 sites').click()
    await dialog('Update forms safely on 2 sites?').waitFor()
    await panel.judge(page)
    const ordered = await confirmed('Update forms safely on 2 sites?')
    expect(ordered).toMatchObject({ all: false, plugins: [{ path: 'forms' }], themes: [], of: sites.slice(0, 2) })
    await page.getByRole('heading', { name: 'Safe update of 2 sites' }).waitFor()
    await page.getByText('2 waiting').waitFor()
    await button(/^Cancel: /).waitFor()
    await panel.judge(page)

    const [kept, undone] = sites as [number, number]
    await panel.api.database.transaction(async (tx) => {
      await withUpdate(tx, undone, UPDATE)
      await setBatchSite(tx, ordered.id, kept, { state: 'kept' })
      await setBatchSite(tx, ordered.id, undone, { state: 'undone', reason: 'The cart is worse', updateId: UPDATE })
      await tx.updateTable('safe_updates').set({ batch_id: ordered.id }).where('operation_id', '=', UPDATE).execute()
      await endBatch(tx, ordered.id, 'failed', 1)
    })
    await page.reload()
    await page.getByText('1 kept').waitFor()
    expect(await rows()).toEqual([
      expect.stringMatching(/^first-shopKept/),
      expect.stringMatching(/^second-shopUndoneThe cart is worse/),
    ])
    await button('Show report of second-shop').click()
    await page.getByRole('dialog').getByText('status 200 became 500').waitFor()
    await panel.judge(page)
    await page.keyboard.press('Escape')
  })

  test('are listed with those of single sites', async () => {
    await page.getByRole('link', { name: 'All safe updates' }).click()
    await page.getByRole('link', { name: 'With other sites: second-shop' }).waitFor()
    await panel.judge(page)
    await page.getByLabel('Result', { exact: true }).selectOption('Kept')
    await page.getByText('Change or clear the filters.').waitFor()
    await button('Clear filters').click()
    await page.getByRole('link', { name: 'With other sites: second-shop' }).click()
    await page.getByRole('heading', { name: 'Safe update of 2 sites' }).waitFor()
  })

  test('start on selected sites with a theme', async () => {
    await page.getByRole('tab', { name: 'Themes' }).click()
    await page.getByRole('link', { name: 'storefront' }).click()
    await page.getByRole('checkbox', { name: /second-shop/ }).check()
    await page.getByRole('region', { name: 'Selected sites' }).getByRole('button', { name: 'Update safely' }).click()
    const ordered = await confirmed('Update storefront safely on 1 site?')
    expect(ordered).toMatchObject({ all: false, plugins: [], themes: [{ name: 'storefront' }], of: [sites[1]] })
  })

  test('start on selected sites with everything due', async () => {
    await page.goto(`${panel.url}#/sites`)
    for (const name of ['first-shop', 'third-shop'])
      await page.getByRole('checkbox', { name: new RegExp(name) }).check()
    await button('Update plugins safely').click()
    const question = 'Update all plugins and themes safely on 2 sites?'
    await dialog(question).getByLabel('Update WordPress, too').check()
    await panel.judge(page)
    // It destroys nothing.
    expect(await dialog(question).getByRole('button', { name: 'Update safely' }).getAttribute('class')).toBe('main')
    const ordered = await confirmed(question)
    expect(ordered).toMatchObject({ all: true, core: 'latest', plugins: [], of: [sites[0], sites[2]] })
  })
})
