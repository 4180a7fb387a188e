import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Debian's path. */
const executablePath = '/usr/bin/chromium'

export const hasChromium = existsSync(executablePath)

/**
 * Opens a real headless browser that sends no requests of its own.
 * @param directory replaces this user's `$HOME`: the browser trusts the certificates in its `.pki`
 */
export function openChromium(directory?: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    ...(directory !== undefined && { env: { ...(process.env as Record<string, string>), HOME: directory } }),
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** Logs in with the form of wp-login.php, and waits for the dashboard. @throws with the form's error */
export async function logInToWordPress(page: Page, site: string, user: string, password: string): Promise<void> {
  await page.goto(`${site}/wp-login.php`)
  // the form's script takes the focus shortly after loading: text typed at that moment would land in the wrong field
  await page.waitForFunction(() => document.activeElement?.id === 'user_login')
  await page.fill('#user_login', user)
  await page.fill('#user_pass', password)
  await page.click('#wp-submit')
  await page.waitForSelector('#wpadminbar, #login_error')
  const complaint = page.locator('#login_error')
  if (await complaint.count()) throw new Error(`${page.url()}: ${await complaint.textContent()}`)
}
