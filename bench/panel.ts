import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { request as send } from 'undici'
import { testApi } from '../test/support/api.ts'
import { openChromium } from '../test/support/chromium.ts'
import { fillWithMany } from '../test/support/many.ts'
import { moveSession } from '../test/support/move-session.ts'
import { type Figure, percentile, type Section } from './support/report.ts'

const SITES = 10_000
const ROUNDS = 20

/** The time from a click in a browser to its result on the screen, with many sites, and the size of the first page. */
export async function panelBench(): Promise<Section> {
  const api = await testApi('sqlite')
  const browser = await openChromium()
  try {
    await api.database.transaction(async (tx) => {
      await tx.deleteFrom('hosts').execute()
      await fillWithMany(tx, { sites: SITES, collaboratorsASite: 5, logEntriesASite: 10 })
    })
    const owner = await api.person('person-1@example.com')
    await api.app.listen({ port: 0, host: '127.0.0.1' })
    const url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`
    await moveSession(api, owner, url)
    const context = await browser.newContext()
    await context.addCookies([{ name: 'stead_session', value: owner.sessionToken, url }])
    const page = await context.newPage()
    const weighed = await firstLoad(page, `${url}/#/sites`)
    const figures: Figure[] = [
      { what: 'first load: script, with brotli as over HTTPS', value: kB(weighed.packedScript), aim: '45 kB' },
      { what: 'first load: script, with gzip as Chromium requests over HTTP', value: kB(weighed.script) },
      { what: 'first load: everything except API responses', value: kB(weighed.all) },
      { what: `first load to the list of ${SITES} sites`, value: `${weighed.ms.toFixed(0)} ms` },
      await clicks(page, 'next page of the list', 'nav.row button:last-of-type', 'tbody tr'),
      await clicks(page, 'a site, from the list', 'tbody td a.name', '.side nav[aria-label=Site]', () => page.goBack()),
    ]
    return {
      title: 'The control panel',
      how: `Chromium and the API run on one machine, with SQLite and one account with ${SITES} sites. The time runs from a click to the frame that shows the result, ${ROUNDS} times after 3 warm-up clicks, measured in the page.`,
      figures,
    }
  } finally {
    await browser.close()
    await api.close()
  }
}

const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`

interface FirstLoad {
  readonly script: number
  readonly packedScript: number
  readonly all: number
  readonly ms: number
}

async function firstLoad(page: Page, address: string): Promise<FirstLoad> {
  const sizes: Promise<{ isScript: boolean; bytes: number }>[] = []
  const scripts: string[] = []
  page.on('requestfinished', (request) => {
    const type = request.resourceType()
    if (!['document', 'script', 'stylesheet', 'image', 'font', 'other'].includes(type)) return
    if (type === 'script') scripts.push(request.url())
    sizes.push(request.sizes().then((size) => ({ isScript: type === 'script', bytes: size.responseBodySize })))
  })
  const began = performance.now()
  await page.goto(address)
  await page.locator('tbody tr').first().waitFor()
  const ms = performance.now() - began
  await page.waitForLoadState('load')
  const all = await Promise.all(sizes)
  page.removeAllListeners('requestfinished')
  const sum = (some: typeof all) => some.reduce((total, { bytes }) => total + bytes, 0)
  const packed = await Promise.all(scripts.map(bytesWithBrotli))
  return {
    script: sum(all.filter(({ isScript }) => isScript)),
    packedScript: packed.reduce((total, bytes) => total + bytes, 0),
    all: sum(all),
    ms,
  }
}

async function bytesWithBrotli(address: string): Promise<number> {
  const { headers, body } = await send(address, { headers: { 'accept-encoding': 'br' } })
  if (headers['content-encoding'] !== 'br') throw new Error(`${address} was not sent with brotli`)
  return (await body.arrayBuffer()).byteLength
}

/** Clicks the first element of `button`, and waits until the first element of `content` is different. */
async function clicks(
  page: Page,
  what: string,
  button: string,
  content: string,
  back?: () => Promise<unknown>,
): Promise<Figure> {
  const times: number[] = []
  for (let round = -3; round < ROUNDS; round++) {
    await page.locator(button).first().waitFor()
    const ms = await page.evaluate(
      ([button, content]) =>
        new Promise<number>((resolve) => {
          const shown = () => document.querySelector(content as string)?.textContent
          const before = shown()
          const observer = new MutationObserver(() => {
            const now = shown()
            if (now === undefined || now === before) return
            observer.disconnect()
            requestAnimationFrame(() => resolve(performance.now() - began))
          })
          observer.observe(document.body, { subtree: true, childList: true, characterData: true })
          const began = performance.now()
          document.querySelector<HTMLElement>(button as string)?.click()
        }),
      [button, content],
    )
    if (round >= 0) times.push(ms)
    await back?.()
  }
  const [p50, worst] = [percentile(times, 0.5), percentile(times, 1)].map((ms) => ms.toFixed(0))
  return { what, value: `median ${p50} ms, longest ${worst} ms`, aim: '200 ms' }
}
