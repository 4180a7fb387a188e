/**
 * Does in a real browser what a site's owner does first: views the site, logs in, writes, publishes, and sees the post.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, logInToWordPress, openChromium } from '../support/chromium.ts'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

const core = await testCore()

describe.skipIf(!core || !hasChromium)('in a browser', () => {
  let stead: Stead
  let browser: Browser
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '0' } })
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await stead?.remove()
  })

  test('shows the page without a failed request; the owner logs in, publishes with the block editor, and sees the post', async () => {
    const id = await stead.createSite({ name: 'my-blog' })
    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    const site = `http://my-blog.localhost:${stead.edgePort}`
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    const failed: string[] = []
    page.on('response', (response) => {
      if (response.url().startsWith(site) && response.status() >= 400)
        failed.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(site)
    expect(await page.title()).toBe('my-blog')
    await logInToWordPress(page, site, 'admin', password)
    await page.goto(`${site}/wp-admin/post-new.php`)
    await page.waitForSelector('iframe[name="editor-canvas"], .editor-post-title')
    const frame = page.locator('iframe[name="editor-canvas"]')
    const canvas = (await frame.count()) > 0 ? frame.contentFrame() : page
    await canvas.locator('.editor-post-title').first().waitFor()
    // the editor's welcome dialog covers everything
    const close = page.getByRole('button', { name: 'Close', exact: true })
    if ((await close.count()) > 0) await close.first().click()
    await canvas.locator('.editor-post-title').first().click()
    await page.keyboard.type('Written in a browser')
    await page.keyboard.press('Enter')
    await page.keyboard.type('It works.')
    await page.locator('.editor-post-publish-button__button').click()
    await page.locator('.editor-post-publish-panel .editor-post-publish-button').click()
    await page.locator('.post-publish-panel__postpublish-header').waitFor()
    await page.goto(site)
    await page.getByRole('link', { name: 'Written in a browser' }).first().click()
    await page.getByText('It works.').first().waitFor()
    expect(failed).toEqual([])
  })
})
