/** Repeats tests of containment, which root has run, as a user without privileges. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { postgresUrl } from '../support/database.ts'

const core = await testCore()
const root = join(import.meta.dirname, '../..')
const isRoot = process.getuid?.() === 0
const user = isRoot ? userWithoutRights() : undefined

describe.skipIf(!core || !user || !existsSync('/usr/bin/setpriv'))(
  'as a user without privileges',
  { timeout: 600_000 },
  () => {
    let folder: string
    let run: ChildProcess | undefined
    beforeAll(async () => {
      const { uid, gid } = user as { uid: number; gid: number }
      folder = await mkdtemp(join(tmpdir(), 'stead-plain-user-'))
      await chmod(folder, 0o711)
      for (const name of ['home', 'repository']) await mkdir(join(folder, name))
      await chown(join(folder, 'home'), uid, gid)
    })
    afterAll(async () => {
      if (run?.pid && run.exitCode === null) process.kill(-run.pid, 'SIGKILL')
      if (folder) await rm(folder, { recursive: true })
    })

    /** Runs test files as this user. None may fail. @returns the names of tests by state */
    async function runAsUser(files: readonly string[], env: Record<string, string> = {}) {
      const { uid, gid } = user as { uid: number; gid: number }
      const report = join(folder, 'home/report.json')
      const asUser = [
        'setpriv',
        '--reuid',
        `${uid}`,
        '--regid',
        `${gid}`,
        '--clear-groups',
        '--no-new-privs',
        '--pdeathsig',
        'KILL',
      ]
      const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--configLoader', 'native']
      const reporters = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', report]
      const { prefix, node } = reachable()
      const [command, ...words] = [...prefix, ...asUser, node, ...vitest, ...reporters, ...files]
      const started = spawn(command as string, words, {
        cwd: root,
        env: {
          PATH: process.env.PATH,
          HOME: join(folder, 'home'),
          TMPDIR: join(folder, 'home'),
          TEST_WORDPRESS_CORE: core,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      run = started
      let said = ''
      for (const stream of [started.stdout, started.stderr])
        stream.on('data', (text) => {
          said = (said + text).slice(-20_000)
        })
      const [code] = (await once(started, 'close')) as [number]
      if (code !== 0) console.error(said)
      const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report
      const results = testResults.flatMap(({ assertionResults }) => assertionResults)
      const failed = results.filter(({ status }) => status === 'failed')
      // The result of a whole run shows the first line.
      const reasons = failed.map(
        ({ fullName, failureMessages }) => `${fullName}: ${failureMessages?.[0]?.split('\n')[0]}`,
      )
      if (reasons.length > 0) throw new Error(reasons.join('; '))
      expect(code).toBe(0)
      return {
        passed: results.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName),
        skipped: results
          .filter(({ status }) => status === 'pending' || status === 'skipped')
          .map(({ fullName }) => fullName),
      }
    }

    /** Shows the user a folder that only root may enter, at another path. */
    function reachable(): { prefix: string[]; node: string } {
      if (everyoneMayPass(root)) return { prefix: [], node: process.execPath }
      const at = join(folder, 'repository')
      const inside = relative(root, process.execPath)
      const show = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"'
      return {
        prefix: ['unshare', '--mount', 'sh', '-c', show, root, at],
        node: inside.startsWith('..') ? process.execPath : join(at, inside),
      }
    }

    test('containment holds in all ways that such a user can use', async () => {
      const files = ['hostile', 'process', 'network/egress'].map((name) => `src/hosting/php/wasm/${name}.test.ts`)
      const { passed, skipped } = await runAsUser(files)
      for (const skip of skipped) console.warn(`SKIPPED as a user without rights: ${skip}`)
      // only bubblewrap may be missing
      expect(skipped.filter((name) => !name.includes('bubblewrap'))).toEqual([])
      for (const kind of ['hostile PHP', 'a PHP process'])
        expect(
          passed.filter((name) => name.includes(kind) && name.includes('Node’s permissions')).length,
        ).toBeGreaterThan(5)
    })

    test.skipIf(!postgresUrl)('Stead runs on PostgreSQL without bubblewrap', async () => {
      const env = { TEST_POSTGRES_URL: postgresUrl as string, TEST_SANDBOX: 'none' }
      const { passed } = await runAsUser(['test/e2e/postgres.test.ts'], env)
      expect(passed.filter((name) => name.startsWith('the main job on PostgreSQL'))).toHaveLength(1)
    })
  },
)

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly Result[] }[]
}

interface Result {
  readonly status: string
  readonly fullName: string
  readonly failureMessages?: readonly string[]
}

/** Debian's `nobody`, if the list of users has it. */
function userWithoutRights(): { uid: number; gid: number } | undefined {
  try {
    const [uid, gid] = execFileSync('getent', ['passwd', 'nobody'], { encoding: 'utf8' }).split(':').slice(2, 4)
    return { uid: Number(uid), gid: Number(gid) }
  } catch {
    return undefined
  }
}

function everyoneMayPass(path: string): boolean {
  for (let above = path; ; above = dirname(above)) {
    if ((statSync(above).mode & 0o005) !== 0o005 && above === path) return false
    if ((statSync(above).mode & 0o001) === 0) return false
    if (above === dirname(above)) return true
  }
}
