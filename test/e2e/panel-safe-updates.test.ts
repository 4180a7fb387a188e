/** Safe updates in the panel: started from the plugins of a site, and read page by page with their pictures. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withReleases } from '../../src/resources/cms-version/cms-version.fixture.ts'
import { withExtensions } from '../../src/resources/inventory/inventory.fixture.ts'
import { storePlugins } from '../../src/resources/plugins/plugin.store.ts'
import { storePictures } from '../../src/resources/safe-updates/safe-update.store.ts'
import { pictureKinds } from '../../src/resources/safe-updates/safe-update.ts'
import { withUpdate } from '../../src/resources/safe-updates/safe-updates.fixture.ts'
import { withVulnerabilities } from '../../src/resources/vulnerabilities/vulnerabilities.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

/** The number of an operation that the panel no longer lists. */
const UPDATE = 4711

describe.skipIf(!hasChromium)('safe updates in the panel', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  let host: Awaited<ReturnType<typeof idleHost>>
  let site: number
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    host = await idleHost(api)
    owner = await api.person('careful@example.com')
    site = await api.site(owner, 'careful')
    const plugin = { title: '', description: '', version: '2.0', status: 'active' } as const
    const due = (name: string) =>
      ({ ...plugin, name, file: `${name}/${name}.php`, update: 'available', updateVersion: '3.0' }) as const
    await api.database.transaction((tx) =>
      storePlugins(tx, site, { plugins: [due('forms'), due('mail')], themes: [] }, Date.now()),
    )
    page = await (await panel.visitor(owner, { viewport: { width: 1440, height: 900 } })).newPage()
  })
  afterAll(async () => {
    await host?.stop(1000)
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const open = () => page.goto(`${panel.url}#/sites/${site}/plugins`)

  test('show what differs, with the pictures beside each other', async () => {
    await open()
    const picture = (await page.screenshot({ type: 'jpeg' })).toString('base64')
    await panel.api.database.transaction(async (tx) => {
      await withUpdate(tx, site, UPDATE)
      await storePictures(
        tx,
        UPDATE,
        pictureKinds.map((kind) => ({ page: 0, width: 1280, kind, picture })),
      )
    })
    await page.reload()
    await button('Update all safely: 2 plugins').waitFor()
    await page.getByText('The update was undone: /cart/').waitFor()
    await button(/^Show report of/).click()
    const dialog = page.getByRole('dialog', { name: /^Safe update of/ })
    await dialog.getByText('status 200 became 500').waitFor()
    const images = dialog.getByRole('img')
    const shown = () => images.evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth > 0))
    await expect.poll(async () => (await shown()).length).toBe(3)
    expect(await images.evaluateAll((all) => all.map((each) => (each as HTMLImageElement).alt))).toEqual([
      'Cart at 1280 px: Before',
      'Cart at 1280 px: After',
      'Cart at 1280 px: Difference',
    ])
    await panel.judge(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await button(/^Show report of/).evaluate((each) => each === document.activeElement)).toBe(true)
  })

  test('start for the plugins that are selected', async () => {
    const inputs = async () => {
      const rows = await panel.api.database.read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'plugin.update_safely')
        .execute()
      return rows.map(({ input }) => JSON.parse(input).plugins.map(({ path }: { path: string }) => path))
    }
    await page.getByLabel('Select forms').check()
    await button('Update safely').click()
    await page.getByText('Update forms safely').waitFor()
    expect(await inputs()).toEqual([['forms']])
  })

  test('WordPress is offered where it has an update, with what an undo may lose', async () => {
    const { api } = panel
    await api.database.transaction((tx) => tx.deleteFrom('operations').execute())
    await open()
    await page.reload()
    await panel.settled(page)
    await expect.poll(() => page.getByText('is available.').count()).toBe(0)
    await withReleases(api, '6.9')
    await page.reload()
    await page.getByText('WordPress 6.9 is available. The site has 6.8.7.').waitFor()
    await button('Update to WordPress 6.9 safely').click()
    const dialog = page.getByRole('dialog', { name: 'Update to WordPress 6.9 safely?' })
    await dialog.getByText('Orders, comments and entries from after the update are then lost.').waitFor()
    await panel.judge(page)
    expect(await dialog.getByLabel('Update all plugins and themes, too').isChecked()).toBe(true)
    await dialog.getByLabel('Update all plugins and themes, too').uncheck()
    await page.keyboard.press('Escape')
    const helper = await api.person('helper@example.com')
    await api.collaborate(helper, site, ['plugin_management_access'])
    const other = await panel.open(helper, `sites/${site}/plugins`)
    await other.getByText('WordPress 6.9 is available.').waitFor()
    await expect.poll(() => other.getByRole('button', { name: 'Update to WordPress 6.9 safely' }).count()).toBe(0)
    await other.context().close()
  })

  test('compare the pages that a site adds, without the elements that it hides', async () => {
    await open()
    await button('What to compare').click()
    const dialog = page.getByRole('dialog', { name: 'What safe updates compare' })
    await dialog.getByLabel('Hidden elements').fill('.visitor-counter\np { color: red }')
    await dialog.getByLabel('More pages').fill('/checkout/\n\n /about/ ')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Hidden elements, entry 2: A CSS selector without {, }, <, @, and comments').waitFor()
    await panel.judge(page)
    await page.setViewportSize({ width: 390, height: 800 })
    await panel.judge(page)
    await page.setViewportSize({ width: 1440, height: 900 })
    await dialog.getByLabel('Hidden elements').fill('.visitor-counter')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved what safe updates compare').waitFor()
    const { data } = (await owner.call('GET', `/v1/sites/${site}/safe-update-settings`)).body
    expect(data).toEqual({ masks: ['.visitor-counter'], paths: ['/checkout/', '/about/'] })
  })

  test('a policy is set on the page of the site, and by default on that of the account', async () => {
    const form = (title: string) => page.getByRole('region', { name: title, exact: true })
    const policyOf = async (path: string) => (await owner.call('GET', path)).body.data
    await open()
    const ofSite = form('Automatic safe updates')
    await ofSite.getByText('Current policy: Never.').waitFor()
    await ofSite.getByLabel('Update automatically').selectOption('Weekly')
    await ofSite.getByText('Once a week, Stead updates all plugins and themes that have an update.').waitFor()
    await ofSite.getByLabel('Day').selectOption('Tuesday')
    await ofSite.getByLabel('Hour').selectOption('22:00')
    await ofSite.getByLabel('Time zone').selectOption('UTC')
    await ofSite.getByLabel('Leave out').fill('shop, forms')
    await panel.judge(page)
    await ofSite.getByRole('button', { name: 'Save update policy' }).click()
    await ofSite.getByText('Current policy: Weekly, Tuesday 22:00 (UTC). Next:').waitFor()
    const when = { weekday: 'tuesday', hour: 22, time_zone: 'UTC', exclude: ['shop', 'forms'] }
    expect(await policyOf(`/v1/sites/${site}/update-policy`)).toMatchObject({ mode: 'weekly', ...when })
    await ofSite.getByLabel('Update automatically').selectOption('Account default')
    await ofSite.getByRole('button', { name: 'Save update policy' }).click()
    await ofSite.getByText('Current policy: Never.').waitFor()

    await page.goto(`${panel.url}#/account/plan`)
    const ofAccount = form('Automatic safe updates by default')
    await ofAccount.getByLabel('Update automatically').selectOption('Security fixes only')
    await ofAccount.getByText('Your operator has set no feed of vulnerabilities').waitFor()
    await panel.judge(page)
    await ofAccount.getByRole('button', { name: 'Save update policy' }).click()
    await expect.poll(() => policyOf('/v1/account/update-policy')).toMatchObject({ mode: 'security' })
    expect(await policyOf(`/v1/sites/${site}/update-policy`)).toMatchObject({ effective: { mode: 'security' } })
  })

  test('known vulnerabilities stand above the plugins, with the version that fixes them', async () => {
    const { api } = panel
    await withExtensions(api, site, [
      { slug: 'forms', title: 'Best Forms', version: '2.0' },
      { slug: 'mail', title: 'Best Mail', version: '2.0' },
    ])
    const severe = { cvss: { score: 9.8, rating: 'Critical' } }
    await api.database.transaction((tx) =>
      withVulnerabilities(tx, [{ slug: 'forms' }, { slug: 'mail', fixed: [], more: severe }]),
    )
    await open()
    await page.reload()
    await page.getByText('2 known vulnerabilities.').waitFor()
    const lines = page.locator('.callout.bad li')
    expect(await lines.allInnerTexts()).toMatchObject([
      expect.stringMatching(/^Critical Best Mail 2.0: no fixed version yet/),
      expect.stringMatching(/^Medium Best Forms 2.0: fixed in 2.1/),
    ])
    await panel.judge(page)
    await page.goto(`${panel.url}#/plugins`)
    await page.getByText('fixed in 2.1 · 1 site').waitFor()
    await panel.judge(page)
  })
})
