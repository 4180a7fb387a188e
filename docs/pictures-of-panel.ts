/** Makes docs/images/panel-*.png: `node docs/pictures-of-panel.ts`, where Debian's Chromium is installed. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openChromium } from '../test/support/chromium.ts'
import { startStead } from '../test/support/stead.ts'

/** Pages by the name of their picture. */
const pages: Record<string, string> = {
  sites: 'sites',
  site: 'sites/1',
  backups: 'sites/1/backups',
  logs: 'sites/1/logs',
  settings: 'sites/1/settings',
}

const stead = await startStead({ env: { STEAD_EDGE_LISTEN: '127.0.0.1:8081', STEAD_PREPARED_SITES: '0' } })
const browser = await openChromium()
try {
  for (const name of ['my-shop', 'my-blog', 'staging-shop']) await stead.createSite({ name })
  for (const path of ['/', '/?p=1', '/feed/', '/not-here/']) await stead.visit('my-shop', path)
  const { panel_link: link } = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } })
  await page.goto(link)
  await page.getByLabel('New password').fill('a lamp beside the door')
  await page.getByRole('button', { name: 'Set it, and sign in' }).click()
  await page.getByRole('heading', { level: 1, name: /^Sites/ }).waitFor()
  await page.goto(`${stead.apiUrl}/#/sites/1/backups`)
  await page.getByRole('button', { name: 'Back up the database' }).click()
  await page.getByText('completed').waitFor()
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${stead.apiUrl}/#/${path}`)
    await page
      .locator(`a[aria-current=page][href^="#/${path.split('/')[0]}"]`)
      .first()
      .waitFor()
    await page.waitForFunction(() => !/Loading…/.test(document.querySelector('main')?.textContent ?? '…'))
    const file = join(import.meta.dirname, `images/panel-${name}.png`)
    await page.screenshot({ path: file })
    console.log(`${file}: ${(await stat(file)).size} bytes`)
  }
} finally {
  await browser.close()
  await stead.remove()
}
