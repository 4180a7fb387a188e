/**
 * An installation on PostgreSQL is upgraded without a failed request: the newest control starts beside an old one, both
 * answer while it migrates, and then the old program ends. It finds migrations that break the program before them
 * (docs/design/house.md).
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { hasPostgres, type PostgresCluster, startPostgres } from '../support/postgres-cluster.ts'
import { prepareStead, program, type Stead, showOutputOfFailures, until } from '../support/stead.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
/** An ancestor whose database is some migrations behind, and that runs with the packages of today. */
const BEFORE_RELEASES = '8e42a31e'
/** Reads that run PHP of the site. Its host stops with the old program. */
const ofHost = /\/(?:plugins|disconnect-ssh)$/
const core = await testCore()
const old = oldCommit()

/** Returns the newest release, or a commit from before the first one. Undefined in a clone without history. */
function oldCommit(): string | undefined {
  const git = (...words: string[]): string | undefined => {
    try {
      return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    } catch {
      return undefined
    }
  }
  return (
    git('describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^') ??
    git('rev-parse', '--verify', `${BEFORE_RELEASES}^{commit}`)
  )
}

describe.skipIf(!core || !hasPostgres || !old)('an upgrade beside the old version', { timeout: 600_000 }, () => {
  let folder: string
  let postgres: PostgresCluster
  /** The command of the first installation: the old program, later the newest. */
  let command: string[]
  let first: Stead
  let second: Stead
  let siteId: number
  let token: string
  showOutputOfFailures(() => first)
  showOutputOfFailures(() => second)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-old-program-'))
    const archive = 'git archive "$1" bin src migrations openapi third-party package.json | tar -x -C "$2"'
    await run('sh', ['-c', archive, 'sh', old as string, folder], { cwd: root })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    postgres = (await startPostgres({ isSafe: false })) as PostgresCluster
    const env = { STEAD_DATABASE_URL: postgres.url, STEAD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
    command = [process.execPath, join(folder, 'bin/stead.js'), 'serve']
    first = await prepareStead({ env, launch: command })
    const sameEdge = { STEAD_EDGE_LISTEN: `127.0.0.1:${first.edgePort}` }
    const launch = [process.execPath, program, 'control']
    second = await prepareStead({ env: { ...env, ...sameEdge }, golden: false, launch })
    await first.start()
    siteId = await first.createSite({ name: 'kept' })
    token = await first.freshToken()
  }, 600_000)
  afterAll(async () => {
    await second?.remove()
    await first?.remove()
    await postgres?.remove()
    await rm(folder, { recursive: true, force: true })
  })

  test('answers every request of the API and of visitors', async () => {
    const { paths } = JSON.parse(await readFile(join(folder, 'openapi/openapi.json'), 'utf8'))
    const reads = readsOf(paths, siteId)
    const failures: string[] = []
    const ofOld = new Loop(() => callAll(first.apiUrl, token, siteId, reads, failures))
    const ofVisitors = new Loop(async (round) => {
      const { status } = await first.visit('kept', `/?s=${round}`)
      if (status !== 200) failures.push(`the site: ${status}`)
    })
    await ofOld.runs(1)
    // The second program migrates while the first one answers.
    await second.start()
    const ofNew = new Loop(() => callAll(second.apiUrl, token, siteId, reads, failures))
    await ofOld.runs(2)
    await ofNew.runs(2)
    const created = await call(second.apiUrl, token, 'POST', '/v1/sites', { name: 'by-the-new-control' })
    expect(created.status, created.text).toBe(201)
    await first.live(JSON.parse(created.text).data.id)

    // As a load balancer does: no new requests for a program that stops.
    await Promise.all([ofOld.end(), ofVisitors.end()])
    await first.stop()
    await ofNew.runs(1)
    await ofNew.end()
    expect([...new Set(failures)]).toEqual([])
  })

  test('continues with the newest host and edge', async () => {
    command[1] = program
    await first.start()
    for (const name of ['kept', 'by-the-new-control'])
      expect((await first.visit(name)).text).toContain(`<title>${name}</title>`)
    expect((await call(second.apiUrl, token, 'GET', `/v1/sites/${siteId}`)).status).toBe(200)
  })
})

/** Repeats a task without a pause until it is ended. */
class Loop {
  rounds = 0
  #isEnding = false
  readonly #ended: Promise<void>
  constructor(task: (round: number) => Promise<unknown>) {
    this.#ended = (async () => {
      while (!this.#isEnding) {
        await task(this.rounds)
        this.rounds++
      }
    })()
  }
  /** Waits until that many rounds have begun and ended from now on. */
  async runs(rounds: number): Promise<void> {
    const enough = this.rounds + 1 + rounds
    await until(`${rounds} rounds`, () => this.rounds >= enough)
  }
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#ended
  }
}

/** Every request that reads JSON, and some that write. A read may be refused, but must not fail. */
async function callAll(api: string, token: string, site: number, reads: readonly string[], failures: string[]) {
  for (const path of reads) {
    const { status, text } = await call(api, token, 'GET', path)
    if (status >= 500) failures.push(`GET ${path}: ${status} ${text.slice(0, 300)}`)
  }
  const write = async (method: string, path: string, body?: object) => {
    const { status, text } = await call(api, token, method, path, body)
    if (status >= 200 && status <= 299) return text ? JSON.parse(text).data : undefined
    failures.push(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
  }
  const note = await write('POST', `/v1/sites/${site}/notes`, { subject: 'Contract', body: 'Renew it' })
  await write('DELETE', `/v1/sites/${site}/notes/${note?.id}`)
  await write('POST', `/v1/sites/${site}/tags`, { tag_names: ['clients'] })
  const webhook = await write('POST', '/v1/webhooks', { url: 'https://hooks.example.org/stead' })
  await write('DELETE', `/v1/webhooks/${webhook?.id}`)
}

/** Returns the paths of requests that read JSON of the account or of a site. */
function readsOf(paths: Record<string, { get?: OpenApiOperation }>, site: number): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const filled = path.replace(/^\/v1\/sites\/\{(?:id|site_id)\}/, `/v1/sites/${site}`)
    const needs = get?.parameters?.some(({ in: place, required }) => place === 'query' && required)
    const isRead =
      get?.responses[200]?.content?.['application/json'] && !needs && !/\{/.test(filled) && !ofHost.test(filled)
    return isRead ? [filled] : []
  })
}

interface OpenApiOperation {
  readonly parameters?: readonly { readonly in: string; readonly required?: boolean }[]
  readonly responses: Readonly<Record<number, { readonly content?: Readonly<Record<string, unknown>> }>>
}

/** @returns status 599 without an answer */
async function call(api: string, token: string, method: string, path: string, body?: object) {
  try {
    const reply = await fetch(`${api}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: reply.status, text: await reply.text() }
  } catch (error) {
    return { status: 599, text: String((error as Error).cause ?? error) }
  }
}
