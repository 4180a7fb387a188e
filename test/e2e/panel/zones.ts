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

    test('a domain says in words what is to be done next', async () => {
      const { page } = using()
      await openPage(using(), `sites/${site}/domains`)
      await button('Add a domain').click()
      await page.getByLabel(/^Domain, such/).fill('shop.example.com')
      await button('Add it').click()
      await page.getByText('It does not lead here yet. Where the DNS of shop.example.com is kept').waitFor()
      await button('Make primary: shop.example.com').click()
      await page.getByText('primary', { exact: true }).waitFor()
      await judge(using())
    })

    test('records of its zone, a provider of mail, the zone file, DNSSEC', async () => {
      const { page } = using()
      await page.getByRole('link', { name: 'Records of shop.example.com' }).click()
      await page.getByRole('heading', { name: 'DNSSEC' }).waitFor()
      await button('Add a record').click()
      await page.getByLabel('Type').selectOption('MX: a mail server')
      await page.getByLabel('Name of the mail server').fill('mail.example.net')
      await page.getByLabel('Priority, 0 to 65535').fill('10')
      await judge(using())
      await button('Add it').click()
      await button('Change MX @').click()
      await page.getByLabel(/^TTL/).fill('600')
      await button('Change it').click()
      await page.getByRole('row', { name: /MX mail\.example\.net\. 10 600/ }).waitFor()
      await button('Set the records').click()
      await page.getByText('v=spf1').waitFor()
      await button('Export').click()
      await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('mail.example.net'))
      await page.getByLabel('Zone file').fill('imported 300 IN A 192.0.2.7\n@ ALIAS shops.example.net.')
      await button('Preview import').click()
      await page.getByText('1 line left out').waitFor()
      await page.getByText(/ALIAS is not a DNS type/).waitFor()
      await judge(using())
      await button('Import 1 record').click()
      await button('Delete A imported').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
      await button('Delete A imported').waitFor({ state: 'detached' })
      await button('Sign the zone').click()
      await page.getByText('DS record for the registrar').waitFor()
      await judge(using())
    })

    test('a domain goes', async () => {
      const { page } = using()
      await openPage(using(), `sites/${site}/domains`)
      await button('Delete shop.example.com').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('No domain leads here yet.').waitFor()
    })
  })
}
