import { writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import { fetchPage, testBudgets, testDirectory, testRequest } from '../../../test/support/site-directory.ts'
import { runtimes } from '../../../test/support/ways.ts'
import { loginFile } from '../mariadb/on-mariadb.ts'
import { chooseRuntime, databaseKindOf, type RuntimeChoice } from './choose-runtime.ts'
import { type PhpRuntime, PhpUnavailable, phpVersions, runtimesOf } from './runtime.ts'
import { defaultEgressLimits } from './wasm/network/egress.ts'

const core = await testCore()
const native = runtimes.find(({ runtime }) => runtime === 'native')
const lacking = phpVersions.filter((version) => !native?.versions.includes(version))

let runtime: PhpRuntime | undefined
afterEach(() => runtime?.close())

async function choose(
  choice: RuntimeChoice,
  sandbox: 'auto' | 'none' = 'auto',
  hasMariaDb = false,
): Promise<PhpRuntime> {
  const egress = { ...defaultEgressLimits, allows: () => false }
  const both = { sandbox, priority: 0, memoryLimitMb: 128, uploadMaxMb: 8, egress, budgets: testBudgets() }
  const login = { host: '', database: '', user: '', password: '' }
  const databases = hasMariaDb ? { socketFolder: import.meta.dirname, loginOf: async () => login } : undefined
  runtime = await chooseRuntime(choice, { wasm: { ...both, optimize: false }, native: { ...both, databases } })
  return runtime
}

async function kindOf(
  chosen: PhpRuntime,
  phpVersion: (typeof phpVersions)[number],
  isOnServer = false,
): Promise<string> {
  const directory = await testDirectory(core as string, { phpVersion })
  if (isOnServer) await writeFile(loginFile(directory.siteDirectory), '{}')
  try {
    const script = await directory.script('kind.php', 'echo PHP_SAPI;')
    const page = await fetchPage(await chosen.start(directory), testRequest('/kind.php', script))
    return page.text
  } finally {
    await directory.remove()
  }
}

describe.skipIf(!core)('the runtime of a host', () => {
  test('is php-wasm for all versions if configured', async () => {
    const chosen = await choose('wasm')
    expect(chosen.containment().runtimes).toEqual(runtimesOf(() => 'wasm'))
  })

  const [found] = (native?.versions ?? []) as (typeof phpVersions)[number][]

  test.skipIf(native?.skip || lacking.length === 0)(
    'is native on hosts with MariaDB, reports it, and depends on the database of a site directory',
    async () => {
      const chosen = await choose('auto', 'auto', true)
      const said = chosen.containment().runtimes
      for (const version of phpVersions) expect(said[version]).toBe(lacking.includes(version) ? 'wasm' : 'native')
      expect(await kindOf(chosen, found as (typeof phpVersions)[number], true)).toBe('fpm-fcgi')
      expect(await kindOf(chosen, found as (typeof phpVersions)[number])).toBe('cli-server')
      const [version] = lacking as [(typeof phpVersions)[number]]
      expect(await kindOf(chosen, version)).toBe('cli-server')
      await expect(kindOf(chosen, version, true)).rejects.toThrow('the database of the site is on MariaDB')
      expect(databaseKindOf(said, found as (typeof phpVersions)[number], true)).toBe('mariadb')
      expect(databaseKindOf(said, version, true)).toBe('sqlite')
    },
  )

  test.skipIf(native?.skip)('is native without MariaDB only if configured', async () => {
    expect((await choose('auto')).containment().runtimes).toEqual(runtimesOf(() => 'wasm'))
    await runtime?.close()
    const chosen = await choose('native')
    expect(await kindOf(chosen, found as (typeof phpVersions)[number])).toBe('fpm-fcgi')
    await expect(kindOf(chosen, found as (typeof phpVersions)[number], true)).rejects.toThrow('no MariaDB')
  })

  test.skipIf(native?.skip || lacking.length === 0)(
    'refuses versions that this machine lacks, with a reason',
    async () => {
      const chosen = await choose('native')
      const [version] = lacking as [(typeof phpVersions)[number]]
      expect(chosen.containment().runtimes[version]).toBe('refused')
      await expect(kindOf(chosen, version)).rejects.toThrow(PhpUnavailable)
      await expect(kindOf(chosen, version)).rejects.toThrow(`php-fpm${version} is not there`)
    },
  )

  test('is refused if only native PHP is allowed, and none is installed', async () => {
    await expect(choose('native', 'none')).rejects.toThrow(PhpUnavailable)
    runtime = undefined
  })
})
