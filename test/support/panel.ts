import AxeBuilder from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Stead } from './stead.ts'

/** One Stead and one browser, signed in, for all who walk through the control panel. */
export interface Panel {
  readonly stead: Stead
  readonly page: Page
}

/** Nothing on the page is in the way of who does not see, or has no mouse. */
export async function judge({ page }: Pick<Panel, 'page'>): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
}

declare global {
  interface Window {
    /** Since they were first counted: see {@link clicksOf}. */
    clicks: number | undefined
  }
}

/** Counts the clicks of a task, as long as the page is not loaded again. */
export async function clicksOf(page: Page, task: () => Promise<unknown>): Promise<number> {
  const before = await page.evaluate(() => {
    if (window.clicks === undefined)
      addEventListener('pointerdown', () => (window.clicks = (window.clicks ?? 0) + 1), true)
    window.clicks ??= 0
    return window.clicks
  })
  await task()
  return (await page.evaluate(() => window.clicks ?? 0)) - before
}

/** Opens the menu of the person, and signs out. */
export async function signOut(page: Page): Promise<void> {
  await signedIn(page).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

/** The menu of the person who is signed in. */
export const signedIn = (page: Page) => page.getByRole('button', { name: /^Signed in as/ })

/** The name of the site whose pages are open, beside them. */
export const siteNamed = (page: Page, name: string) => page.locator('.side .here', { hasText: name })

/** The page at an address of the panel. */
export const openPage = ({ page, stead }: Panel, path: string) => page.goto(`${stead.apiUrl}/#/${path}`)

/** Nothing needs to be scrolled sideways on a phone. */
export async function fitsPhone(panel: Panel, paths: readonly string[]): Promise<void> {
  const { page } = panel
  await page.setViewportSize({ width: 360, height: 740 })
  for (const path of paths) {
    await openPage(panel, path)
    await page.locator(`.side a[aria-current=page][href="#/${path}"]`).waitFor({ state: 'attached' })
    // its script and what it shows are fetched when it is opened
    await page.waitForFunction(() => !/Loading…/.test(document.querySelector('main')?.textContent ?? '…'))
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360])
  }
  await page.setViewportSize({ width: 1200, height: 800 })
}
