/**
 * How many clicks the tasks of a person need, on a desk and on a phone. Each begins on the list of sites, signed in.
 * Typing does not count.
 */
import { readFile } from 'node:fs/promises'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMessage } from '../../src/hosting/php-log/php-message.ts'
import { phpRecord } from '../../src/hosting/php-log/php-records.ts'
import { createLogIds } from '../../src/platform/log-store/log-ids.ts'
import { recordActivity } from '../../src/resources/activity/record.ts'
import { backupIn } from '../../src/resources/backups/backups.fixture.ts'
import { restoredIn } from '../../src/resources/backups/restore/restore.fixture.ts'
import { actions } from '../../src/resources/plugins/actions.ts'
import { storePlugins } from '../../src/resources/plugins/plugin.store.ts'
import { codeNow, PASSWORD, withLink } from '../../src/resources/sign-in/sign-in.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { clicksOf } from '../support/panel.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

const sizes: readonly (BrowserContextOptions & { readonly name: string })[] = [
  { name: 'desk', viewport: { width: 1440, height: 900 } },
  { name: 'phone', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
]
const DAY_MS = 86_400_000
const DAMAGE = 'PHP Fatal error:  Uncaught Error: no memory in /wordpress/wp-content/plugins/shop/a.php on line 3'
const MANY = 30

/** The counts in docs/design/panel.md, by the name of the task. */
const documented = new Map<string, Readonly<Record<string, number>>>(
  [...(await readFile('docs/design/panel.md', 'utf8')).matchAll(/^\| ([^|]+) \| \d+ \| (\d+) \| (\d+) \|$/gm)].map(
    ([, task = '', desk, phone]) => [task, { desk: Number(desk), phone: Number(phone) }],
  ),
)

describe.skipIf(!hasChromium)('clicks', () => {
  let panel: PanelOverRecords
  let host: Awaited<ReturnType<typeof idleHost>>
  const nothingLost = {
    siteId: 0,
    files: null,
    database: { takenAt: '2026-01-31T09:30:00.000Z', counts: [], newest: [] },
  }
  beforeAll(async () => {
    panel = await panelOverRecords()
    host = await idleHost(panel.api, { 'site.preview_restore': { report: nothingLost } })
  })
  afterAll(async () => {
    await host?.stop(1000)
    await panel?.close()
    // the pages of sites themselves
    expect(panel?.faults.filter((fault) => !/^http:\/\/[\w-]+\.localhost/.test(fault))).toEqual([])
  })

  describe.each(sizes)('on a $name', ({ name: size, ...view }) => {
    const isPhone = size === 'phone'
    let owner: Person
    let page: Page
    let [shop, staging] = [0, 0]
    beforeAll(async () => {
      const { api } = panel
      owner = await api.person(`${size}@example.com`)
      shop = await api.site(owner, `a-${size}-shop`)
      staging = await api.site(owner, `a-${size}-staging`)
      for (let number = 1; number <= MANY; number++) await api.site(owner, `${size}-many-${number}`)
      const yesterday = Date.now() - DAY_MS
      for (const kind of ['fs', 'db'] as const)
        await backupIn(api, shop, { kind, origin: 'scheduled', takenAt: yesterday })
      await api.database.transaction(async (tx) => {
        await tx.updateTable('sites').set({ php_version: '8.2' }).where('id', '=', shop).execute()
        const clone = { staging: 1, cloned_from_id: shop } as const
        await tx.updateTable('sites').set(clone).where('id', '=', staging).execute()
        const plugin = { title: '', description: '', version: '2.0', status: 'active' } as const
        const plugins = [
          { ...plugin, name: 'forms', file: 'forms/forms.php', update: 'available', updateVersion: '3.0' },
          { ...plugin, name: 'mail', file: 'mail/mail.php', update: 'none', updateVersion: null } as never,
        ] as const
        await storePlugins(tx, shop, { plugins, themes: [] }, Date.now())
        const entry = {
          accountId: owner.accountId,
          siteId: shop,
          message: 'Updated mail from 1.0 to 2.0',
          now: yesterday,
        }
        await recordActivity(tx, 'systems', { action: actions['plugin.updated'], ...entry })
      })
      // An account may not add names below a domain of another one.
      const added = await owner.call('POST', `/v1/sites/${shop}/domains`, { name: `found.${size}-shop.com` })
      expect(added.status).toBe(201)
      const nextId = createLogIds()
      const atMs = Date.now() - DAY_MS / 2
      await api.logs.append('php', [phpRecord({ siteId: shop, atMs, id: nextId() }, readMessage(DAMAGE))])
      const context = await panel.visitor(owner, view)
      page = await context.newPage()
    })

    const button = (name: string | RegExp) =>
      page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })
    const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
    const item = (name: string) => page.getByRole('menuitem', { name, exact: true })
    const rowMenu = () => button(`More actions for a-${size}-shop`).click()
    const openSite = (which = 'shop') => page.getByRole('link', { name: `a-${size}-${which}`, exact: true }).click()
    /** A phone has the most used pages on the overview. */
    const openPart = (name: string) =>
      page
        .getByRole('navigation', { name: isPhone ? 'Quick links' : 'Site' })
        .getByRole('link', { name, exact: true })
        .click()
    const confirmed = (which = 'shop') =>
      page.getByLabel(`Type a-${size}-${which} to confirm`).fill(`a-${size}-${which}`)
    const ordered = (text: string) => page.getByRole('status').getByText(text).first().waitFor()
    const openedTab = async (click: () => Promise<void>) => {
      const opened = page.context().waitForEvent('page')
      await click()
      await (await opened).close()
    }

    interface Task {
      readonly most: number
      /** Where it begins, if not on the list of sites. */
      readonly from?: () => Promise<string>
      walk(): Promise<unknown>
    }
    const tasks: Readonly<Record<string, Task>> = {
      'new site, to its open page': {
        most: 3,
        async walk() {
          await button('New site').first().click()
          await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(`${size}-new`)
          await button('Create site').click()
          await openedTab(() => page.getByRole('link', { name: 'Open site' }).click())
        },
      },
      'back up now': {
        most: 2,
        async walk() {
          await rowMenu()
          await item('Back up database').click()
          await ordered(`Backing up a-${size}-shop`)
        },
      },
      'purge a cache': {
        most: 2,
        async walk() {
          await rowMenu()
          await item('Purge cache').click()
          await ordered(`Cache of a-${size}-shop purged`)
        },
      },
      'maintenance on for 30 sites': {
        most: 4,
        async walk() {
          await page.getByLabel('Name, domain, or tag').fill(`${size}-many`)
          await button(`Select all ${MANY}`).click()
          await page.getByText(`${MANY} sites selected`).waitFor()
          const bar = page.getByRole('region', { name: 'Selected sites' })
          await bar.getByRole('button', { name: 'More', exact: true }).click()
          await item('Turn on maintenance mode').click()
          await page.getByRole('dialog', { name: `Turn on maintenance mode on ${MANY} sites?` }).waitFor()
          await inDialog('Turn on maintenance mode').click()
          await page.getByText(`Turn on maintenance mode: ${MANY} of ${MANY}`).waitFor()
        },
      },
      'find a site by its domain and open WordPress admin': {
        most: 3,
        async walk() {
          await page.getByLabel('Name, domain, or tag').click()
          await page.getByLabel('Name, domain, or tag').fill(`found.${size}-shop.com`)
          await page.getByRole('heading', { name: 'Sites 1' }).waitFor()
          await rowMenu()
          await openedTab(() => item('WordPress admin').click())
        },
      },
      'update all plugins of a site safely': {
        most: 3,
        async walk() {
          await openSite()
          await openPart('Plugins')
          await button('Update all safely: 1 plugin').click()
          await ordered('Update all safely')
        },
      },
      'see why a site was down last night': {
        most: 3,
        async walk() {
          await rowMenu()
          await item('Open PHP log').click()
          await page.getByText('no memory').waitFor()
        },
      },
      'PHP 8.2 to 8.3': {
        most: 4,
        async walk() {
          await openSite()
          await openPart('Caching and PHP')
          await page.getByLabel('PHP 8.3').check()
          await button('Change PHP version').click()
          await ordered('PHP 8.3 is in use')
        },
      },
      "restore yesterday's backup": {
        most: 4,
        async walk() {
          await openSite()
          await openPart('Backups')
          await button(/^Restore .*20/)
            .first()
            .click()
          await page.getByText('Nothing changed since this backup.').waitFor()
          await confirmed()
          await inDialog('Restore').click()
          await ordered(`Restore a-${size}-shop`)
        },
      },
      'undo that restore': {
        most: 2,
        async from() {
          await restoredIn(panel.api, { siteId: shop, accountId: owner.accountId })
          return `sites/${shop}/backups`
        },
        async walk() {
          await button('Undo restore').click()
          await confirmed()
          await inDialog('Undo restore').click()
          await ordered('Undo restore')
        },
      },
      'push staging to live, code only': {
        most: 4,
        async walk() {
          await openSite('staging')
          await openPart('Clone and sync')
          await button(`Push a-${size}-staging to a-${size}-shop`).click()
          await page.getByText('Plugin files – overwritten').waitFor()
          await page.getByText('Media uploads – kept').waitFor()
          await confirmed()
          await inDialog('Overwrite site').click()
          await ordered(`Sync to a-${size}-shop`)
        },
      },
      'add a domain and copy its records': {
        most: 4,
        async walk() {
          await openSite()
          await openPart('Domains')
          await page.getByLabel('Domain', { exact: true }).fill(`new.${size}-shop.com`)
          await button('Add domain').click()
          const steps = page.getByRole('list', { name: `Setup of new.${size}-shop.com` })
          await steps.getByRole('button', { name: 'Copy records' }).first().click()
          await ordered('Records copied')
        },
      },
      'invite a person as Developer': {
        most: 4,
        async walk() {
          await openSite()
          await openPart('People')
          await page.getByLabel('Email address').fill(`developer-${size}@example.com`)
          await page.getByLabel('Developer').check()
          await button('Invite person').click()
          await page
            .getByRole('row', { name: `developer-${size}@example.com` })
            .getByText('Developer', { exact: true })
            .waitFor()
        },
      },
      'roll one plugin back': {
        most: 3,
        async walk() {
          await openSite()
          await openPart('Plugins')
          await button('Roll back to 1.0: mail').click()
          await ordered('Update mail')
        },
      },
      'follow the PHP log': {
        most: 2,
        async walk() {
          await rowMenu()
          await item('Open PHP log').click()
          await expect.poll(() => page.getByLabel('Live', { exact: true }).isChecked()).toBe(true)
        },
      },
      'set up TOTP': {
        most: 4,
        async walk() {
          if (isPhone) await button('More').last().click()
          await page.getByRole('link', { name: 'Profile and security' }).click()
          await button('Set up authenticator app').click()
          const secret = await page.getByRole('dialog').locator('code').textContent()
          await page.getByLabel('Code from the app').fill(codeNow(Date.now(), secret ?? ''))
          await button('Turn on authenticator app').click()
          await page.getByRole('dialog', { name: 'Recovery codes' }).waitFor()
        },
      },
      // the last one, because it signs in as another person
      'first password to first site': {
        most: 5,
        async from() {
          const { accountId } = await panel.api.person(`first-${size}@example.com`)
          return `set-password/${await withLink(panel.api, accountId, size)}`
        },
        async walk() {
          await page.getByLabel('New password').fill(PASSWORD)
          await button('Set password').click()
          await button('New site').first().click()
          await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(`${size}-first`)
          await button('Create site').click()
          await openedTab(() => page.getByRole('link', { name: 'Open site' }).click())
        },
      },
    }

    test.each(Object.entries(tasks))('%s', async (task, { most, from, walk }) => {
      await page.goto(`${panel.url}/#/${from ? await from() : 'sites'}`)
      await page.reload()
      await panel.settled(page)
      const clicks = await clicksOf(page, walk)
      expect(clicks).toBeLessThanOrEqual(most)
      expect(documented.get(task)?.[size]).toBe(clicks)
    })
  })
})
