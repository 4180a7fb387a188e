/**
 * A process with a worker, for the tests that kill, stop and race whole processes. Its plan arrives as JSON in argv.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import Type from 'typebox'
import { openDatabase } from '../db/database.ts'
import { isAlive } from '../is-alive.ts'
import { noLog } from '../log/log.ts'
import { durableWith, type StepContext } from './definition.ts'
import type { TransitionMoment } from './worker/run-transition.ts'
import { createWorker } from './worker/worker.ts'

export interface Plan {
  readonly connection: { url?: string; file: string }
  /** The folder for effects outside the database, and for the file `violations`. */
  readonly folder: string
  readonly concurrency: number
  /** The longest pause within a step. */
  readonly stepMs: number
  readonly leaseMs?: number
  readonly lookEveryMs?: number
  /** The process kills itself the first time that it reaches this moment. */
  readonly killAt?: Pick<TransitionMoment, 'at' | 'step'>
}

const input = Type.Object({ site: Type.Integer() })
type Ctx = StepContext<{ site: number }, Plan>

const violation = ({ services }: Ctx, text: string) => appendFile(join(services.folder, 'violations'), `${text}\n`)

/**
 * Creates an effect outside the database, a file that is created once. Detects another live process at the same site.
 */
async function effect(ctx: Ctx, name: string): Promise<string> {
  const { folder, stepMs } = ctx.services
  const mark = join(folder, `at-${ctx.input.site}`)
  if (existsSync(mark)) {
    const [pid, operation] = readFileSync(mark, 'utf8').split(' ').map(Number)
    if (pid && pid !== process.pid && isAlive(pid)) await violation(ctx, `${operation} and ${ctx.operationId} at once`)
  }
  writeFileSync(mark, `${process.pid} ${ctx.operationId}`)
  try {
    await pause(Math.random() * stepMs)
    if (!existsSync(join(folder, `${ctx.operationId}-${name}`)))
      writeFileSync(join(folder, `${ctx.operationId}-${name}`), '')
  } finally {
    rmSync(mark, { force: true })
  }
  return name
}

const ledger = async (tx: Parameters<Parameters<Ctx['transaction']>[0]>[0], ctx: Ctx, step: string) => {
  await sql`insert into ledger (operation_id, step) values (${ctx.operationId}, ${step})`.execute(tx)
  return step
}

const expectDone = async (ctx: Ctx, ...names: string[]) => {
  if (Object.keys(ctx.results).join() !== names.join()) await violation(ctx, `results ${Object.keys(ctx.results)}`)
  const files = names.filter((name) => name === 'files' || name === 'publish')
  for (const name of files)
    if (!existsSync(join(ctx.services.folder, `${ctx.operationId}-${name}`)))
      await violation(ctx, `${name} was not done`)
}

/** Alternates two steps with effects outside the database and two commit steps. */
export const faultTest = durableWith<Plan>()({
  name: 'fault.test',
  input,
  on: 'control',
  changeableBy: 'account',
  steps: {
    files: {
      async run(ctx) {
        await expectDone(ctx)
        return effect(ctx, 'files')
      },
    },
    change: {
      async commit(tx, ctx) {
        await expectDone(ctx, 'files')
        return ledger(tx, ctx, 'change')
      },
    },
    publish: {
      async run(ctx) {
        await expectDone(ctx, 'files', 'change')
        return effect(ctx, 'publish')
      },
    },
    live: {
      async commit(tx, ctx) {
        await expectDone(ctx, 'files', 'change', 'publish')
        return ledger(tx, ctx, 'live')
      },
    },
  },
})

/** A step that waits for a file, whatever happens to its lease, and then a commit. */
export const stubbornTest = durableWith<Plan>()({
  name: 'stubborn.test',
  input,
  on: 'control',
  changeableBy: 'account',
  steps: {
    wait: {
      async run({ services: { folder } }) {
        writeFileSync(join(folder, `waiting-${process.pid}`), '')
        while (!existsSync(join(folder, 'go'))) await pause(5)
        return process.pid
      },
    },
    live: { commit: (tx, ctx) => ledger(tx, ctx, 'live') },
  },
})

async function main(plan: Plan): Promise<void> {
  const database = await openDatabase(plan.connection)
  const { killAt } = plan
  const worker = createWorker<Plan>({
    database,
    definitions: [faultTest, stubbornTest],
    runner: 'control',
    services: plan,
    log: noLog,
    concurrency: plan.concurrency,
    ...(plan.leaseMs && { leaseMs: plan.leaseMs }),
    ...(plan.lookEveryMs && { lookEveryMs: plan.lookEveryMs }),
    observe({ at, step }) {
      if (killAt?.at === at && killAt.step === step) process.kill(process.pid, 'SIGKILL')
      if (at === 'lost') process.stdout.write('lost\n')
    },
  })
  worker.start()
  process.stdout.write('ready\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(JSON.parse(process.argv[2] as string))
