/**
 * Sends requests created from the OpenAPI document: valid, invalid and garbage. The document describes each answer,
 * none is an internal error, a refusal leaves nothing behind, and the process does not grow. `FUZZ_REQUESTS` is their
 * number (`npm run fuzz`: a million), `FUZZ_SEED` the start. A failure prints the seed that reproduces it.
 */
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enqueue } from '../../src/platform/operations/enqueue.ts'
import { withReleases } from '../../src/resources/cms-version/cms-version.fixture.ts'
import { configureSite } from '../../src/resources/sites/switches/configure-site.job.ts'
import { atLength } from '../support/at-length.ts'
import { dialects } from '../support/database.ts'
import { openGc } from '../support/gc.ts'
import { type RowChanges, recordRowChanges } from '../support/row-changes.ts'
import { type Document, garbage, type Known, requestMaker } from './fuzz-requests.ts'
import { apiEndpoints, type Walk, walk } from './walk.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? atLength(10_000, 30_000))
const SEED = Number(process.env.FUZZ_SEED ?? 1)
const AT_ONCE = 16
/** Requests that share a site. Then a new site follows, because the old one may be deleted. */
const OF_A_SCENE = 500
const HOURS = 3_600_000

/** Finds the endpoint of a request. It may not be the one that created it, because empty segments are skipped. */
const routes = apiEndpoints.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
}))

describe.each(dialects.filter(({ skip }) => !skip))('requests from the document on $dialect', ({ dialect }) => {
  const many = dialect === 'sqlite' ? REQUESTS : Math.ceil(REQUESTS / 50)
  let tour: Walk
  let recorded: RowChanges
  let make: ReturnType<typeof requestMaker>
  beforeAll(async () => {
    tour = await inMemory(() => walk(dialect))
    await withReleases(tour.api, '6.9', '7.0-beta1')
    make = requestMaker(tour.api.app.swagger() as unknown as Document)
    recorded = await recordRowChanges(tour.api.database)
  })
  afterAll(() => tour.close())

  async function send(seed: number, known: Known): Promise<number> {
    const { operationId, request } = make(seed, known)
    const shown = `FUZZ_SEED=${seed}: ${JSON.stringify({ operationId, ...request }).slice(0, 2000)}`
    // Resolves dots as every client does.
    const path = new URL(`http://x${request.url}`).pathname.replace(/\/{2,}/g, '/')
    const found = routes.filter((route) => route.endpoint.method === request.method && route.pattern.test(path))
    // The endpoint with the fewest parameters, like the router.
    const [meant] = found.toReversed().toSorted((one, other) => parameters(one) - parameters(other))
    try {
      if (meant) {
        const response = await tour.send(meant.endpoint, request)
        // Services that this test lacks are reported as missing. Any other 5xx is a fault.
        if (response.statusCode >= 500)
          expect(response.body).toMatch(
            /is ready for a new site|The site does not answer right now|lost a part of it|still searching for this part/,
          )
        return response.statusCode
      }
      const response = await tour.api.app.inject(request)
      expect([400, 404, 405, 413, 415], response.body.slice(0, 300)).toContain(response.statusCode)
      return response.statusCode
    } catch (error) {
      throw new Error(`${shown}\n${(error as Error).message}`)
    }
  }

  it(`${many.toLocaleString('en')} answers are as described, and the heap does not grow`, { timeout: 0 }, async () => {
    const gc = openGc()
    const heap: number[] = []
    const resident: number[] = []
    const counts = new Map<number, number>()
    for (let done = 0; done < many; done += OF_A_SCENE) {
      const known = await scenery(tour)
      const seeds = Array.from({ length: Math.min(OF_A_SCENE, many - done) }, (_, index) => SEED + done + index)
      const next = seeds.values()
      const worker = async () => {
        for (const seed of next) {
          const status = await send(seed, known)
          counts.set(status, (counts.get(status) ?? 0) + 1)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
      if (done % (OF_A_SCENE * 10) === 0) {
        gc()
        heap.push(process.memoryUsage().heapUsed >> 20)
        resident.push(process.memoryUsage.rss() >> 20)
      }
    }
    console.log(
      `answers ${JSON.stringify(Object.fromEntries(counts))}, heap after each 5,000 requests (MB): ${heap.join(' ')}, resident: ${resident.join(' ')}`,
    )
    expect(counts.get(200) ?? 0).toBeGreaterThan(many / 20)
    // Caches (statements, tokens, times) are full after a third.
    const later = heap.slice(Math.ceil(heap.length / 3))
    if (later.length > 3) expect((later.at(-1) as number) - (later[0] as number)).toBeLessThan(20)
  })

  it('a refusal leaves nothing behind', async () => {
    const known = await scenery(tour)
    await tour.settled()
    for (let seed = SEED + many; seed < SEED + many + 1500; seed++) {
      const before = await recorded.mark()
      // A claimed idempotency key and a stored answer remain on purpose.
      const { request } = make(seed, known)
      const status = await send(seed, known)
      if (status >= 400 && !request.headers?.['idempotency-key'] && !leavesSomething(String(request.url)))
        expect(await recorded.mark(), `FUZZ_SEED=${seed}: ${JSON.stringify(request).slice(0, 2000)} ${status}`).toBe(
          before,
        )
      else await tour.settled()
    }
  })
})

describe('input that is not HTTP', () => {
  it('gets a refusal or the end of its connection, and the next request is served', async () => {
    const tour = await inMemory(() => walk('sqlite'))
    const port = Number(new URL(await tour.api.app.listen({ host: '127.0.0.1', port: 0 })).port)
    const answers = new Map<string, number>()
    for (let first = SEED; first < SEED + 3000; first += 50) {
      const seeds = Array.from({ length: 50 }, (_, index) => first + index)
      for (const [index, lines] of (await Promise.all(seeds.map((seed) => talk(port, garbage(seed))))).entries())
        for (const line of lines) {
          expect(line, `FUZZ_SEED=${seeds[index]}`).toMatch(/^HTTP\/1\.1 (100|200|204|4\d\d|501|505) /)
          answers.set(line, (answers.get(line) ?? 0) + 1)
        }
    }
    expect(answers.size).toBeGreaterThan(3)
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
    await tour.close()
  })
})

const parameters = ({ endpoint }: (typeof routes)[number]): number => endpoint.path.split('{').length

/** @returns the status lines of the answers until the server ends the connection, or is silent */
function talk(port: number, bytes: Buffer): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text.match(/^HTTP\/1\.1 \d{3} /gm) ?? []))
    // The connection is half-closed: an incomplete request stays incomplete.
    socket.end(bytes)
    socket.setTimeout(2000, () => socket.destroy())
  })
}

/** A site with things on it, and other things that requests can name. */
async function scenery(tour: Walk): Promise<Known> {
  const scene = await tour.scene()
  const { api, owner, friend, siteId, collaboratorId } = scene
  // Valid requests delete whole sites, so they get other sites than the one with notes and collaborators.
  const spare: number[] = []
  for (let index = 0; index < 6; index++) spare.push(await api.site(owner, `spare-${scene.number}-${index}`))
  const note = await owner.call('POST', `/v1/sites/${siteId}/notes`, { subject: 'Subject', body: 'Body' })
  const target = { siteId, accountId: owner.accountId, hostId: 1, runAt: Date.now() + 24 * HOURS }
  const [ended, failed] = await api.database.transaction(async (tx) => {
    const ids = [
      await enqueue(tx, configureSite, { siteId }, target),
      await enqueue(tx, configureSite, { siteId }, target),
    ]
    for (const [index, state] of (['succeeded', 'failed'] as const).entries())
      await tx
        .updateTable('operations')
        .set({ state, finished_at: Date.now() })
        .where('id', '=', ids[index] as number)
        .execute()
    return ids as [number, number]
  })
  const ids: Record<string, readonly (string | number)[]> = {
    notes: [note.body.data.id],
    collaborators: [collaboratorId],
    collaborations: [collaboratorId],
    operations: [ended, failed],
  }
  return {
    tokens: [owner.token, owner.token, friend.token, tour.stranger.token],
    values(path, name) {
      if (name === 'email_address') return [friend.email]
      if (name === 'collaborator_id') return [collaboratorId]
      const before = path
        .slice(0, path.indexOf(`{${name}}`))
        .split('/')
        .at(-2) as string
      return ids[before] ?? (path === `/v1/sites/{${name}}` ? spare : [siteId])
    },
    texts: [
      friend.email,
      `new-${scene.number}@example.com`,
      `site-${scene.number}`,
      'client_credentials',
      owner.clientId,
      owner.clientSecret,
      'name',
      'tag',
      '2026-01-01',
      '8.2',
    ],
  }
}

/** Puts databases into memory if there is such a folder: this test does not check durability. */
async function inMemory<Result>(work: () => Promise<Result>): Promise<Result> {
  const usual = process.env.TMPDIR
  if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
  try {
    return await work()
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
}

/** Counted wrong passwords, and the operation that reads the plugins of a site. */
const leavesSomething = (url: string): boolean =>
  /^\/+v1\/+(session|password|sites\/+\d+\/+(plugins|safe-updates))/.test(url)
