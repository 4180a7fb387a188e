/** The page of all components, for maintainers (`npm run panel:components`): none is left out, and each can be drawn. */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, openChromium } from '../support/chromium.ts'

const root = join(import.meta.dirname, '../..')
const panel = join(root, 'src/panel')
const ADDRESS = 'http://components.test'

/** They need an API, an open page of a site, or are parts of a component that is there. */
const elsewhere = [
  ...['Allowed', 'May', 'Offered', 'SiteRights', 'SitesRights', 'HeadActions', 'Palette', 'ProofDialog'],
  ...['Progress', 'SitePicker', 'ExportCsv', 'Columns', 'RoleBoxes', 'SelectAllRows', 'SelectRow', 'SortHead'],
  ...['SortSelect', 'WrittenLine', 'OperationActions', 'PolicyForm', 'UpdateReport', 'Vulnerabilities'],
]

const textOf = (file: string): string => readFileSync(join(panel, file), 'utf8')

test('the page of components has each component', () => {
  const parts = globSync('parts/*.tsx', { cwd: panel }).map(textOf).join('')
  const named = [...parts.matchAll(/^export (?:const|function) ([A-Z]\w*[a-z]\w*)(?! = createContext)\b/gm)].map(
    ([, name]) => name as string,
  )
  const page = globSync('components/*.tsx', { cwd: panel }).map(textOf).join('')
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !page.includes(`<${name}`) && !elsewhere.includes(name))).toEqual([])
})

describe.skipIf(!hasChromium)('the page of components', () => {
  let browser: Browser
  let page: Page
  let outDir: string
  const faults: string[] = []
  beforeAll(async () => {
    outDir = mkdtempSync(join(tmpdir(), 'stead-components-'))
    const options = { configFile: join(panel, 'vite.config.ts'), mode: 'production' }
    await build({ ...options, root: join(panel, 'components'), build: { outDir, emptyOutDir: true } })
    browser = await openChromium()
    page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage()
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.route(`${ADDRESS}/**`, (route) => {
      const { pathname } = new URL(route.request().url())
      return route.fulfill({ path: join(outDir, pathname === '/' ? 'index.html' : pathname) })
    })
    await page.goto(ADDRESS)
    await page.getByRole('heading', { name: 'Components' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(outDir, { recursive: true, force: true })
    expect(faults).toEqual([])
  })

  test.each([
    { width: 1440, colorScheme: 'dark' },
    { width: 320, colorScheme: 'light' },
  ] as const)('is drawn at $width px in $colorScheme colors, without what keeps people out', async (view) => {
    await page.setViewportSize({ width: view.width, height: 900 })
    await page.emulateMedia({ colorScheme: view.colorScheme })
    // components of one kind have the same names here
    const { violations } = await new AxeBuilder({ page }).disableRules('landmark-unique').analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(view.width)
    const specimens = await page.locator('.specimen').all()
    expect(specimens.length).toBeGreaterThan(15)
    for (const specimen of specimens) expect((await specimen.boundingBox())?.height).toBeGreaterThan(40)
    const { TEST_PICTURES } = process.env
    await page.screenshot({
      fullPage: true,
      ...(TEST_PICTURES && { path: join(TEST_PICTURES, `components-${view.width}-${view.colorScheme}.png`) }),
    })
  })
})
