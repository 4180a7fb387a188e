/** Helpers that open a sandbox's network for the host end with it, whenever the host is killed. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareNative } from './program.ts'

const maySandbox =
  process.getuid?.() === 0 && ['/usr/bin/unshare', '/usr/bin/setpriv'].every((program) => existsSync(program))

describe.skipIf(!maySandbox)('helpers of networks', () => {
  let folder: string
  let program: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-networks-'))
    const prepared = await prepareNative('', {}, folder)
    program = prepared.networkChild
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Returns the running helpers with this command line. An exited process keeps its entry until a parent reaps it. */
  async function helpers(): Promise<{ pid: number; isListening: boolean }[]> {
    const found = []
    for (const name of await readdir('/proc')) {
      const read = (file: string) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '')
      if (!/^\d+$/.test(name) || !(await read('cmdline')).includes(`${program}\0`)) continue
      if (!/\) [^Z]/.test(await read('stat'))) continue
      // Port 1 in state LISTEN.
      found.push({
        pid: Number(name),
        isListening: /:0001 \S+ 0A /.test((await read('net/tcp6')) + (await read('net/tcp'))),
      })
    }
    return found
  }
  /** Runs a program that creates networks. */
  const host = (code: string) => {
    const env = { ...process.env, NODE_OPTIONS: '', PROGRAM: program }
    return spawn(process.execPath, ['--input-type=module', '--eval', code], { env, stdio: 'ignore' })
  }

  test('end while a network is being created or handed over', async () => {
    const code = `import { Networks } from '${import.meta.dirname}/networks.ts'
      const networks = new Networks(process.env.PROGRAM, 0)
      for (;;) (await networks.take()).close()`
    for (let round = 1; round <= 5; round++) {
      const its = host(code)
      let looks = 0
      try {
        // At another moment in each round.
        const moment = async () => (await helpers()).length > 0 && ++looks >= round
        await expect.poll(moment, { interval: 1, timeout: 60_000 }).toBe(true)
      } finally {
        its.kill('SIGKILL')
      }
      await expect.poll(async () => (await helpers()).length, { timeout: 60_000 }).toBe(0)
    }
  })

  test('end while waiting for the host to accept handles, when only the closing of a pipe reveals its end', async () => {
    const code = `import { spawn } from 'node:child_process'
      spawn('unshare', ['--net', '--', 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh', process.execPath, process.env.PROGRAM], { stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'] })
      process.kill(process.pid, 'SIGSTOP')`
    const its = host(code)
    try {
      // It sends handles that a stopped host does not accept.
      await expect
        .poll(async () => (await helpers()).some(({ isListening }) => isListening), { timeout: 60_000 })
        .toBe(true)
    } finally {
      its.kill('SIGKILL')
    }
    await expect.poll(async () => (await helpers()).length, { timeout: 60_000 }).toBe(0)
  })
})
