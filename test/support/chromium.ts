import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Where Debian keeps it. */
const executablePath = '/usr/bin/chromium'

export const hasChromium = existsSync(executablePath)

/**
 * A real browser without a window, that calls nobody by itself.
 * @param directory folder in place of this user's own: what is in its `.pki` is trusted
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

/** Logs in by the form of wp-login.php, and waits for the dashboard. @throws what the form complains of */
export async function logInToWordPress(page: Page, site: string, user: string, password: string): Promise<void> {
  await page.goto(`${site}/wp-login.php`)
  // the form's script takes the focus a while after loading: what is being typed then would land in the wrong field
  await page.waitForFunction(() => document.activeElement?.id === 'user_login')
  await page.fill('#user_login', user)
  await page.fill('#user_pass', password)
  await page.click('#wp-submit')
  await page.waitForSelector('#wpadminbar, #login_error')
  const complaint = page.locator('#login_error')
  if (await complaint.count()) throw new Error(`${page.url()}: ${await complaint.textContent()}`)
}
