/** Components of every page, as people use them: they sort tables, choose columns, and save views. */
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeUsages } from '../../src/resources/statistics/statistics.store.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('components of the panel', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  const usages = new Map<number, { fileBytes: number; databaseBytes: number }>()
  beforeAll(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    const sizes = { 'my-blog': 3_000_000, 'my-docs': 1_000_000, 'my-shop': 2_000_000 }
    for (const [name, fileBytes] of Object.entries(sizes))
      usages.set(await panel.api.site(owner, name), { fileBytes, databaseBytes: 0 })
    await panel.api.database.transaction((tx) => storeUsages(tx, usages, 1))
    page = await panel.open(owner, 'sites')
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const at = async (path: string): Promise<void> => {
    await page.goto('about:blank')
    await page.goto(`${panel.url}/#/${path}`)
    await panel.settled(page)
  }

  describe('a table', () => {
    const names = () => page.locator('tbody a.name').allTextContents()
    const heads = async () =>
      (await page.getByRole('columnheader').allTextContents()).filter((text) => text.trim() !== '')

    test('is sorted by a click on a head, and its address says so', async () => {
      await at('sites')
      expect(await names()).toEqual(['my-blog', 'my-docs', 'my-shop'])
      const sorts = [
        ['sort=-disk', 'descending', ['my-blog', 'my-shop', 'my-docs']],
        ['sort=disk', 'ascending', ['my-docs', 'my-shop', 'my-blog']],
        ['', null, ['my-blog', 'my-docs', 'my-shop']],
      ] as const
      for (const [address, direction, order] of sorts) {
        await button('Disk').click()
        await panel.settled(page)
        expect(await names()).toEqual(order)
        expect(page.url().split('?')[1] ?? '').toBe(address)
        expect(await page.getByRole('columnheader', { name: 'Disk' }).getAttribute('aria-sort')).toBe(direction)
      }
      await at('sites?sort=-name')
      expect(await names()).toEqual(['my-shop', 'my-docs', 'my-blog'])
      await page.getByLabel('Sort by').selectOption('Largest first')
      await panel.settled(page)
      expect(await names()).toEqual(['my-blog', 'my-shop', 'my-docs'])
      await panel.judge(page)
    })

    test('hides columns, and remembers them', async () => {
      await at('sites')
      await button('Columns').click()
      await page.getByRole('menuitemcheckbox', { name: 'PHP', checked: true }).click()
      await page.getByRole('menuitemcheckbox', { name: 'PHP', checked: false }).waitFor()
      await page.getByRole('menuitemcheckbox', { name: 'Disk' }).click()
      await panel.judge(page)
      const some = ['Select', 'Site', 'Status', 'WordPress', 'Visits, 30 days', 'Last backup', 'Actions']
      expect(await heads()).toEqual(some)
      await at('sites')
      expect(await heads()).toEqual(some)
      expect(await page.locator('tbody tr').first().locator('td').count()).toBe(some.length)
      await button('Columns').click()
      await page.getByRole('menuitem', { name: 'Show all columns' }).click()
      expect(await heads()).toHaveLength(some.length + 2)
    })

    test('keeps filters and order as a view, which can be deleted and put back', async () => {
      await at('sites?kind=live&sort=-disk')
      await button('Views').click()
      await page.getByRole('menuitem', { name: 'Save view' }).click()
      await page.getByLabel('Name of the view').fill('Large')
      await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
      await button('View: Large').waitFor()
      await at('sites?state=disabled')
      await button('Views').click()
      await page.getByRole('menuitemradio', { name: 'Large', checked: false }).click()
      await button('View: Large').click()
      await panel.settled(page)
      expect(page.url()).toContain('#/sites?kind=live&sort=-disk')
      expect((await names())[0]).toBe('my-blog')
      await page.getByRole('menuitem', { name: 'Delete view Large' }).click()
      await button('Views').waitFor()
      await button('Undo').click()
      await button('View: Large').waitFor()
    })

    test('is as it was for who comes back from a site', async () => {
      await at('sites?q=my-d')
      await page.getByRole('link', { name: 'my-docs', exact: true }).click()
      await page.getByRole('link', { name: 'All sites' }).click()
      await page.getByLabel('Name, domain, or tag').waitFor()
      await panel.settled(page)
      expect([await page.getByLabel('Name, domain, or tag').inputValue(), await names()]).toEqual(['my-d', ['my-docs']])
    })

    test('that is there as a whole is sorted in the browser', async () => {
      const [site] = (await owner.call('GET', '/v1/sites')).body.data
      for (const email of ['b@example.com', 'a@example.com', 'c@example.com'])
        await owner.call('POST', `/v1/sites/${site.id}/collaborators`, { email, roles: ['manage_dns'] })
      await at(`sites/${site.id}/collaborators`)
      const people = async () =>
        (await page.locator('tbody tr').allTextContents()).map((text) => /[abc]@example/.exec(text)?.[0][0])
      await button('Person').click()
      expect([await people(), page.url().split('?')[1]]).toEqual([['a', 'b', 'c'], 'sort=person'])
      await button('Person').click()
      expect(await people()).toEqual(['c', 'b', 'a'])
      await page.setViewportSize({ width: 390, height: 844 })
      await page.getByLabel('Sort by').selectOption('Person ↑')
      expect(await people()).toEqual(['a', 'b', 'c'])
      await panel.judge(page)
      await page.setViewportSize({ width: 1280, height: 720 })
    })
  })

  test('figures of sites are read once for the list, the head of a site, and the navigation', async () => {
    const ids = [...usages.keys()]
    const docs = ids[1] as number
    const asked: number[][] = []
    // read as often as the page is: at first, and after each change
    let rights = 0
    const count = (request: Request) => {
      if (request.url().endsWith('/v1/sites/statistics')) asked.push(request.postDataJSON().site_ids)
      if (request.url().endsWith('/rights')) rights++
    }
    page.on('request', count)
    const shows = async (name: string) => {
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await panel.settled(page)
    }
    await at(`sites/${docs}/overview`)
    await shows('my-docs')
    expect(rights).toBeGreaterThan(0)
    expect(asked).toEqual(Array.from({ length: rights }, () => [docs]))
    await at('sites')
    expect(asked.at(-1)).toEqual(ids)
    ;[asked.length, rights] = [0, 0]
    await page.getByRole('link', { name: 'my-docs', exact: true }).click()
    await shows('my-docs')
    expect(asked).toEqual(Array.from({ length: rights - 1 }, () => [docs]))
    ;[asked.length, rights] = [0, 0]
    await owner.call('PUT', `/v1/sites/${docs}`, { name: 'my-books' })
    await shows('my-books')
    expect(rights).toBeGreaterThan(0)
    expect(asked).toEqual(Array.from({ length: rights }, () => [docs]))
    page.off('request', count)
    await owner.call('PUT', `/v1/sites/${docs}`, { name: 'my-docs' })
  })

  describe('a switch', () => {
    const light = (checked: boolean) => page.getByRole('switch', { name: 'Light 404 pages', checked })
    const isOn = async (id: number) => (await owner.call('GET', `/v1/sites/${id}`)).body.data.lightWeight404
    let id: number
    beforeAll(async () => {
      id = [...usages.keys()][0] as number
      await at(`sites/${id}/cache`)
    })

    test('turns before the answer, and turns back from its message', async () => {
      const hold = Promise.withResolvers<void>()
      await page.route('**/light_weight_404', async (route) => {
        await hold.promise
        await route.continue()
      })
      await light(false).click()
      await light(true).waitFor()
      expect(await isOn(id)).toBe(false)
      hold.resolve()
      await button('Undo').waitFor()
      expect(await isOn(id)).toBe(true)
      await page.unroute('**/light_weight_404')
      await button('Undo').click()
      await light(false).waitFor()
      await expect.poll(() => isOn(id)).toBe(false)
    })

    test('turns back when the change is refused', async () => {
      const json = { message: 'No', errors: ['The change was refused.'] }
      await page.route('**/light_weight_404', (route) => route.fulfill({ status: 409, json }))
      await light(false).click()
      await page.getByRole('status').getByText('The change was refused.').waitFor()
      await light(false).waitFor()
      await page.unroute('**/light_weight_404')
      await button('Close message').last().click()
    })
  })

  describe('a tooltip', () => {
    const tip = () => page.locator('.tip')
    const more = () => page.getByRole('button', { name: 'More actions for my-blog' })
    const LONG = `a-shop-with-${'a-very-long-'.repeat(12)}name`
    let long: number
    beforeAll(async () => {
      long = await panel.api.site(owner, LONG)
      await at('sites')
    })

    test('comes with the pointer, stays under it, and goes with Escape', async () => {
      await more().hover()
      await tip().getByText('More actions for my-blog').waitFor()
      await panel.judge(page)
      await tip().hover()
      expect(await tip().count()).toBe(1)
      await page.keyboard.press('Escape')
      await expect.poll(() => tip().count()).toBe(0)
      await more().hover()
      await tip().waitFor()
      await page.getByRole('heading', { level: 1 }).hover()
      await expect.poll(() => tip().count()).toBe(0)
    })

    test('comes with the keyboard, and Escape closes nothing else', async () => {
      await page.getByLabel('Select my-blog').focus()
      for (let steps = 0; steps < 9 && (await tip().count()) === 0; steps++) await page.keyboard.press('Tab')
      expect([await tip().textContent(), await more().evaluate((it) => it === document.activeElement)]).toEqual([
        'More actions for my-blog',
        true,
      ])
      await page.keyboard.press('Enter')
      await expect.poll(() => tip().count()).toBe(0)
      await page.getByRole('menuitem').first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('menuitem').first().waitFor({ state: 'hidden' })
    })

    test('is above a dialog, and Escape closes it before the dialog', async () => {
      await at('account/you')
      await page.getByRole('button', { name: 'Set up authenticator app' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Copy the secret' }).hover()
      await tip().getByText('Copy the secret').waitFor()
      const isOnTop = await tip().evaluate((it) => {
        const { left, top, width, height } = it.getBoundingClientRect()
        return it.contains(document.elementFromPoint(left + width / 2, top + height / 2))
      })
      expect(isOnTop).toBe(true)
      await page.keyboard.press('Escape')
      expect([await tip().count(), await page.getByRole('dialog').count()]).toEqual([0, 1])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await at('sites')
    })

    test('has a text that is cut off', async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      await at(`sites/${long}/backups`)
      await page.keyboard.press('Tab')
      await page.locator('.crumbs').getByRole('link', { name: LONG }).focus()
      expect(await tip().textContent()).toBe(LONG)
      expect(await tip().evaluate((it) => it.getBoundingClientRect().right <= innerWidth)).toBe(true)
      await page.setViewportSize({ width: 1280, height: 720 })
      await at('sites')
    })

    test('comes with a long press, which does not press the button', async () => {
      const { x, y, width, height } = (await more().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
      const finger = await page.context().newCDPSession(page)
      const touchPoints = [{ x: x + width / 2, y: y + height / 2 }]
      await finger.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
      await tip().getByText('More actions for my-blog').waitFor()
      await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
      expect(await more().getAttribute('aria-expanded')).toBe('false')
      await finger.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
      await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
      await page.getByRole('menuitem').first().waitFor()
      await expect.poll(() => tip().count()).toBe(0)
    })
  })
})
