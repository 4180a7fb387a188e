/** A web server with one small site on a free port, and requests as an edge sends them. */
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { hostBudgets } from '../../budgets.ts'
import { readConfig } from '../../config.ts'
import { type BudgetTerms, openBudgets } from '../../platform/budgets/budget.ts'
import type { VisitorRequest } from '../php/pool/pool.ts'
import type { PhpResponse } from '../php/runtime.ts'
import { HeldAnswers } from './held-answers.ts'
import type { HostedSite, PhpHandler } from './hosted-site.ts'
import { createWebServer, type WebServerOptions } from './web-server.ts'

export const KEY = 'the-key-of-this-host'

export type Handle = (request: VisitorRequest, signal?: AbortSignal) => PhpResponse | Promise<PhpResponse>

/** Returns a response of PHP, in one piece. */
export const ok = (body = 'php', headers: string[] = [], status = 200): PhpResponse => ({
  status,
  headers,
  body: Readable.from([Buffer.from(body)]),
})

const log = { warn() {}, error() {} }

const none: WebServerOptions['firstPages'] = { take: async () => undefined }

export type TestBudgets = ReturnType<typeof testBudgets>

/** Returns the budgets of a host, with these changes. */
export function testBudgets(change: { [Name in keyof ReturnType<typeof hostBudgets>]?: Partial<BudgetTerms> } = {}) {
  const table = hostBudgets(readConfig({}))
  const entries = Object.entries(table).map(([name, terms]) => [
    name,
    { ...terms, ...change[name as keyof typeof table] },
  ])
  return openBudgets(Object.fromEntries(entries) as typeof table)
}

export interface TestSite {
  readonly folder: string
  /** Sites whose PHP was requested to start. */
  readonly woken: readonly number[]
  /** Whether the site's PHP runs. */
  isAwake: boolean
  /** Starts the server. PHP answers with `handle`. */
  start(
    handle?: Handle,
    mostBodyBytes?: number,
    budgets?: TestBudgets,
    more?: Partial<HostedSite>,
    firstPages?: WebServerOptions['firstPages'],
    isDatabaseAway?: WebServerOptions['isDatabaseAway'],
    htaccess?: WebServerOptions['htaccess'],
  ): Promise<number>
  remove(): Promise<void>
}

export async function createTestSite(): Promise<TestSite> {
  const base = await mkdtemp(join(tmpdir(), 'stead-web-'))
  await mkdir(join(base, 'home/web/wp-content/uploads'), { recursive: true })
  await mkdir(join(base, 'core/wp-admin'), { recursive: true })
  await writeFile(join(base, 'home/web/index.php'), '<?php')
  await writeFile(join(base, 'core/wp-admin/index.php'), '<?php')
  await writeFile(join(base, 'home/web/style.css'), 'body{}')
  await writeFile(join(base, 'home/web/empty.txt'), '')
  await utimes(join(base, 'home/web/style.css'), 1_700_000_000, 1_700_000_000)
  let stop = async () => {}
  const woken: number[] = []
  const made: TestSite = {
    folder: base,
    woken,
    isAwake: false,
    async start(
      handle = () => ok(),
      mostBodyBytes = 1 << 20,
      budgets = testBudgets(),
      more = {},
      firstPages = none,
      isDatabaseAway?,
      htaccess?,
    ) {
      const site: HostedSite = {
        siteId: 7,
        siteDirectory: join(base, 'home'),
        corePath: join(base, 'core'),
        phpVersion: '8.3',
        uid: null,
        address: 'site.test',
        state: 'live',
        ...more,
      }
      const php: PhpHandler = {
        wake: ({ siteId }) => void woken.push(siteId),
        isAwake: () => made.isAwake,
        handle: async (_site, request, signal) => handle(request, signal),
      }
      const server = createWebServer({
        siteById: async (siteId) => (siteId === 7 ? site : undefined),
        php,
        answers: new HeldAnswers({
          memory: budgets.answerMemory,
          disk: budgets.answerDisk,
          folder: base,
          patienceMs: 300,
          log,
        }),
        hostKey: KEY,
        log,
        httpsPort: 443,
        mostBodyBytes,
        firstPages,
        ...(isDatabaseAway && { isDatabaseAway }),
        htaccess,
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      stop = async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
      return (server.address() as AddressInfo).port
    },
    async remove() {
      await stop()
      await rm(base, { recursive: true, force: true })
    },
  }
  return made
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  text: string
}

export async function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Reply> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method: options.method ?? 'GET',
    agent: false,
    headers: {
      host: 'site.test:8081',
      'x-stead-key': KEY,
      'x-stead-site': '7',
      'x-forwarded-for': '192.0.2.7, 10.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'site.test:8081',
      ...options.headers,
    },
  })
  request.end(options.body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  request.on('error', () => {})
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return { status: response.statusCode as number, headers: response.headers, body, text: body.toString() }
}
