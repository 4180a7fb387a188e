import { writeFile } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Stead, startStead, until } from '../test/support/stead.ts'
import { requestsPerSecond } from './support/load.ts'
import { memoryMb } from './support/memory.ts'
import { type Figure, median, type Section } from './support/report.ts'
import { addIdleSites } from './support/sites.ts'

const PURGES = 30
const SITES = 10_000
const PAGES = 10
/** Bytes of a page of the ten thousand sites. */
const PAGE = Buffer.from(`<!doctype html><title>A page</title><p>${'word '.repeat(6000)}`)

/**
 * Measures how long a purge takes until no edge process serves the old page, and what the cache keeps of very many
 * sites.
 */
export async function edgeScaleBench(): Promise<Section> {
  return {
    title: 'Edge cache: purges, and ten thousand sites',
    how: `**Purges.** 16 connections, spread over the edge processes, request a PHP page that shows the time, without a pause. Meanwhile the API purges the site ${PURGES} times. The time runs from the purge to the last response with an older page. The API read shows how much of it is the load. The response to the purge shows how much is the write. **Ten thousand sites.** ${SITES} sites with ${PAGES} pages of ${Math.round(PAGE.length / 1000)} kB each are behind two edge processes with the default settings. Visitors choose the n-th site and page in proportion to 1/n. Memory is the Pss of both processes.`,
    figures: [...(await purgeCounts(1)), ...(await purgeCounts(4)), ...(await manySites())],
  }
}

async function purgeCounts(processes: number): Promise<Figure[]> {
  const stead = await startStead({ env: { STEAD_EDGE_PROCESSES: String(processes) } })
  try {
    const id = await stead.createSite({ name: 'bench-purge' })
    const script = "<?php header('Cache-Control: public, max-age=600'); echo microtime(true);"
    await writeFile(join(stead.directoryOf('bench-purge'), 'web/clock.php'), script, { mode: 0o644 })
    const visitors = Array.from({ length: 16 }, () => clockReader(stead))
    let asking = true
    const answers: Answer[] = []
    const loops = visitors.map(async (ask) => {
      while (asking) answers.push(await ask())
    })
    const delays: number[] = []
    const reads: number[] = []
    const orders: number[] = []
    for (let round = 0; round < PURGES; round++) {
      await pause(300)
      reads.push(await timed(() => stead.api('GET', `/v1/sites/${id}/edge-cache`)))
      await pause(100)
      const sentAt = performance.now()
      const madeBefore = Date.now() / 1000
      orders.push(await timed(() => stead.api('DELETE', `/v1/sites/${id}/edge-cache`)))
      await pause(300)
      const old = answers.filter(({ time, endedAt }) => time < madeBefore && endedAt > sentAt)
      delays.push(Math.max(0, ...old.map(({ endedAt }) => endedAt - sentAt)))
      answers.length = 0
    }
    asking = false
    await Promise.all(loops)
    return [
      {
        what: `purge to miss, ${processes} edge process${processes > 1 ? 'es' : ''}, median and longest of ${PURGES}`,
        value: `${median(delays).toFixed(0)} ms, ${Math.max(...delays).toFixed(0)} ms`,
        yardstick: `an API read in the same load: ${median(reads).toFixed(0)} ms; the answer to the purge: ${median(orders).toFixed(0)} ms`,
        aim: processes > 1 ? '20 ms' : '< 1 s',
      },
    ]
  } finally {
    await stead.remove()
  }
}

async function timed(call: () => Promise<{ status: number }>): Promise<number> {
  const startedAt = performance.now()
  const { status } = await call()
  if (status !== 200) throw new Error(`the API has answered ${status}`)
  return performance.now() - startedAt
}

interface Answer {
  /** The Unix time in seconds in the page. */
  readonly time: number
  readonly endedAt: number
}

/** A visitor with their own connection, which stays with one edge process. */
function clockReader(stead: Stead): () => Promise<Answer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { host: `bench-purge.localhost:${stead.edgePort}` }
  return () =>
    new Promise((resolve, reject) => {
      request({ agent, host: '127.0.0.1', port: stead.edgePort, path: '/clock.php', headers }, async (response) => {
        let text = ''
        for await (const chunk of response.setEncoding('latin1')) text += chunk
        if (response.statusCode !== 200) reject(new Error(`the clock was answered with ${response.statusCode}`))
        resolve({ time: Number(text), endedAt: performance.now() })
      })
        .once('error', reject)
        .end()
    })
}

async function manySites(): Promise<Figure[]> {
  let fetched = 0
  const origin = createServer((_request, response) => {
    fetched++
    const headers = { 'content-type': 'text/html; charset=UTF-8', 'content-length': PAGE.length }
    response.writeHead(200, { ...headers, 'x-stead-renderer': 'php' }).end(PAGE)
  }).listen(0, '127.0.0.1')
  const stead = await startStead({ env: { STEAD_EDGE_PROCESSES: '2' } })
  try {
    const before = edgesMb(stead)
    const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
    await addIdleSites(stead, { count: SITES, upstream })
    await until('the sites have routes', async () => (await stead.visit('idle-9999.localhost')).status === 200)
    const load = (seconds: number) =>
      requestsPerSecond({
        url: `http://127.0.0.1:${stead.edgePort}/`,
        script: visitorsOfSites,
        seconds,
        connections: 64,
      })
    await load(30)
    fetched = 0
    const seconds = 20
    const rate = await load(seconds)
    return [
      { what: `visits of ${SITES} sites, a second`, value: rate.toFixed(0) },
      { what: '… answered from the cache', value: `${(100 * (1 - fetched / (rate * seconds))).toFixed(1)} %` },
      {
        what: '… memory of two edge processes, before and after',
        value: `${before.toFixed(0)} MB, ${edgesMb(stead).toFixed(0)} MB`,
      },
    ]
  } finally {
    await stead.remove()
    origin.close()
  }
}

/** Picks the n-th site and its n-th page about in proportion to 1/n. */
const visitorsOfSites = `
local function rank(most) return math.floor(most ^ math.random()) - 1 end
request = function()
  return wrk.format("GET", "/page-" .. rank(${PAGES} + 1) .. "/", { ["Host"] = "idle-" .. rank(${SITES} + 1) .. ".localhost" })
end`

const edgesMb = (stead: Stead): number =>
  stead
    .processes()
    .filter(({ words }) => words.includes('edge'))
    .reduce((sum, { pid }) => sum + memoryMb(pid).pss, 0)
