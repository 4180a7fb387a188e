/**
 * The control panel with an API in this process, whose sites are live in the database only: for tests that need a
 * browser and no WordPress.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type Person, type TestApi, type TestApiOptions, testApi } from './api.ts'
import { openChromium } from './chromium.ts'
import { moveSession } from './move-session.ts'
import { judge } from './panel.ts'

export interface PanelOverRecords {
  readonly api: TestApi
  readonly url: string
  readonly browser: Browser
  /** Problems in any page: failed scripts, violations of the security policy, requests to other hosts. */
  readonly faults: string[]
  /** Opens a separate browser context, signed in as a person or as nobody. */
  visitor(person?: Person, options?: BrowserContextOptions): Promise<BrowserContext>
  /** Opens a page in a separate browser context. */
  open(person: Person | undefined, path: string): Promise<Page>
  /** Waits until a page has got and shows all its data. */
  settled(page: Page): Promise<void>
  /** Checks the page's accessibility for people who do not see, or have no mouse. */
  judge(page: Page): Promise<void>
  /** Cuts all browsers off the network, and reconnects them. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

const PATIENCE_MS = 300_000

declare global {
  interface Window {
    /** Requests in flight: see {@link PanelOverRecords.settled}. */
    requests: number
  }
}

/** Runs in each page before its own scripts: counts its requests until their responses are read. */
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
      // code that waits for it runs first
      setTimeout(() => window.requests--)
    }
  }
  // The panel reads its page again when its connection opens. That reading counts as requested from the beginning.
  window.SharedWorker = class extends SharedWorker {
    constructor(...asked: ConstructorParameters<typeof SharedWorker>) {
      super(...asked)
      window.requests++
      const readSoonMs = 200
      const hasTold = () => setTimeout(() => setTimeout(() => window.requests--, readSoonMs))
      this.port.addEventListener('message', hasTold, { once: true })
    }
  }
}

/** A connection between browsers and the API that can be cut. */
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
  // browsers require a host name for passkeys
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
    async visitor(person, options = {}) {
      const context = await browser.newContext(options)
      context.setDefaultTimeout(PATIENCE_MS)
      await context.addInitScript(countRequests)
      if (person) {
        await moveSession(api, person, url)
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
        // two turns of the event loop: one response may cause another request
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
    judge: (page) => judge({ page }),
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
