/** The control panel over an API in this process, whose sites are live in the records and nowhere else: for what needs a browser and no WordPress. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import AxeBuilder from '@axe-core/playwright'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { sessionHash } from '../../src/resources/sessions/session.ts'
import { type Person, type TestApi, type TestApiOptions, testApi } from './api.ts'
import { openChromium } from './chromium.ts'

export interface PanelOverRecords {
  readonly api: TestApi
  readonly url: string
  readonly browser: Browser
  /** What went wrong in any page: scripts that failed, the policy that was broken, requests to anywhere else. */
  readonly faults: string[]
  /** A browser of its own, signed in as somebody, or nobody. */
  visitor(person?: Person): Promise<BrowserContext>
  /** A page in a browser of its own. */
  open(person: Person | undefined, path: string): Promise<Page>
  /** Waits until a page has all that it asked for, and shows it. */
  settled(page: Page): Promise<void>
  /** Nothing on the page is in the way of who does not see, or has no mouse. */
  judge(page: Page): Promise<void>
  /** Takes the network away from all browsers, and gives it back. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

const PATIENCE_MS = 300_000

declare global {
  interface Window {
    /** How many the page waits for: see {@link PanelOverRecords.settled}. */
    requests: number
  }
}

/** In each page, before anything of it: counts its requests until their answers are read. */
function countRequests(): void {
  window.requests = 0
  const { fetch } = window
  window.fetch = async (...asked) => {
    window.requests++
    try {
      const answer = await fetch(...asked)
      await answer.clone().arrayBuffer()
      return answer
    } finally {
      // whoever waits for it goes first
      setTimeout(() => window.requests--)
    }
  }
}

/** Between browsers and the API: a line that can be cut. */
async function line(to: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy()
    const api = connect(to, '127.0.0.1')
    for (const each of [socket, api]) {
      sockets.add(each)
      each.on('error', () => each.destroy()).on('close', () => sockets.delete(each))
    }
    socket.pipe(api).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut: end,
    mend() {
      isCut = false
    },
    close() {
      end()
      server.close()
    },
  }
}

export async function panelOverRecords(options: TestApiOptions = {}): Promise<PanelOverRecords> {
  const api = await testApi('sqlite', options)
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  const between = await line((api.app.server.address() as AddressInfo).port)
  // a name: browsers give passkeys to no bare address
  const url = `http://localhost:${between.port}`
  const browser = await openChromium()
  const faults: string[] = []

  function watch(page: Page): void {
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== url) faults.push(request.url())
    })
  }

  const panel: PanelOverRecords = {
    api,
    url,
    browser,
    faults,
    async visitor(person) {
      const context = await browser.newContext()
      context.setDefaultTimeout(PATIENCE_MS)
      await context.addInitScript(countRequests)
      if (person) {
        // a session counts only at the address where it began
        await api.database.transaction((tx) =>
          tx
            .updateTable('sessions')
            .set({ origin: url })
            .where('token_hash', '=', sessionHash(person.sessionToken))
            .execute(),
        )
        await context.addCookies([{ name: 'stead_session', value: person.sessionToken, url }])
      }
      context.on('page', watch)
      return context
    },
    async open(person, path) {
      const page = await (await panel.visitor(person)).newPage()
      await page.goto(`${url}/#/${path}`)
      return page
    },
    async settled(page) {
      const isCalm = await page.evaluate(async (forMs) => {
        const end = performance.now() + forMs
        // for two turns of the page: one answer may ask for another
        for (let calm = 0; calm < 2; ) {
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
          const isReading = /Loading…/.test(document.body.textContent)
          calm = window.requests === 0 && !isReading ? calm + 1 : 0
          if (performance.now() > end) return false
        }
        return true
      }, PATIENCE_MS)
      if (!isCalm) throw new Error(`${page.url()} goes on reading: ${await page.locator('body').textContent()}`)
    },
    async judge(page) {
      const { violations } = await new AxeBuilder({ page }).analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
    },
    cut: between.cut,
    mend: between.mend,
    async close() {
      await browser.close()
      between.close()
      await api.close()
    },
  }
  return panel
}
