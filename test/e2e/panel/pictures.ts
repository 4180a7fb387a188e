/**
 * A screenshot of each page for the documentation. `npm run docs:pictures` takes them again, and no page may lack one.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPage, type Panel } from '../../support/panel.ts'

const folder = join(import.meta.dirname, '../../../docs/images')
const isTaken = process.env.STEAD_TAKE_PICTURES === '1'

/** `sites/1/logs`: `site-logs`. */
const nameOf = (path: string): string => path.replace(/^(\w+)s\/\d+/, '$1').replaceAll('/', '-')

/** @param using signed in, with a site of this name */
export function pictures(using: () => Panel, name: string): void {
  test('has a screenshot of each page in the documentation', async () => {
    const panel = using()
    const { page } = panel
    const site = await siteNamed(panel, name)
    if (isTaken) await furnish(panel, site)
    const paths = ['sites', 'zones', 'monitoring', 'alerts', 'plugins', 'operations', 'activity', 'platform']
    for (const [path, nav] of [
      [`sites/${site}/overview`, 'Site'],
      ['account/you', 'Account'],
    ] as const) {
      await openPage(panel, path)
      const links = page.getByRole('navigation', { name: nav }).getByRole('link')
      await links.first().waitFor()
      paths.push(...(await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).hash.slice(2)))))
    }
    const { data: zones } = (await panel.stead.api('GET', '/v1/zones')).body
    paths.push(`zones/${zones[0]?.id ?? 0}`)
    expect(paths.length).toBeGreaterThan(20)
    const files = paths.map((path) => join(folder, `panel-${nameOf(path)}.png`))
    if (isTaken)
      for (const [index, path] of paths.entries()) {
        await openPage(panel, path)
        await page.waitForFunction(() => !/Loading…/.test(document.querySelector('main')?.textContent ?? '…'))
        await page.waitForTimeout(500)
        await page.screenshot({ path: files[index] as string })
      }
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })
}

async function siteNamed({ stead }: Panel, name: string): Promise<number> {
  const { data } = (await stead.api('GET', '/v1/sites')).body
  return data.find((site: { displayName: string }) => site.displayName === name).id
}

/** Creates what an account has after a while. */
async function furnish({ stead, page }: Panel, site: number): Promise<void> {
  for (const path of ['/', '/hello-world/', '/sample-page/', '/nothing-here/', '/wp-login.php'])
    await stead.visit('my-shop', path)
  await page.setViewportSize({ width: 1200, height: 800 })
  const asked: readonly [method: string, path: string, body: object][] = [
    ['POST', `/v1/sites/${site}/tags`, { tag_names: ['client: Anna', 'shop'] }],
    ['POST', `/v1/sites/${site}/notes`, { subject: 'Whom to call', body: 'Anna, in the mornings' }],
    ['POST', `/v1/sites/${site}/domains`, { name: 'my-shop.test' }],
    [
      'POST',
      `/v1/sites/${site}/collaborators`,
      { email: 'colleague@example.com', roles: ['wp_access', 'sftp_access'] },
    ],
    ['POST', `/v1/sites/${site}/ondemand-backups`, { backup_type: 'fs' }],
  ]
  for (const [method, path, body] of asked) {
    const { status, headers } = await stead.api(method, path, body)
    expect([path, status < 300]).toEqual([path, true])
    const operation = headers.get('operation-id')
    if (operation) await stead.ended(operation)
  }
}
