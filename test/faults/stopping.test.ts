/** Stops the real program in all the ways that a terminal, npm, systemd, and the kernel have. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { descendantsOf, type RunningProcess, stillRunning } from '../support/processes.ts'
import { prepareStead, program, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import type { Page } from '../support/visit.ts'

const core = await testCore()
/** A Node that the launcher takes for an old one, so that it hands over to Stead's own Node. */
const asOldNode = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.0.0'}})`

/** Answers when the test lets it. */
const slow =
  "<?php touch('/tmp/working'); while (!file_exists('/tmp/go')) { clearstatcache(); usleep(20000); } echo 'to the end';"
const endless = "<?php touch('/tmp/begun'); while (true) usleep(20000);"

async function makeSites(stead: Stead, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await stead.createSite({ name })
    await writeFile(join(stead.directoryOf(name), 'web/slow.php'), slow)
    await writeFile(join(stead.directoryOf(name), 'web/endless.php'), endless)
  }
}

/** Starts `each` requests to every site, and waits until the host has them all. */
async function beginRequests(stead: Stead, names: readonly string[], each: number): Promise<Promise<Page | Error>[]> {
  const inTmp = (name: string, file: string) => join(stead.directoryOf(name), 'private/tmp', file)
  for (const name of names) for (const file of ['go', 'working']) await rm(inTmp(name, file), { force: true })
  const pages = names.flatMap((name) =>
    Array.from({ length: each }, (_, n) => stead.visit(name, `/slow.php?n=${n}`).catch((error) => error as Error)),
  )
  await until('the host has all requests', async () => {
    const { hosts } = (await (await fetch(`${stead.apiUrl}/readyz`)).json()) as {
      hosts: { php: Record<string, number> }[]
    }
    return hosts[0]?.php.busy === names.length && (hosts[0].php.waiting ?? 0) >= names.length * (each - 1)
  })
  // a process that is still starting ends on any signal, as every Node does until its first line
  await until('PHP is at work', () => names.every((name) => existsSync(inTmp(name, 'working'))))
  return pages
}

const letGo = async (stead: Stead, names: readonly string[]) => {
  for (const name of names) await writeFile(join(stead.directoryOf(name), 'private/tmp/go'), '')
}

const textOf = (page: Page | Error): string => (page instanceof Error ? `broken off: ${page.message}` : page.text)

const groupOf = (stead: Stead): number => stead.role('supervisor')?.pid as number

/** @returns the processes of Stead before the signal, to check which are left */
async function tell(stead: Stead, send: () => void): Promise<RunningProcess[]> {
  const all = stead.processes()
  const before = stead.output().length
  send()
  await until('it stops', () => stead.output().slice(before).includes('"stopping"'))
  return all
}

describe.skipIf(!core).each(['auto', 'none'])('stopping, sandbox %s', (sandbox) => {
  const names = ['first', 'second', 'third']
  // ways to stop that never reach PHP: one sandbox is enough
  const testOnce = test.runIf(sandbox === 'auto')
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_SANDBOX: sandbox, STEAD_PREPARED_SITES: '3' } })
    await makeSites(stead, names)
  })
  afterAll(() => stead?.remove())

  const ways: [string, () => void][] = [
    [
      'SIGTERM to every single process, as systemd does by default',
      () => {
        for (const { pid } of [...stead.processes(), { pid: groupOf(stead) }]) process.kill(pid, 'SIGTERM')
      },
    ],
    ['SIGTERM to the whole group', () => process.kill(-groupOf(stead), 'SIGTERM')],
    ['SIGINT to the whole group, as Ctrl-C', () => process.kill(-groupOf(stead), 'SIGINT')],
  ]
  test.each(sandbox === 'auto' ? ways : ways.slice(0, 1))(
    '%s: all requests in flight are answered completely, then everything ends',
    async (_, send) => {
      const pages = await beginRequests(stead, names, 3)
      const ended = new Promise((resolve) => stead.whenEnded(resolve))
      const all = await tell(stead, send)
      await letGo(stead, names)
      expect((await Promise.all(pages)).map(textOf)).toEqual(pages.map(() => 'to the end'))
      expect(await ended).toBe(0)
      expect(stillRunning(all)).toEqual([])
      await stead.start()
    },
  )

  testOnce('a signal to a child alone changes nothing: the supervisor does the stopping', async () => {
    const parts = (['edge', 'control', 'host'] as const).map((name) => stead.role(name) as RunningProcess)
    for (const { pid } of parts)
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal)
    const pages = await beginRequests(stead, names, 1)
    await letGo(stead, names)
    expect((await Promise.all(pages)).map(textOf)).toEqual(pages.map(() => 'to the end'))
    expect(stillRunning(parts)).toEqual(parts)
  })

  testOnce('a second Ctrl-C does not wait for requests in flight', async () => {
    await rm(join(stead.directoryOf('first'), 'private/tmp/begun'), { force: true })
    const page = stead.visit('first', '/endless.php').catch((error) => error as Error)
    await until('PHP works on it', () => existsSync(join(stead.directoryOf('first'), 'private/tmp/begun')))
    const ended = new Promise((resolve) => stead.whenEnded(resolve))
    const group = groupOf(stead)
    const all = await tell(stead, () => process.kill(-group, 'SIGINT'))
    expect(stead.output()).toContain('Press Ctrl-C again to stop immediately')
    await until('the second press is noticed', () => {
      if (stead.output().includes('Stopped immediately')) return true
      process.kill(-group, 'SIGINT')
      return false
    })
    expect(await ended).toBe(130)
    await until('nothing is left', () => stillRunning(all).length === 0)
    expect(await page).not.toMatchObject({ status: 200 })
    await stead.start()
  })

  testOnce('a stop at any moment of the start ends it and leaves nothing behind, and it starts again', async () => {
    await stead.stop()
    let before = 0
    const says = (text: string) => () => stead.output().slice(before).includes(text)
    const moments: [string, () => boolean][] = [
      ['its first process runs', () => groupOf(stead) > 0],
      ['it begins', says('Starting Stead')],
      ['a part starts', () => stead.role('host') !== undefined],
      ['the edge listens', says('edge is listening')],
      ['the API listens', says('the API listens')],
    ]
    for (const [moment, isNow] of moments) {
      before = stead.output().length
      // At the last moments it may be ready before the signal arrives.
      const started = stead.start().catch(() => undefined)
      const ended = new Promise((resolve) => stead.whenEnded(resolve))
      await until(moment, isNow)
      const all = stead.processes()
      process.kill(groupOf(stead), 'SIGTERM')
      expect([moment, await ended]).toEqual([moment, expect.toBeOneOf([0, null])])
      await started
      await until('nothing is left', () => stillRunning(all).length === 0)
    }
    await stead.start()
    await letGo(stead, ['first'])
    expect((await stead.visit('first', '/slow.php')).text).toBe('to the end')
  })

  test('kill -9 of the supervisor: every role and every PHP ends', async () => {
    const pages = await beginRequests(stead, ['first'], 1)
    const all = stead.processes()
    expect(stead.phpProcesses()).not.toEqual([])
    stead.kill('supervisor')
    await letGo(stead, ['first'])
    await until('nothing is left', () => stillRunning(all).length === 0)
    await Promise.all(pages)
    await stead.start()
    expect((await stead.visit('first', '/slow.php')).text).toBe('to the end')
  })
})

describe('stopping a start', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  afterEach(() => stead?.remove())

  test('Ctrl-C does not wait for roles that are still starting', async () => {
    stead = await prepareStead({ golden: false, env: { STEAD_PREPARED_SITES: '0' } })
    const started = stead.start().catch((error) => error as Error)
    // none of them handles an order then, as while it loads its code
    const held = await Promise.all(
      (['edge', 'control', 'host'] as const).map(async (name) => {
        const part = await until(`the ${name} starts`, () => stead.role(name))
        process.kill(part.pid, 'SIGSTOP')
        return part
      }),
    )
    const ended = new Promise((resolve) => stead.whenEnded(resolve))
    await tell(stead, () => process.kill(-groupOf(stead), 'SIGINT'))
    expect(await ended).toBe(0)
    expect(stead.output()).toContain('ending a part that is still starting')
    expect(stillRunning(held)).toEqual([])
    await started
  })
})

describe.skipIf(!core)('without the process that started it', () => {
  const launcher = [process.execPath, '--import', asOldNode, program, 'serve']
  let stead: Stead
  showOutputOfFailures(() => stead)
  afterEach(() => stead?.remove())
  const launched = async (launch: readonly string[]) => {
    stead = await startStead({ launch, env: { STEAD_PREPARED_SITES: '1' } })
    await makeSites(stead, ['first'])
    return beginRequests(stead, ['first'], 2)
  }
  const allEndsWell = async (pages: readonly Promise<Page | Error>[], send: () => void) => {
    const all = await tell(stead, send)
    await letGo(stead, ['first'])
    expect((await Promise.all(pages)).map(textOf)).toEqual(pages.map(() => 'to the end'))
    await until('nothing is left', () => stillRunning(all).length === 0)
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to the group of a launcher that handed over: it stops once, with its exit code',
    async (signal) => {
      const pages = await launched(launcher)
      const ended = new Promise((resolve) => stead.whenEnded(resolve))
      await allEndsWell(pages, () => process.kill(-groupOf(stead), signal))
      expect(await ended).toBe(0)
    },
  )

  test('kill -9 of a launcher that handed over: Stead finishes requests in flight, and ends', async () => {
    const pages = await launched(launcher)
    await allEndsWell(pages, () => stead.kill('supervisor'))
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    '%s to npm start: Stead finishes requests in flight, and ends',
    async (signal) => {
      const pages = await launched(['npm', 'start', '--silent'])
      await allEndsWell(pages, () => process.kill(groupOf(stead), signal))
    },
  )

  test('nohup in a shell that exits, as does the reader of the log: Stead keeps running', async () => {
    stead = await prepareStead({ env: { STEAD_PREPARED_SITES: '0', STEAD_LOG_LEVEL: 'trace' } })
    const words = join(stead.dataDir, 'words')
    const shell = `nohup "${process.execPath}" --import "${asOldNode}" "${program}" serve > >(head -n 1 >"${words}") 2>&1 & echo $!`
    const run = spawn('bash', ['-c', shell], { env: stead.environment(), stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(await new Promise((resolve) => run.stdout.once('data', (text) => resolve(String(text)))))
    try {
      if (run.exitCode === null) await once(run, 'exit')
      await until(
        'it is ready',
        async () => (await fetch(`${stead.apiUrl}/readyz`).catch(() => undefined))?.status === 200,
      )
      // nothing has read more than the first line
      expect((await readFile(words, 'utf8')).trim().split('\n')).toHaveLength(1)
      expect((await stead.api('GET', '/v1/sites')).status).toBe(200)
    } finally {
      const all = descendantsOf(pid)
      process.kill(pid, 'SIGTERM')
      await until(
        'it has ended',
        async () => (await fetch(`${stead.apiUrl}/healthz`).catch(() => undefined)) === undefined,
      )
      await until('its launcher has ended', () => !existsSync(`/proc/${pid}/cwd`))
      // What still writes would keep the removal of the folder busy.
      await until('nothing is left', () => stillRunning(all).length === 0)
    }
  })

  test('with a reader of its log that stalls, Stead goes on, and ends when it is told to', async () => {
    stead = await prepareStead({ env: { STEAD_PREPARED_SITES: '0', STEAD_LOG_LEVEL: 'trace' } })
    const path = join(stead.dataDir, 'pipe')
    execFileSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    // All that a pipe holds, minus one page. The first lines fill it.
    const full = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    writeSync(full, Buffer.alloc(15 * 4096))
    const run = spawn(process.execPath, [program, 'serve'], { env: stead.environment(), stdio: ['ignore', full, full] })
    closeSync(full)
    try {
      await until(
        'it is ready',
        async () => (await fetch(`${stead.apiUrl}/readyz`).catch(() => undefined))?.status === 200,
      )
      expect((await stead.api('GET', '/v1/sites')).status).toBe(200)
      const all = stead.processes()
      run.kill('SIGTERM')
      // parts that hang are killed after half a minute: each of the three in its turn
      expect(await once(run, 'exit')).toEqual([0, null])
      expect(stillRunning(all)).toEqual([])
    } finally {
      run.kill('SIGKILL')
      closeSync(reader)
    }
  }, 60_000)
})
