/** MariaDB that is killed while visitors come: they get 503 with Retry-After, and cached pages are served. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { nativeAndMariaDb, settingsOf } from '../support/native-mariadb.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import type { Page } from '../support/visit.ts'

const core = await testCore()
const { skip, phpVersion } = nativeAndMariaDb
/** After each kill the server takes longer to restart. */
const KILLS = 4

describe.skipIf(!core || skip)('an unavailable MariaDB', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { ...settingsOf, STEAD_PREPARED_SITES: '0' } })
    await stead.createSite({ name: 'served', php_version: phpVersion })
  })
  afterAll(() => stead?.remove())

  const servers = () => stead.processes().filter(({ words }) => words[0]?.endsWith('mariadbd'))
  /** A page that is not in the cache. */
  const uncached = () => stead.visit('served', `/?n=${Math.random()}`)
  const isHit = ({ headers }: Page) => String(headers['cache-status']).includes('; hit')

  test('makes pages answer 503 with Retry-After, leaves cached ones available, and restarts automatically', async () => {
    await until('the front page is cached', async () => isHit(await stead.visit('served')))
    const pages: Page[] = []
    const visit = async () => {
      const [page, cached] = await Promise.all([uncached(), stead.visit('served')])
      pages.push(page)
      expect([cached.status, isHit(cached)]).toEqual([200, true])
      return page
    }
    for (let kill = 1; kill <= KILLS; kill++) {
      for (const { pid } of servers()) process.kill(pid, 'SIGKILL')
      await until(`a visitor is turned away, ${kill}`, async () => (await visit()).status === 503)
      await until(`it is back, ${kill}`, async () => (await visit()).text.includes('<title>served</title>'))
    }
    expect([...new Set(pages.map(({ status }) => status))].sort()).toEqual([200, 503])
    for (const { status, headers } of pages)
      if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    await until('the API is ready', async () => (await fetch(`${stead.apiUrl}/readyz`)).status === 200)
  })
})
