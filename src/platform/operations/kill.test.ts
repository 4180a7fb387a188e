import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { atLength } from '../../../test/support/at-length.ts'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { standStill } from '../../../test/support/stand-still.ts'
import { enqueue } from './enqueue.ts'
import { ended, until } from './harness.ts'
import { faultTest, type Plan, stubbornTest } from './kill.fixture.ts'
import { findOperation } from './read.ts'
import type { TransitionMoment } from './worker/run-transition.ts'

const fixture = fileURLToPath(new URL('kill.fixture.ts', import.meta.url))

interface WorkerProcess {
  readonly child: ChildProcess
  /** Resolves when the process has printed this line. */
  said(line: string): Promise<unknown>
}

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`killed workers on ${dialect}`, () => {
    let made: TestDatabase
    let folder: string
    const children = new Set<ChildProcess>()

    beforeEach(async () => {
      made = await testDatabase(dialect)
      folder = await mkdtemp(join(tmpdir(), 'stead-operations-'))
      await made.database.transaction((tx) =>
        sql`create table ledger (operation_id bigint not null, step text not null)`.execute(tx),
      )
    })
    afterEach(async () => {
      await Promise.all([...children].map(kill))
      await made.drop()
      await rm(folder, { recursive: true })
    })

    const startProcess = (plan: Partial<Plan> = {}): WorkerProcess => {
      const whole: Plan = { connection: made.connection, folder, concurrency: 4, stepMs: 0, ...plan }
      const child = spawn(process.execPath, [fixture, JSON.stringify(whole)], { stdio: ['ignore', 'pipe', 'inherit'] })
      children.add(child)
      child.on('exit', () => children.delete(child))
      const lines: string[] = []
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
      return { child, said: (line) => until(() => lines.includes(line)) }
    }
    const kill = async (child: ChildProcess) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const ask = (site: number) => made.database.transaction((tx) => enqueue(tx, faultTest, { site }, { siteId: site }))
    const ledgerRows = async () => {
      const { rows } = await sql<{ operation_id: number; step: string }>`
        select operation_id, step from ledger order by operation_id, step`.execute(made.database.read)
      return rows.map(({ operation_id, step }) => `${operation_id} ${step}`)
    }

    /** Checks that nothing is lost, duplicated or out of order. */
    const expectAllDoneOnce = async (ids: number[]) => {
      const sorted = ids.toSorted((a, b) => a - b)
      expect(existsSync(join(folder, 'violations')) && (await readFile(join(folder, 'violations'), 'utf8'))).toBe(false)
      const inOrder = (rows: string[]) => rows.toSorted()
      expect(inOrder(await ledgerRows())).toEqual(inOrder(sorted.flatMap((id) => [`${id} change`, `${id} live`])))
      const files = readdirSync(folder).filter((name) => /^\d+-/.test(name))
      expect(inOrder(files)).toEqual(inOrder(sorted.flatMap((id) => [`${id}-files`, `${id}-publish`])))
      const rows = await made.database.read.selectFrom('operations').selectAll().orderBy('id').execute()
      expect(rows.map(({ state }) => state)).toEqual(sorted.map(() => 'succeeded'))
      // Checks the order of starts. The file of violations shows that none overlapped, because the recorded start is
      // earlier than the claim, which waits for the end of the previous one.
      for (const ofSite of Map.groupBy(rows, ({ site_id }) => site_id).values())
        for (const [index, row] of ofSite.entries())
          expect(row.started_at).toBeGreaterThanOrEqual(ofSite[index - 1]?.started_at ?? 0)
    }

    test('one operation survives a kill at each of its boundaries', async () => {
      const id = await ask(1)
      const boundaries: Pick<TransitionMoment, 'at' | 'step'>[] = [{ at: 'taken', step: 'files' }]
      for (const step of Object.keys(faultTest.steps))
        for (const at of ['starting', 'ran', 'recording', 'recorded'] as const)
          if (at !== 'ran' || step === 'files' || step === 'publish') boundaries.push({ at, step })
      for (const killAt of boundaries) {
        const { child } = startProcess({ killAt, leaseMs: 400, lookEveryMs: 100 })
        await once(child, 'exit')
        expect([killAt, child.signalCode]).toEqual([killAt, 'SIGKILL'])
        // Simulates the end of the lease.
        await made.database.transaction((tx) =>
          tx.updateTable('operations').set({ lease_until: 1 }).where('state', '=', 'running').execute(),
        )
      }
      expect(await ended(made.database, id)).toMatchObject({ attempts: boundaries.length })
      await expectAllDoneOnce([id])
    })

    /** @returns the index of a worker that runs an operation */
    const busy = async (workers: readonly WorkerProcess[], askMore: () => Promise<unknown>): Promise<number> => {
      let found = -1
      await until(async () => {
        const open = made.database.read.selectFrom('operations').where('state', 'in', ['queued', 'running'])
        const owners = (await open.select('lease_owner').execute()).map(({ lease_owner }) => lease_owner ?? '')
        if (owners.length === 0) await askMore()
        found = workers.findIndex(({ child }) => owners.some((owner) => owner.startsWith(`control--${child.pid}-`)))
        return found >= 0
      })
      return found
    }

    const kills = atLength(12, 40)
    test(`${kills} kills at random: does everything once, and in order`, async () => {
      const start = () => startProcess({ stepMs: 60, leaseMs: 1000, lookEveryMs: 200 })
      const workers = [start(), start(), start()]
      const ids: number[] = []
      for (let killed = 0; killed < kills; killed++) {
        for (let count = 0; count < 4; count++) ids.push(await ask(1 + Math.floor(Math.random() * 8)))
        let victim = Math.floor(Math.random() * workers.length)
        await workers[victim]?.said('ready')
        // Every other time, kill a worker that is running something, however slow this machine is.
        if (killed % 2) victim = await busy(workers, async () => ids.push(await ask(1)))
        else await pause(Math.random() * 150)
        await kill((workers[victim] as WorkerProcess).child)
        workers[victim] = start()
      }
      for (const id of ids) await ended(made.database, id)
      await expectAllDoneOnce(ids)
      const taken = await made.database.read.selectFrom('operations').select('attempts').execute()
      // Otherwise the kills hit nothing, and this test proves nothing.
      expect(taken.filter(({ attempts }) => attempts > 1).length).toBeGreaterThan(kills / 4)
    })

    test('takes over the work of a killed worker with the default times', async () => {
      const first = startProcess({ killAt: { at: 'ran', step: 'publish' } })
      await first.said('ready')
      const id = await ask(1)
      await once(first.child, 'exit')
      startProcess()
      expect(await ended(made.database, id)).toMatchObject({ state: 'succeeded', attempts: 2 })
      await expectAllDoneOnce([id])
    })

    test('rejects writes of a process that was paused and resumes after its lease was taken over', async () => {
      const quick = { leaseMs: 3000, lookEveryMs: 100 }
      const paused = startProcess(quick)
      await paused.said('ready')
      const id = await made.database.transaction((tx) => enqueue(tx, stubbornTest, { site: 1 }, { siteId: 1 }))
      await until(() => existsSync(join(folder, `waiting-${paused.child.pid}`)))
      await standStill(paused.child.pid as number, made.connection)
      const other = startProcess(quick)
      await until(() => existsSync(join(folder, `waiting-${other.child.pid}`)))
      // The other process holds the lease and is still at the step when both may continue.
      await standStill(other.child.pid as number, made.connection)
      writeFileSync(join(folder, 'go'), '')
      await made.database.transaction((tx) =>
        tx
          .updateTable('operations')
          .set({ lease_until: Date.now() + 3_600_000 })
          .where('id', '=', id)
          .execute(),
      )
      paused.child.kill('SIGCONT')
      await paused.said('lost')
      expect(await findOperation(made.database.read, id)).toMatchObject({ state: 'running', attempts: 2 })
      expect(await ledgerRows()).toEqual([])
      other.child.kill('SIGCONT')
      expect(await ended(made.database, id)).toMatchObject({ state: 'succeeded', attempts: 2 })
      expect(await ledgerRows()).toEqual([`${id} live`])
      const { result } = await made.database.read
        .selectFrom('operation_steps')
        .select('result')
        .where('name', '=', 'wait')
        .executeTakeFirstOrThrow()
      expect(Number(result)).toBe(other.child.pid)
    })

    const many = atLength(300, 1000)
    test(`${many} operations of fifty sites on three processes: all are done, never two at one site`, async () => {
      const ids = await made.database.transaction(async (tx) => {
        const all: number[] = []
        for (let number = 0; number < many; number++) {
          const site = 1 + Math.floor(Math.random() * 50)
          all.push(await enqueue(tx, faultTest, { site }, { siteId: site }))
        }
        return all
      })
      for (let count = 0; count < 3; count++) startProcess({ stepMs: 2, concurrency: 8 })
      for (const id of ids) await ended(made.database, id)
      await expectAllDoneOnce(ids)
    })
  })
}
