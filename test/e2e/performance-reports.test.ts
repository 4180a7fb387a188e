/** What Lighthouse and a real Chromium report of a real site, automatically and on request. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findModules } from '../../src/hosting/page-measure/measure-page.ts'
import { findAbilities } from '../../src/hosting/php/wasm/containment.ts'
import { hasChromium } from '../support/chromium.ts'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()
const { bubblewrap } = await findAbilities('auto')
const MINUTES = 900_000

describe.skipIf(!core || !hasChromium || !bubblewrap || !findModules())('performance reports', () => {
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PERFORMANCE_REPORT_HOURS: '24' } })
    id = await stead.createSite({ name: 'measured' })
  })
  afterAll(() => stead?.remove())

  const latest = async () => (await stead.api('GET', `/v1/sites/${id}/reports/performance/latest`)).body.data

  const picture = async (path: string) => {
    const { client_id, client_secret } = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const token = (await (await fetch(`${stead.apiUrl}/auth/token`, { method: 'POST', body })).json()) as {
      access_token: string
    }
    const response = await fetch(stead.apiUrl + path, { headers: { authorization: `Bearer ${token.access_token}` } })
    const bytes = Buffer.from(await response.arrayBuffer())
    return [response.headers.get('content-type'), bytes.toString('hex', 0, 3)]
  }

  test(
    'are created with a screenshot when a site goes live, and on request',
    async () => {
      const report = await until('a report by itself', latest, MINUTES / 2)
      for (const half of [report.desktop_report, report.mobile_report]) {
        expect(half).toMatchObject({ performance_title: 'Performance', speed_index_numeric_unit: 'millisecond' })
        expect(half.final_url).toBe(`http://measured.localhost:${stead.edgePort}/`)
        expect(half.performance_score).toBeGreaterThan(0)
        expect(Number(half.largest_contentful_paint_numeric_value)).toBeGreaterThan(0)
        // a thumbnail needs a token
        expect((await fetch(stead.apiUrl + half.thumbnail_location)).status).toBe(401)
        expect(await picture(half.thumbnail_location)).toEqual(['image/jpeg', 'ffd8ff'])
      }
      const ordered = await stead.api('POST', `/v1/sites/${id}/reports/performance`)
      expect(ordered.status).toBe(200)
      const ended = await stead.ended(String(ordered.headers.get('operation-id')), MINUTES / 2)
      expect([ended.state, ended.error]).toEqual(['succeeded', null])
      const newer = await latest()
      expect(newer.mobile_report.created_at > report.mobile_report.created_at).toBe(true)
    },
    MINUTES,
  )

  test(
    'are no visits: the log of visitors has none of them',
    async () => {
      const lines = await until('a visit in the log', async () => {
        await stead.visit('measured', '/?a-visitor')
        const { logs } = (await stead.api('GET', `/v1/sites/${id}/logs/server`)).body.data
        return logs.length > 0 && logs
      })
      const paths = lines.map((line: { request_url: string }) => line.request_url)
      expect(new Set(paths)).toEqual(new Set(['/?a-visitor']))
    },
    MINUTES,
  )
})
