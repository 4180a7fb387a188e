/** The real program as a user starts it, with its own data folder and ports. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fetch } from 'undici'
import { afterEach } from 'vitest'
import { removeTree } from '../../src/hosting/site-files/remove-tree.ts'
import { testCore } from './core.ts'
import { fromGolden, goldenFolder, keepGolden } from './golden.ts'
import { nativeAndMariaDb, settingsOf } from './native-mariadb.ts'
import { descendantsOf, type RunningProcess, stillRunning } from './processes.ts'
import { type Page, type VisitOptions, visit } from './visit.ts'

/** The launcher: in the tier `system` the packaged one, which `test/tiers/main.ts` builds; otherwise the sources. */
export const program = process.env.TEST_PROGRAM ?? join(import.meta.dirname, '../../bin/stead.js')

/** For a whole run with sites on native PHP and MariaDB, if both are installed. */
const allNative = process.env.TEST_RUNTIME === 'native' && !nativeAndMariaDb.skip ? settingsOf : undefined

/** A killed test run has no time to clean up, so the kernel ends what it started. */
export const endsWithThisProcess = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM'] : []

/** Settings of each program that a test starts: they turn off work that the test did not ask for. */
export const quietSettings: Readonly<Record<string, string>> = {
  STEAD_RATE_LIMIT: '0',
  STEAD_TOKEN_RATE_LIMIT: '0',
  STEAD_SPARE_SITES: '0',
  STEAD_SFTP_LISTEN: 'off',
  STEAD_ADMINER: 'off',
  // nothing listens there, which shows at once
  STEAD_RESOLVERS: '127.0.0.1:9',
  STEAD_DNS_LISTEN: 'off',
  // they could start at any minute
  STEAD_SCHEDULED_BACKUPS: 'false',
  // each new site would start a browser
  STEAD_PERFORMANCE_REPORT_HOURS: '0',
  // tests that wait for the end of a process mean any site's
  STEAD_PHP_READY_SITES: '0',
  // other tests run at the same time
  STEAD_PHP_NICE: '0',
  // test sites do not get enough requests; benchmarks measure the default
  ...(process.env.VITEST && { STEAD_PHP_OPTIMIZE: 'false' }),
  // 18 s of processor time for the first site, for a number that unit tests check
  ...(process.env.VITEST && { STEAD_MEASURE_BACKUPS: 'false' }),
}

export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever the operation answers; each test looks at what it expects
  readonly body: any
}

export interface SteadOptions {
  /** Settings besides folder, ports, and core: `{ STEAD_SPARE_SITES: '1' }`. */
  readonly env?: Record<string, string>
  /** Default true: core and template already exist. */
  readonly golden?: boolean
  /** Parent of the data folder. Default: the system's temporary folder. */
  readonly below?: string
  /** The command that starts it. Default: the program with this Node. */
  readonly launch?: readonly string[]
  /** Time limit of a start. Default: 60 s. */
  readonly startMs?: number
  /** Gets all output. `output()` keeps only the last one or two million characters. */
  readonly onOutput?: (text: string) => void
}

export interface Stead {
  readonly dataDir: string
  readonly apiUrl: string
  readonly apiPort: number
  edgePort: number
  /** Output to stdout and stderr since the first start. */
  output(): string
  /** Changes settings for the next start. */
  set(env: Record<string, string>): void
  /** Calls the API with a token of the first account. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiReply>
  /** Returns a token of the first account, for tests that call the API themselves. */
  freshToken(): Promise<string>
  /** Sends a visitor's request to `<name>.<staging domain>`, or to a whole host name, through the edge. */
  visit(site: string, path?: string, options?: VisitOptions): Promise<Page>
  /** Creates a site and waits until it is live. @returns its ID */
  createSite(body: { name: string } & Record<string, unknown>): Promise<number>
  /** Waits until the site is live. @throws with the reason when its creation failed */
  live(siteId: number): Promise<void>
  /** Waits for an operation to end. @returns its state */
  ended(
    operationId: number | string,
    timeoutMs?: number,
  ): Promise<{ state: string; error: string | null; [key: string]: unknown }>
  /** The directory of a site, including one in the trash. */
  directoryOf(siteName: string): string
  /** Runs another `stead` command on the same data. */
  cli(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  start(): Promise<void>
  stop(): Promise<number | null>
  restart(): Promise<void>
  /** The process of a role. */
  role(name: 'supervisor' | 'control' | 'host' | 'edge' | 'dns'): RunningProcess | undefined
  /** The environment that it is started with, without this process' own settings. */
  environment(): Record<string, string | undefined>
  /** Calls back with the exit code (`null` after a signal) when the running program has ended. */
  whenEnded(callback: (code: number | null) => void): void
  /** Kills the process of a role, as a crash would. */
  kill(name: 'supervisor' | 'control' | 'host' | 'edge' | 'dns'): RunningProcess
  /** All its processes. */
  processes(): RunningProcess[]
  /** PHP processes of sites and spares, sandboxes included. */
  phpProcesses(): RunningProcess[]
  /** Ends everything and removes the data folder. */
  remove(): Promise<void>
}

const LOOK_EVERY_MS = 50

/**
 * Waits until `check` returns something truthy.
 * @param patienceMs on an idle machine. Counts pauses instead of time, so that a busy machine gets the time that it
 * needs
 * @param longestPauseMs pauses grow up to it, for checks that take processor time from the awaited work
 * @throws with `what` after that many checks
 */
export async function until<Value>(
  what: string,
  check: () => Promise<Value | undefined | false> | Value | undefined | false,
  patienceMs = 180_000,
  longestPauseMs = LOOK_EVERY_MS,
): Promise<Value> {
  let looks = 0
  let pauseMs = LOOK_EVERY_MS
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
    const value = await check()
    looks++
    if (value) return value
    await pause(pauseMs)
    pauseMs = Math.min(pauseMs * 1.25, longestPauseMs)
  }
  throw new Error(`Looked ${looks} times in vain: ${what}`)
}

/** For work of seconds that the API reports on: 20 requests a second would cost a tenth of the machine. */
const untilDone = <Value>(
  what: string,
  check: () => Promise<Value | undefined | false>,
  patienceMs?: number,
): Promise<Value> => until(what, check, patienceMs, 300)

/** Returns a port outside the range of outgoing connections: it is still free after its listener restarts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(11_000, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Prints the program's last output after each failed test of the file. */
export function showOutputOfFailures(stead: () => Stead | undefined): void {
  afterEach(({ task }) => {
    if (task.result?.state === 'fail')
      console.error(`--- output of stead, ${task.name}\n${stead()?.output().slice(-8000)}`)
  })
}

/** Creates the data folder and starts the program. Resolves when `/readyz` succeeds. */
export async function startStead(options: SteadOptions = {}): Promise<Stead> {
  const stead = await prepareStead(options)
  await stead.start().catch(async (error) => {
    const words = stead.output().slice(-4000)
    await stead.remove()
    throw new Error(`${(error as Error).message}\n${words}`)
  })
  return stead
}

/** Like {@link startStead}, without the start. */
export async function prepareStead(options: SteadOptions = {}): Promise<Stead> {
  const { env = {}, golden = true, below = tmpdir(), onOutput } = options
  const { launch = [process.execPath, program, 'serve'], startMs = 180_000 } = options
  const dataDir = await mkdtemp(join(below, 'stead-e2e-'))
  // a database server runs as its own user
  if (env.STEAD_MARIADB === 'own' || allNative) await chmod(dataDir, 0o711)
  const core = golden ? await testCore() : undefined
  const goldenPath = core && (await goldenFolder(core))
  const hadGolden = goldenPath ? await fromGolden(goldenPath, dataDir) : true
  const apiPort = await freePort()
  const apiUrl = `http://127.0.0.1:${apiPort}`
  const settings: Record<string, string> = {
    STEAD_DATA_DIR: dataDir,
    STEAD_API_LISTEN: `127.0.0.1:${apiPort}`,
    STEAD_EDGE_LISTEN: `127.0.0.1:${await freePort()}`,
    ...quietSettings,
    // tests of several processes override it
    STEAD_EDGE_PROCESSES: '1',
    ...(core && { STEAD_CORE_SOURCE: core }),
    // for a whole run with one kind of sandbox
    ...(process.env.TEST_SANDBOX && { STEAD_SANDBOX: process.env.TEST_SANDBOX }),
    ...allNative,
    ...env,
  }
  // no setting of Stead passes from this process' own environment
  const environment = () => ({
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('STEAD_'))),
    NODE_ENV: 'production',
    ...settings,
  })
  let child: ChildProcess | undefined
  let output = ''
  let token: string | undefined
  const seen: RunningProcess[] = []

  const start = async () => {
    const [command, ...words] = [...endsWithThisProcess, ...launch]
    const started = spawn(command as string, words, {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    child = started
    const before = output.length
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (text: Buffer) => {
        output += text
        // rarely, because it copies everything
        if (output.length > 2_000_000) output = output.slice(-1_000_000)
        onOutput?.(String(text))
      })
    await until(
      'stead is ready',
      async () => {
        if (started.exitCode !== null || started.signalCode)
          throw new Error(`stead ended with ${started.exitCode}: ${output.slice(before).slice(-1000)}`)
        const deaths = output.slice(before).match(/a process died/g)?.length ?? 0
        if (deaths > 5) throw new Error('its parts do not start')
        // a suspended process accepts the connection and never answers
        const signal = AbortSignal.timeout(10_000)
        return (await fetch(`${apiUrl}/readyz`, { signal }).catch(() => undefined))?.status === 200
      },
      startMs,
    )
    if (!hadGolden && goldenPath) await keepGolden(goldenPath, dataDir)
  }
  const processes = () => {
    if (child?.pid === undefined) return []
    const mine = descendantsOf(child.pid)
    seen.push(...mine)
    return mine
  }
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode) return child?.exitCode ?? null
    const running = child
    processes()
    running.kill('SIGTERM')
    await once(running, 'exit')
    return running.exitCode
  }
  const freshToken = async () => {
    const { client_id, client_secret } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const response = await fetch(`${apiUrl}/auth/token`, { method: 'POST', body: form })
    return ((await response.json()) as { access_token: string }).access_token
  }
  const api: Stead['api'] = async (method, path, body, headers = {}) => {
    const reply = await apiWithToken(method, path, body, headers)
    if (reply.status !== 401) return reply
    // it has expired
    token = undefined
    return apiWithToken(method, path, body, headers)
  }
  const apiWithToken = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    token ??= await freshToken()
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers as unknown as Headers,
      body: text ? JSON.parse(text) : null,
    }
  }
  const live = async (siteId: number) => {
    await untilDone(`site ${siteId} is live`, async () => {
      const { body } = await api('GET', `/v1/sites/${siteId}`).catch(() => ({ body: null }))
      if (body?.data?.state === 'live') return true
      const failed = await api('GET', `/v1/operations?site_id=${siteId}&state=failed`).catch(() => undefined)
      const reason = failed?.body?.data?.[0]?.error
      if (reason) throw new Error(`site ${siteId}: ${reason}`)
      return false
    })
  }
  const role: Stead['role'] = (name) => {
    const all = processes()
    if (name !== 'supervisor') return all.find(({ words }) => words.includes(name) && words.some(isMain))
    const hasEnded = child?.pid === undefined || child.exitCode !== null || child.signalCode !== null
    return hasEnded ? undefined : { pid: child?.pid as number, parent: process.pid, startedAt: '', words: [] }
  }
  return {
    dataDir,
    apiUrl,
    apiPort,
    get edgePort() {
      return Number(settings.STEAD_EDGE_LISTEN?.split(':').at(-1))
    },
    set edgePort(port) {
      settings.STEAD_EDGE_LISTEN = `127.0.0.1:${port}`
    },
    output: () => output,
    set(change) {
      Object.assign(settings, change)
    },
    api,
    freshToken,
    visit(site, path = '/', more = {}) {
      const host = site.includes('.') ? site : `${site}.${settings.STEAD_STAGING_DOMAIN ?? 'localhost'}`
      return visit({ host, port: Number(settings.STEAD_EDGE_LISTEN?.split(':').at(-1)), path, ...more })
    },
    async createSite(order) {
      const { status, body } = await api('POST', '/v1/sites', {
        ...(allNative && { php_version: nativeAndMariaDb.phpVersion }),
        ...order,
      })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      await live(body.data.id)
      return body.data.id
    },
    live,
    ended: (id, timeoutMs) =>
      untilDone(
        `operation ${id} has ended`,
        async () => {
          const { body } = await api('GET', `/v1/operations/${id}`)
          return ['succeeded', 'failed', 'canceled'].includes(body.data?.state) && body.data
        },
        timeoutMs,
      ),
    directoryOf(siteName) {
      const database = new DatabaseSync(join(dataDir, 'stead.db'), { readOnly: true })
      try {
        const statement = 'select site_homes.id from site_homes join sites on sites.id = site_id where name = ?'
        const row = database.prepare(statement).get(siteName) as { id: number } | undefined
        if (!row) throw new Error(`${siteName} has no site directory`)
        return join(dataDir, 'sites', `h${row.id}`)
      } finally {
        database.close()
      }
    },
    async cli(...words) {
      const run = spawn(process.execPath, [program, ...words], {
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let stdout = ''
      let stderr = ''
      run.stdout.on('data', (text) => {
        stdout += text
      })
      run.stderr.on('data', (text) => {
        stderr += text
      })
      const [code] = (await once(run, 'close')) as [number]
      return { code, stdout, stderr }
    },
    start,
    stop,
    environment,
    whenEnded(callback) {
      child?.once('exit', callback)
    },
    async restart() {
      await stop()
      await start()
    },
    role,
    kill(name) {
      const found = role(name)
      if (!found) throw new Error(`no ${name} runs (the supervisor's exit code: ${child?.exitCode})`)
      tryKill(found.pid)
      return found
    },
    processes,
    phpProcesses: () => processes().filter(({ words }) => words.at(-1)?.endsWith('/child/main.js')),
    async remove() {
      processes()
      child?.kill('SIGKILL')
      const group = child?.pid
      if (group) tryKill(-group)
      for (const { pid } of stillRunning(seen)) tryKill(pid)
      await until('all processes of stead have ended', () => stillRunning(seen).length === 0, 10_000)
      await removeTree(dataDir)
    },
  }
}

const isMain = (word: string): boolean => /\/main\.(ts|js)$/.test(word)

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has already ended
  }
}
