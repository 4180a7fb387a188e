/** A person's way through the list of sites and the parts of the account. */
import { beforeAll, describe, test } from 'vitest'
import { fitsPhone, judge, openPage, type Panel } from '../../support/panel.ts'

export function accountParts(using: () => Panel): void {
  const button = (name: string | RegExp) =>
    using().page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })

  /** Runs an action from the bar of selected sites or its menu. */
  async function order(name: string): Promise<void> {
    const bar = using().page.getByRole('region', { name: 'Selected sites' })
    const first = bar.getByRole('button', { name, exact: true })
    if (await first.isVisible()) return first.click()
    await bar.getByRole('button', { name: 'More', exact: true }).click()
    await bar.getByRole('menuitem', { name, exact: true }).click()
  }

  describe('many sites', () => {
    beforeAll(async () => {
      for (const name of ['bulk-one', 'bulk-two']) await using().stead.createSite({ name })
    })

    test('runs an action on the selected sites; tags and favorites arrange them', async () => {
      const { page } = using()
      await openPage(using(), 'sites')
      await page.getByLabel('Name, domain, or tag').fill('bulk-')
      await page.getByLabel('Select bulk-one').waitFor()
      await page.getByLabel('Select bulk-one').check()
      await button('Select page').click()
      await page.getByText('2 sites selected').waitFor()
      await order('Add tag')
      await page.getByRole('dialog', { name: 'Add tag on 2 sites?' }).getByLabel('Tag').fill('both')
      await judge(using())
      await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
      await page.getByText('Add tag: 2 of 2').waitFor()
      await page.getByRole('status').getByRole('button', { name: 'Close', exact: true }).click()
      await button('both').first().click()
      await page.getByText('Tag: both').waitFor()
      await page.getByRole('heading', { name: 'Sites 2' }).waitFor()
      await button('More actions for bulk-two').click()
      await page.getByRole('menuitem', { name: 'Add to favorites' }).click()
      await page.getByRole('img', { name: 'bulk-two is a favorite' }).waitFor()
      await button('Clear tag filter').click()
    })

    test('keeps a site selected when the action fails on it, with the reason', async () => {
      const { page, stead } = using()
      const { data } = (await stead.api('POST', '/v1/sites/search', { filters: [{ key: 'name', value: 'bulk-one' }] }))
        .body
      await page.getByLabel('Name, domain, or tag').fill('bulk-')
      await page.getByLabel('Select bulk-one').check()
      await page.getByLabel('Select bulk-two').check()
      await stead.api('DELETE', `/v1/sites/${data[0].id}`)
      await order('Purge cache')
      await page.getByRole('dialog', { name: 'Purge cache on 2 sites?' }).getByRole('button', { name: 'Purge' }).click()
      await page.getByText('1 site failed').waitFor()
      await page.getByText('bulk-one: ').waitFor()
      await page.getByText('1 site selected').waitFor()
      await button('Clear').click()
      await page.getByRole('status').getByRole('button', { name: 'Close', exact: true }).click()
      await page.getByLabel('Name, domain, or tag').fill('')
    })
  })

  describe('the account', () => {
    test('shows a webhook’s secret once, sends a test event, and sends it again', async () => {
      const { page } = using()
      await openPage(using(), 'account/webhooks')
      await button('Create webhook').first().click()
      await page.getByLabel(/^Address/).fill('https://hooks.example.com/in')
      await judge(using())
      await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
      await page.getByText('Copy it now').waitFor()
      await button('Close').click()
      await page.getByRole('link', { name: /^Deliveries to/ }).click()
      await button('Send test event').click()
      await button(/^Send again: /)
        .first()
        .click()
      await page.getByText('Delivery sent again').waitFor()
      await judge(using())
      await button('Turn off webhook').click()
      await button('Turn on webhook').waitFor()
      await button('Delete webhook').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook', exact: true }).click()
      await page.getByText('No webhooks yet').waitFor()
      // the next page begins after the last item shown, even if the items before are gone
      const { stead } = using()
      await page.route(/\/v1\/webhooks\?/, (route) =>
        route.continue({ url: route.request().url().replace('per_page=20', 'per_page=2') }),
      )
      const address = (number: number) => `https://hooks.example.com/${number}`
      const ids: number[] = []
      for (const number of [1, 2, 3, 4])
        ids.push((await stead.api('POST', '/v1/webhooks', { url: address(number) })).body.data.id)
      await page.getByText(address(2), { exact: true }).waitFor()
      for (const id of ids.slice(0, 2)) await stead.api('DELETE', `/v1/webhooks/${id}`)
      await page.getByText(address(4), { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Next page' }).click()
      await page.getByRole('link', { name: 'First page' }).waitFor()
      await page.goBack()
      await page.getByText(address(3), { exact: true }).waitFor()
      for (const id of ids.slice(2)) await stead.api('DELETE', `/v1/webhooks/${id}`)
      await page.unroute(/\/v1\/webhooks\?/)
      await page.getByText('No webhooks yet').waitFor()
    })

    test('adds collaborators to all sites at once', async () => {
      const { page } = using()
      await openPage(using(), 'account/collaborators')
      await button('Invite person').click()
      await page.getByLabel('E-mail address').fill('bert@example.com')
      await page.getByLabel('Sites', { exact: true }).selectOption('All sites')
      await page.getByLabel('Manage notes', { exact: true }).check()
      await judge(using())
      await button('Send invitation').click()
      await page.getByRole('cell', { name: 'bert@example.com', exact: true }).waitFor()
      await judge(using())
      await button('Remove person: bert@example.com').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove person', exact: true }).click()
      await page.getByText('No collaborators yet').waitFor()
    })

    test('sets defaults for new sites, and reports those that could not be applied', async () => {
      const { page } = using()
      await openPage(using(), 'account/plan')
      await page.getByLabel('PHP').selectOption('8.2')
      await button('Save defaults').click()
      await page.getByText('Defaults saved').waitFor()
      await judge(using())
      await openPage(using(), 'account/mu-plugins')
      await page.getByText('No must-use plugins yet').waitFor()
      await judge(using())
      await button('Add must-use plugin').click()
      await page.getByLabel(/^Public https/).fill('http://plugins.example.com/tools.php')
      await page.getByRole('dialog').getByRole('button', { name: 'Add must-use plugin' }).click()
      await page.locator('[role=alert]', { hasText: 'https' }).waitFor()
    })

    test('shows everything on a phone', async () => {
      const parts = ['you', 'plan', 'collaborators', 'alerts', 'webhooks', 'mu-plugins']
      await fitsPhone(using(), [
        'sites',
        'zones',
        'monitoring',
        'alerts',
        'plugins',
        ...parts.map((part) => `account/${part}`),
      ])
    })
  })
}
