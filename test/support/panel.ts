import AxeBuilder from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Stead } from './stead.ts'

/** One Stead and one signed-in browser, shared by the tests that walk through the control panel. */
export interface Panel {
  readonly stead: Stead
  readonly page: Page
}

/** Checks the page's accessibility for people who do not see, or have no mouse. */
export async function judge({ page }: Pick<Panel, 'page'>): Promise<void> {
  // The code of a page may still be loading.
  await page.locator('h1').first().waitFor({ state: 'attached' })
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
}

declare global {
  interface Window {
    /** Clicks since the count began: see {@link clicksOf}. */
    clicks: number | undefined
  }
}

/** Counts the clicks of a task that does not reload the page. A choice from a list is two: opening it, and choosing. */
export async function clicksOf(page: Page, task: () => Promise<unknown>): Promise<number> {
  const before = await page.evaluate(() => {
    const count = (clicks: number) => {
      window.clicks = (window.clicks ?? 0) + clicks
    }
    if (window.clicks === undefined) {
      addEventListener('pointerdown', () => count(1), true)
      addEventListener('change', ({ target }) => target instanceof HTMLSelectElement && count(2), true)
    }
    window.clicks ??= 0
    return window.clicks
  })
  await task()
  return (await page.evaluate(() => window.clicks ?? 0)) - before
}

/** Opens the user menu, and signs out. */
export async function signOut(page: Page): Promise<void> {
  await signedIn(page).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

/** The user menu. */
export const signedIn = (page: Page) => page.getByRole('button', { name: /^Signed in as/ })

/** The name of the open site in the side navigation. */
export const siteNamed = (page: Page, name: string) => page.locator('.side .here', { hasText: name })

/** Opens the panel at a path. */
export const openPage = ({ page, stead }: Panel, path: string) => page.goto(`${stead.apiUrl}/#/${path}`)

/** Checks that nothing scrolls sideways on a phone. */
export async function fitsPhone(panel: Panel, paths: readonly string[]): Promise<void> {
  const { page } = panel
  await page.setViewportSize({ width: 360, height: 740 })
  for (const path of paths) {
    await openPage(panel, path)
    await page.locator(`.side a[aria-current=page][href="#/${path}"]`).waitFor({ state: 'attached' })
    // its script and its data are loaded when it is opened
    await page.waitForFunction(() => !/Loading…/.test(document.querySelector('main')?.textContent ?? '…'))
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360])
  }
  await page.setViewportSize({ width: 1200, height: 800 })
}
