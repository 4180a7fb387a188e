/** Makes docs/images/first-site.png: `node docs/picture-of-first-site.ts`, where Debian's Chromium is installed. */
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openChromium } from '../test/support/chromium.ts'
import { startStead } from '../test/support/stead.ts'

const file = join(import.meta.dirname, 'images/first-site.png')
const stead = await startStead({ env: { STEAD_EDGE_LISTEN: '127.0.0.1:8081' } })
const browser = await openChromium()
try {
  await stead.createSite({ name: 'my-first-site' })
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  await page.goto(`http://my-first-site.localhost:${stead.edgePort}`)
  await page.evaluate('document.fonts.ready')
  await mkdir(join(import.meta.dirname, 'images'), { recursive: true })
  await page.screenshot({ path: file })
  console.log(`${file}: ${(await stat(file)).size} bytes`)
} finally {
  await browser.close()
  await stead.remove()
}
