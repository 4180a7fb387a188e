/** A person's way to a domain of a site, and through the records of its zone. */
import { beforeAll, describe, test } from 'vitest'
import { judge, openPage, type Panel } from '../../support/panel.ts'

export function zones(using: () => Panel): void {
  describe('domains and zones', () => {
    let site = 0
    const button = (name: string | RegExp) =>
      using().page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })
    beforeAll(async () => {
      site = await using().stead.createSite({ name: 'zone-shop' })
    })

    test('says what a domain needs next', async () => {
      const { page } = using()
      await openPage(using(), `sites/${site}/domains`)
      await page.getByLabel('Domain', { exact: true }).fill('shop.example.com')
      await button('Add domain').click()
      await page.getByText('Create these records where the DNS of shop.example.com is managed').waitFor()
      await button('More actions for shop.example.com').click()
      await page.getByRole('menuitem', { name: 'Set as primary' }).click()
      await page.getByText('Primary', { exact: true }).waitFor()
      await judge(using())
    })

    test('edits records of the zone, a mail provider, the zone file, and DNSSEC', async () => {
      const { page } = using()
      await button('More actions for shop.example.com').click()
      await page.getByRole('menuitem', { name: 'Edit DNS records' }).click()
      await page.getByRole('heading', { name: 'DNSSEC' }).waitFor()
      await button('Add record').click()
      await page.getByLabel('Type').selectOption('MX: mail server')
      await page.getByLabel('Name of the mail server').fill('mail.example.net')
      await page.getByLabel('Priority, 0 to 65535').fill('10')
      await judge(using())
      await page.getByRole('dialog').getByRole('button', { name: 'Add record' }).click()
      await button('Edit MX record @').click()
      await page.getByLabel(/^TTL/).fill('600')
      await button('Save record').click()
      await page.getByRole('row', { name: /MX mail\.example\.net\. 10 600/ }).waitFor()
      await button('Add mail records').click()
      await page.getByText('v=spf1').waitFor()
      await button('Export zone file').click()
      await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('mail.example.net'))
      await judge(using())
      await button('Close').click()
      await button('Import zone file').click()
      await page
        .getByRole('textbox', { name: 'Zone file', exact: true })
        .fill('imported 300 IN A 192.0.2.7\n@ ALIAS shops.example.net.')
      await button('Preview import').click()
      await page.getByText('1 line skipped').waitFor()
      await page.getByText(/ALIAS is not a DNS type/).waitFor()
      await judge(using())
      await button('Import 1 record').click()
      await button('Delete A record imported').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete record', exact: true }).click()
      await button('Delete A record imported').waitFor({ state: 'detached' })
      await button('Turn on DNSSEC').click()
      await page.getByText('DS record for the registrar').waitFor()
      await judge(using())
    })

    test('removes a domain', async () => {
      const { page } = using()
      await openPage(using(), `sites/${site}/domains`)
      await button('More actions for shop.example.com').click()
      await page.getByRole('menuitem', { name: 'Remove domain' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove domain', exact: true }).click()
      await page.getByText('No domains yet').waitFor()
    })
  })
}
