import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CuttingProxy, openCuttingProxy } from '../../support/cutting-proxy.ts'
import { type PostgresCluster, startPostgres } from '../../support/postgres-cluster.ts'
import { type RunningProcess, stillRunning } from '../../support/processes.ts'
import { type Chance, seeded } from '../../support/seeded.ts'
import { prepareStead, type Stead, until } from '../../support/stead.ts'
import { Client } from './client.ts'
import { type Clock, clockIn } from './clock.ts'
import { Ledger } from './ledger.ts'
import { leftovers } from './leftovers.ts'
import { type MailServer, startMailServer } from './mail-server.ts'
import { type Records, recordsOf } from './records.ts'
import { type BaseSite, makeBaseSites } from './sites-of-load.ts'
import { takeSnapshot } from './snapshot.ts'
import type { TortureOptions } from './torture.ts'

/** The environment of a run. */
export interface Ground {
  readonly stead: Stead
  readonly chance: Chance
  readonly ledger: Ledger
  readonly client: Client
  readonly records: Records
  readonly mails: MailServer
  readonly clock: Clock | undefined
  readonly cluster: PostgresCluster | undefined
  readonly proxy: CuttingProxy | undefined
  /** Milliseconds UTC. */
  readonly startedAt: number
  /** How many answers to commits are still to be dropped. */
  readonly cuts: { left: number }
  /** Sites that exist throughout. */
  readonly baseSites: readonly BaseSite[]
  /** A copy of the database from the beginning of the run. */
  readonly snapshot: string
  /** Stead's folder for temporary files. Nothing else writes there. */
  readonly temporary: string
  /** How often each harm was done. */
  readonly counts: Record<string, number>
  /** Harms that are not possible on this machine or database. */
  readonly skipped: string[]
  /** Lines that Stead has logged. */
  readonly lines: string[]
  /** Every process of Stead that was seen. */
  readonly seen: RunningProcess[]
  say(line: string): void
  /** Stops Stead with SIGTERM. @returns what is wrong afterwards */
  stop(): Promise<string[]>
  /** Removes everything, whatever happened. */
  remove(): Promise<void>
}

export async function openGround(options: TortureOptions): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-torture-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const remove = async () => {
    for (const each of undo.splice(0).reverse()) await each().catch((error) => console.error(error))
  }
  try {
    return await build(options, folder, undo, remove)
  } catch (error) {
    await remove()
    throw error
  }
}

async function build(
  options: TortureOptions,
  folder: string,
  undo: (() => Promise<unknown>)[],
  remove: () => Promise<void>,
): Promise<Ground> {
  const say = options.say ?? (() => {})
  // sites run as other users, who must be able to enter it
  const temporary = join(folder, 'tmp')
  await mkdir(temporary, { mode: 0o711 })
  await chmod(folder, 0o711)
  const mails = await startMailServer(seeded(options.seed).of('mails'))
  undo.push(() => mails.close())
  const cuts = { left: 0 }
  const { cluster, proxy } = options.database === 'postgres' ? await postgres(cuts, undo) : {}
  const clock = await clockIn(folder)
  const lines: string[] = []
  const stead = await prepareStead({
    env: {
      TMPDIR: temporary,
      STEAD_PREPARED_SITES: '1',
      STEAD_TRASH_DAYS: '0',
      STEAD_PHP_MEMORY_MB: '1500',
      STEAD_SMTP_URL: mails.url,
      ...(proxy && { STEAD_DATABASE_URL: proxy.url }),
      ...clock?.env,
    },
    onOutput: linesInto(lines),
    // after a kill of the supervisor, its orphans must end first
    startMs: 180_000,
  })
  undo.push(() => stead.remove())
  await stead.start()
  const ledger = new Ledger()
  const client = new Client(stead, ledger)
  const records = recordsOf(cluster ? { url: cluster.url } : { file: join(stead.dataDir, 'stead.db') })
  const baseSites = await makeBaseSites(stead, records)
  const snapshot = join(folder, 'snapshot')
  await takeSnapshot({ stead, cluster }, snapshot)
  const seen: RunningProcess[] = []
  const watching = setInterval(() => seen.push(...stead.processes()), 2000)
  undo.push(async () => clearInterval(watching))
  say(`Stead runs on ${options.database}, seed ${options.seed}, data in ${stead.dataDir}`)
  return {
    stead,
    startedAt: Date.now(),
    chance: seeded(options.seed),
    ledger,
    client,
    records,
    mails,
    clock,
    cluster,
    proxy,
    cuts,
    baseSites,
    snapshot,
    temporary,
    counts: {},
    skipped: [],
    lines,
    seen,
    say,
    stop: async () => [...(await stopped(stead, seen, options)), ...(await leftovers(stead.dataDir, temporary))],
    remove,
  }
}

async function postgres(cuts: { left: number }, undo: (() => Promise<unknown>)[]) {
  const cluster = await startPostgres()
  if (!cluster) throw new Error('this machine has no PostgreSQL server to start (Debian: postgresql)')
  undo.push(() => cluster.remove())
  // a commit that a client waits for: of a request with a key, or of a change with its activity entry
  const isAwaited = (texts: readonly string[]) => texts.some((text) => /idempotency_keys|into "activity"/.test(text))
  const proxy = await openCuttingProxy(cluster.url, (statements) =>
    cuts.left > 0 && isAwaited(statements) && cuts.left-- > 0 ? 'answer' : 'pass',
  )
  undo.push(() => proxy.close())
  return { cluster, proxy }
}

async function stopped(stead: Stead, seen: RunningProcess[], { database }: TortureOptions): Promise<string[]> {
  seen.push(...stead.processes())
  const code = await stead.stop()
  const faults = code === 0 ? [] : [`SIGTERM ended Stead with ${code}`]
  const left = await until('all processes have ended', () => stillRunning(seen).length === 0, 20_000).then(
    () => [],
    () => stillRunning(seen).map(({ pid, words }) => `process ${pid} still runs on ${database}: ${words.join(' ')}`),
  )
  return [...faults, ...left]
}

/** Splits chunks into lines. An incomplete last line waits for its end. */
function linesInto(lines: string[]): (text: string) => void {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() as string
    lines.push(...parts)
  }
}
