/**
 * Torture: the real program under load, whose processes die, stop, lose answers, lose the time, and get an old database
 * back. Afterwards it checks everything that Stead acknowledged.
 *
 * load   what clients, visitors, and mailboxes do meanwhile, and what must be left of it (`load/`, one kind a file)
 * harm   what happens to Stead meanwhile (`harm/`, one kind a file)
 * check  what must hold at the end, whatever caused it (`checks/`, one rule a file)
 * kill   one `kill -9`; a run is bounded by their number
 *
 * The seed determines the order of harms and what each load does. The timing depends on the machine.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { checks } from './checks/index.ts'
import { type Ground, openGround } from './ground.ts'
import { decks, harms } from './harm/index.ts'
import { loads } from './load/index.ts'
import type { Report } from './report.ts'
import { restoreOlderDatabase } from './restore-older.ts'
import { settle } from './settle.ts'

export interface TortureOptions {
  readonly kills: number
  readonly database: 'sqlite' | 'postgres'
  readonly seed: number
  /** Ends the load after this time, even if kills are left. */
  readonly mostSeconds?: number
  /** Only the named harms. */
  readonly only?: readonly string[]
  /** Gets a line of text for each event. */
  readonly say?: (line: string) => void
  /** Ends the run. Everything is still removed. */
  readonly signal?: AbortSignal
}

export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** @throws Interrupted, or when the environment cannot be created; faults of Stead are in the report */
export async function torture(options: TortureOptions): Promise<Report> {
  const startedAt = performance.now()
  const ground = await openGround(options)
  const faults: string[] = []
  try {
    await runLoad(ground, options)
    if (options.signal?.aborted) throw new Interrupted('interrupted: nothing was checked')
    faults.push(...(await settle(ground)))
    for (const load of loads) faults.push(...(await found(load.name, () => load.check(ground))))
    for (const check of checks) faults.push(...(await found(check.name, () => check.run(ground))))
    if (!options.only || options.only.includes('older database')) {
      ground.say('restore the database from the beginning')
      faults.push(...(await found('older database', () => restoreOlderDatabase(ground))))
    }
    faults.push(...(await found('stopping', () => ground.stop())))
  } catch (error) {
    if (error instanceof Interrupted) throw error
    const words = ground.lines.slice(-20).join('\n')
    faults.push(`the run broke off: ${(error as Error).stack}\nThe last words of Stead:\n${words}`)
  } finally {
    await ground.remove()
  }
  return {
    title: `one machine on ${options.database}`,
    seed: options.seed,
    counts: ground.counts,
    skipped: ground.skipped,
    figures: ground.ledger.figures(),
    answers: ground.ledger.answers(),
    seconds: (performance.now() - startedAt) / 1000,
    faults,
  }
}

async function runLoad(ground: Ground, options: TortureOptions): Promise<void> {
  const ended = new AbortController()
  const working = loads.flatMap((load) =>
    Array.from({ length: load.workers }, (_, worker) =>
      load.run(ground, { chance: ground.chance.of(`${load.name} ${worker}`), worker, signal: ended.signal }),
    ),
  )
  // a fault of the harness itself must not wait for the end of the run
  const broken = Promise.race(working.map((each) => each.then(() => new Promise<never>(() => {}))))
  const harming = doHarm(ground, options, ended.signal)
  try {
    await Promise.race([harming, broken])
    // work in flight at the last kill continues for a while, and something still sees the last harm
    await pause(3000)
  } finally {
    ended.abort()
    await Promise.allSettled([harming, ...working])
  }
  await Promise.all(working)
}

async function doHarm(ground: Ground, options: TortureOptions, ended: AbortSignal): Promise<void> {
  const { kills, mostSeconds = kills * 10 + 60, only } = options
  const over = AbortSignal.any([
    ended,
    AbortSignal.timeout(mostSeconds * 1000),
    ...(options.signal ? [options.signal] : []),
  ])
  const chance = ground.chance.of('harm')
  const offered = harms.filter(({ name }) => !only || only.includes(name))
  for (const harm of offered) {
    const reason = harm.missing?.(ground)
    if (reason) ground.skipped.push(`${harm.name}: ${reason}`)
  }
  const possible = offered.filter((harm) => !harm.missing?.(ground))
  const background: Promise<unknown>[] = []
  const broken: unknown[] = []
  try {
    await pause(2000)
    let done = 0
    for (const harm of decks(possible, chance)) {
      if (done >= kills || over.aborted) break
      await pause(chance.between(100, 1500))
      ground.say(`${done} of ${kills} kills, ${harm.name}`)
      ground.counts[harm.name] = (ground.counts[harm.name] ?? 0) + 1
      const run = harm.run(ground, chance)
      if (harm.isSlow) background.push(run.catch((error) => broken.push(error)))
      else await run
      done += harm.kills
    }
  } finally {
    // nothing may still run when the folder is removed
    await Promise.all(background)
  }
  if (broken.length > 0) throw broken[0]
}

/** Runs a check. A check that cannot run is a fault, too. */
async function found(name: string, look: () => Promise<readonly string[]>): Promise<string[]> {
  try {
    return (await look()).map((fault) => `${name}: ${fault}`)
  } catch (error) {
    return [`${name}: could not be checked: ${(error as Error).stack}`]
  }
}
