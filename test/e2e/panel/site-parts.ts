/** A person's way through the parts of a site's page. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { archivesOf } from '../../support/hosted-archives.ts'
import { fitsPhone, judge, openPage, type Panel, siteNamed } from '../../support/panel.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBxSxnVbFVFF9zWQ6Ky5hLYDZ1GlDbrnAjGYgdzvCT8P me@laptop'

export function siteParts(using: () => Panel): void {
  describe('the parts of a site', () => {
    let site = 0
    const at = (part: string) => openPage(using(), `sites/${site}/${part}`)
    const button = (name: string | RegExp) =>
      using().page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })
    /** Waits until the operation that the page shows is done. */
    const done = (about: string) =>
      using().page.locator('.toast', { hasText: about }).locator('.state.succeeded').first().waitFor()
    const dialog = () => using().page.getByRole('dialog')
    beforeAll(async () => {
      site = await using().stead.createSite({ name: 'parts-shop' })
    })

    test('changes the name, caching, and PHP: protection with its end, switches, and the PHP version', async () => {
      const { page } = using()
      await at('settings')
      await page.getByLabel('Site name', { exact: true }).fill('The shop of parts')
      await button('Rename site').click()
      await siteNamed(page, 'The shop of parts').waitFor()
      await judge(using())
      await at('cache')
      await page.getByLabel('Turn on for', { exact: true }).selectOption('2 hours')
      await button('Turn on protection').click()
      await page.getByText(/^On until/).waitFor()
      await judge(using())
      await button('Turn off protection').click()
      await page.getByLabel('Turn on for', { exact: true }).waitFor()
      await page.getByRole('switch', { name: 'Light 404 pages' }).click()
      await page.getByRole('switch', { name: 'Light 404 pages', checked: true }).waitFor()
      await page.getByLabel('PHP 8.2').check()
      await button('Change PHP version').click()
      await expect
        .poll(async () => (await using().stead.api('GET', `/v1/sites/${site}`)).body.data.phpVersion)
        .toBe('8.2')
    })

    test('sets tags and a favorite', async () => {
      const { page } = using()
      await at('overview')
      await button('Add tag').click()
      await dialog().getByLabel('Tag').fill('customers')
      await dialog().getByRole('button', { name: 'Add tag' }).click()
      await button('Remove tag customers').waitFor()
      await button('Favorite').click()
      await page.locator('button[aria-label=Favorite][aria-pressed=true]').waitFor()
      await judge(using())
    })

    test('adds people by role or by single permissions', async () => {
      const { page } = using()
      await at('collaborators')
      await page.getByText('Only the owner can access this site').waitFor()
      await page.getByLabel('Email address').fill('anna@example.com')
      await page.getByLabel('Developer').check()
      await judge(using())
      await button('Invite person').click()
      const row = page.getByRole('row', { name: /anna@example.com/ })
      await row.getByText('Developer').waitFor()
      await button('Change role of anna@example.com').click()
      await dialog().getByLabel('Custom').check()
      await dialog().getByLabel('Manage domains').uncheck()
      await judge(using())
      await button('Save role').click()
      await done('Role of anna@example.com changed')
      await row.getByText('Custom').waitFor()
      await judge(using())
      await button('Remove anna@example.com').click()
      await dialog().getByRole('button', { name: 'Remove person', exact: true }).click()
      await page.getByText('Only the owner can access this site').waitFor()
    })

    test('shows an SFTP password once, and adds keys', async () => {
      const { page } = using()
      await at('sftp')
      // tests run with SFTP turned off
      await page.getByText('SFTP is turned off on this installation.').waitFor()
      await button(/^Reset password of/).click()
      await dialog().getByRole('button', { name: 'Reset password' }).click()
      await page.getByText('Copy it now').waitFor()
      expect(await dialog().locator('code').textContent()).toMatch(/^[\w-]{24}$/)
      await judge(using())
      await button('Close').click()
      await button(/^Manage keys of/).click()
      await page.getByText('No keys').waitFor()
      await page.getByLabel('Public key').fill('no key')
      await button('Add key').click()
      await page.locator('[role=alert]', { hasText: 'key' }).waitFor()
      await page.getByLabel('Public key').fill(KEY)
      await button('Add key').click()
      await button('Remove key me@laptop').click()
      await page.getByText('No keys').waitFor()
      await judge(using())
    })

    test('uploads an archive for import, shows its plan, and deletes it', async () => {
      const { page } = using()
      await at('imports')
      await page.getByText('No imports yet.').waitFor()
      await button('Upload and inspect').click()
      await page.getByText('Choose the archive first.').waitFor()
      await judge(using())
      const [name, buffer] = Object.entries(archivesOf.wpress())[0] as [string, Buffer]
      await page.getByLabel('Archive files').setInputFiles({ name, buffer, mimeType: 'application/octet-stream' })
      await button('Upload and inspect').click()
      await page.getByRole('heading', { name: 'Import plan' }).waitFor()
      await page.getByText('https://old.example.com').waitFor()
      expect(await page.getByRole('checkbox', { name: /object-cache/ }).isDisabled()).toBe(true)
      await judge(using())
      await fitsPhone(using(), [`sites/${site}/imports`])
      await button('Start import').click()
      await dialog().getByText('Replace this site?').waitFor()
      await page.keyboard.press('Escape')
      await button('Delete import').click()
      await dialog().getByRole('button', { name: 'Delete import', exact: true }).click()
      await page.getByRole('heading', { name: 'Import a site' }).waitFor()
      await button('Web address').click()
      await page.getByLabel(/^https addresses/).fill('ftp://old.example.com/site.zip')
      await button('Fetch and inspect').click()
      await page.locator('[role=alert]', { hasText: 'is not an https address' }).waitFor()

      await button('SSH').click()
      await page.getByLabel('Host of the old site').fill('ssh.example.com')
      await page.getByLabel('User', { exact: true }).fill('me')
      await page.getByLabel('Folder of WordPress').fill('public_html')
      await button('Fetch and inspect').click()
      await page.locator('[role=alert]', { hasText: 'provide either' }).waitFor()
      await judge(using())
      await fitsPhone(using(), [`sites/${site}/imports`])
      await button('Plugin').click()
      await page.getByLabel('https address of the old site').fill('https://old.example.com')
      await button('Create plugin').click()
      await page.getByRole('heading', { name: 'Install the plugin on the old site' }).waitFor()
      expect(await page.getByRole('link', { name: 'Download plugin' }).getAttribute('href')).toMatch(/plugin$/)
      await judge(using())
      await fitsPhone(using(), [`sites/${site}/imports`])
      await button('Delete import').click()
      await dialog().getByRole('button', { name: 'Delete import', exact: true }).click()
      await page.getByRole('heading', { name: 'Import a site' }).waitFor()
    })

    test('writes notes', async () => {
      const { page, stead } = using()
      await at('notes')
      await button('Add note').first().click()
      await page.getByLabel('Subject').fill('Whom to call')
      await page.getByLabel('Note', { exact: true }).fill('Anna, **before** ten.')
      await button('Save note').click()
      await page.locator('strong', { hasText: 'before' }).waitFor()
      await button('Edit Whom to call').click()
      await page.getByLabel('Note', { exact: true }).fill('Anna, after ten.')
      await button('Save note').click()
      await page.getByText('Anna, after ten.').waitFor()
      await judge(using())
      await button('Delete Whom to call').click()
      await dialog().getByRole('button', { name: 'Delete note', exact: true }).click()
      await page.getByText('No notes yet').waitFor()
      // older notes follow the last one shown, whatever others add meanwhile
      const add = (subject: string) => stead.api('POST', `/v1/sites/${site}/notes`, { subject, body: 'text' })
      for (let number = 1; number <= 22; number++) await add(`Note ${number}.`)
      await page.getByText('Note 3.', { exact: true }).waitFor()
      await add('A newer one')
      await page.getByText('A newer one').waitFor()
      await page.getByRole('link', { name: 'Older' }).click()
      await page.getByText('Note 1.', { exact: true }).waitFor()
      await add('The newest one')
      await page.getByRole('link', { name: 'Newest' }).click()
      await page.getByText('The newest one').waitFor()
    })

    test('adds visits to the log as they come, and filters them', async () => {
      const { page, stead } = using()
      await at('logs')
      await stead.visit('parts-shop', '/?asked=now')
      await page.getByText('GET /?asked=now').waitFor()
      await judge(using())
      await page.getByLabel('Status', { exact: true }).selectOption('404 Not found')
      await page.getByText('No entries match').waitFor()
      expect(page.url()).toContain('status=404')
      await stead.visit('parts-shop', '/not-there')
      await page.getByText('GET /not-there').waitFor()
      await page.getByRole('tab', { name: 'PHP', exact: true }).click()
      await page.getByText('No PHP errors in the last 7 days').waitFor()
      await judge(using())
    })

    test('counts statements that the database refused on the overview, and links to the log', async () => {
      const { page, stead } = using()
      await at('overview')
      await page.getByText('Page views, 30 days').waitFor()
      expect(await page.getByText(/database errors? in the last 7 days/).count()).toBe(0)
      const broken =
        "<?php require 'wp-load.php'; $wpdb->suppress_errors(false); $wpdb->query('SELECT 1 FROM not_there'); error_log('other');"
      await writeFile(join(stead.directoryOf('parts-shop'), 'web/broken.php'), broken)
      await stead.visit('parts-shop', '/broken.php')
      const counted = async () =>
        (await stead.api('GET', `/v1/sites/${site}/logs/php/count?status=Database%20error`)).body
      await expect.poll(async () => (await counted()).data).toEqual({ count: 1 })
      await page.reload()
      await page.getByText('1 database error in the last 7 days').waitFor()
      await judge(using())
      await page.getByRole('link', { name: 'Show database errors' }).click()
      await page.getByText(/^WordPress database error .*not_there/).waitFor()
      expect(await page.getByText('other', { exact: true }).count()).toBe(0)
      await judge(using())
    })

    test('shows statistics as charts and as a table', async () => {
      const { page } = using()
      await at('statistics')
      const chart = page.getByRole('slider', { name: 'Page views by day' })
      await chart.focus()
      await page.keyboard.press('Home')
      expect(await chart.getAttribute('aria-valuetext')).toMatch(/: Page views 0, Visitors 0$/)
      await page.getByText('Show as table').first().click()
      await expect.poll(() => page.getByRole('region', { name: 'Page views by day' }).getByRole('row').count()).toBe(31)
      await page.getByRole('cell', { name: 'This month' }).waitFor()
      await page.getByRole('heading', { name: /^Last \d+ requests$/ }).waitFor()
      await judge(using())
    })

    test('says what to do on the performance page while nothing has been measured', async () => {
      await at('performance')
      await using().page.getByText('No reports yet').waitFor()
      await button('Create report').waitFor()
      await judge(using())
    })

    test('shows client reports, and saves their recipients', async () => {
      const { page } = using()
      await at('client-reports')
      const view = page.getByRole('link', { name: /^View report: / })
      await view.first().waitFor()
      const address = (await view.first().getAttribute('href')) ?? ''
      const report = await page.evaluate(async (path) => (await fetch(path)).text(), address)
      expect(report).toContain('The shop of parts')
      await page.getByLabel('E-mail addresses').fill('client@example.com, nobody')
      await button('Save recipients').click()
      await page.getByText('recipients.1: must be a valid email').waitFor()
      await page.getByLabel('E-mail addresses').fill('client@example.com')
      await button('Save recipients').click()
      await page.getByText('Recipients saved').waitFor()
      await judge(using())
    })

    test('shows what a restore would overwrite before it starts', async () => {
      const { page } = using()
      await at('backups')
      await button('Back up now').first().click()
      await page.getByRole('menuitem', { name: 'Database', exact: true }).click()
      await button(/^Restore .*20/)
        .first()
        .click()
      await page.getByLabel('Type parts-shop to confirm').fill('parts-shop')
      await button('Selected parts').click()
      expect(await dialog().getByRole('button', { name: 'Restore', exact: true }).isDisabled()).toBe(true)
      await page.getByLabel(/^Tables, one per line/).fill('wp_options')
      await button('Preview changes').click()
      await page.getByText('Nothing changed since this backup.').waitFor()
      await judge(using())
      await dialog().getByRole('button', { name: 'Restore', exact: true }).click()
      await done('Restore The shop of parts')
    })

    test('creates a clone, and syncs from it', async () => {
      const { page, stead } = using()
      await at('copies')
      await button('Clone site').first().click()
      await page.getByLabel('Name', { exact: true }).fill('parts-copy')
      await judge(using())
      await dialog().getByRole('button', { name: 'Clone site', exact: true }).click()
      await done('Clone parts-copy')
      expect((await stead.visit('parts-copy')).status).toBe(200)
      await button('Pull parts-copy to The shop of parts').click()
      await button('Content').click()
      await dialog().getByText('Media uploads – overwritten').waitFor()
      await page.getByLabel('Type parts-shop to confirm').fill('parts-shop')
      await judge(using())
      await button('Overwrite site').click()
      await done('Sync to The shop of parts')
    })

    test('shows all parts on a phone', async () => {
      const names = [
        'overview',
        'backups',
        'copies',
        'domains',
        'plugins',
        'collaborators',
        'sftp',
        'database',
        'logs',
        'uptime',
        'statistics',
        'client-reports',
      ]
      const paths = [...names, 'performance', 'cache', 'notes', 'settings', 'operations', 'activity']
      await fitsPhone(
        using(),
        paths.map((part) => `sites/${site}/${part}`),
      )
    })
  })
}
