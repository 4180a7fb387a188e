import { afterEach, describe, expect, test } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import { fetchPage, testBudgets, testHome, testRequest } from '../../../test/support/home.ts'
import { runtimes } from '../../../test/support/ways.ts'
import { chooseRuntime, type RuntimeChoice } from './choose-runtime.ts'
import { type PhpRuntime, PhpUnavailable, phpVersions, runtimesOf } from './runtime.ts'
import { defaultEgressLimits } from './wasm/egress.ts'

const core = await testCore()
const native = runtimes.find(({ runtime }) => runtime === 'native')
const lacking = phpVersions.filter((version) => !native?.versions.includes(version))

let runtime: PhpRuntime | undefined
afterEach(() => runtime?.close())

async function choose(choice: RuntimeChoice, sandbox: 'auto' | 'none' = 'auto'): Promise<PhpRuntime> {
  const egress = { ...defaultEgressLimits, allows: () => false }
  const both = { sandbox, priority: 0, memoryLimitMb: 128, uploadMaxMb: 8, egress, budgets: testBudgets() }
  runtime = await chooseRuntime(choice, { wasm: { ...both, optimize: false }, native: both })
  return runtime
}

async function kindOf(chosen: PhpRuntime, phpVersion: (typeof phpVersions)[number]): Promise<string> {
  const home = await testHome(core as string, { phpVersion })
  try {
    const script = await home.script('kind.php', 'echo PHP_SAPI;')
    const page = await fetchPage(await chosen.start(home), testRequest('/kind.php', script))
    return page.text
  } finally {
    await home.remove()
  }
}

describe.skipIf(!core)('the runtime of a host', () => {
  test('is php-wasm for all versions where that is said', async () => {
    const chosen = await choose('wasm')
    expect(chosen.containment().runtimes).toEqual(runtimesOf(() => 'wasm'))
  })

  test.skipIf(native?.skip || lacking.length === 0)('is native where it can be, and says so', async () => {
    const chosen = await choose('auto')
    const said = chosen.containment().runtimes
    for (const version of phpVersions) expect(said[version]).toBe(lacking.includes(version) ? 'wasm' : 'native')
    expect(await kindOf(chosen, native?.versions[0] as (typeof phpVersions)[number])).toBe('fpm-fcgi')
    expect(await kindOf(chosen, lacking[0] as (typeof phpVersions)[number])).toBe('cli-server')
  })

  test.skipIf(native?.skip || lacking.length === 0)('refuses with a reason what this machine lacks', async () => {
    const chosen = await choose('native')
    const [version] = lacking as [(typeof phpVersions)[number]]
    expect(chosen.containment().runtimes[version]).toBe('refused')
    await expect(kindOf(chosen, version)).rejects.toThrow(PhpUnavailable)
    await expect(kindOf(chosen, version)).rejects.toThrow(`php-fpm${version} is not there`)
  })

  test('is none where only native PHP would do, and there is none', async () => {
    await expect(choose('native', 'none')).rejects.toThrow(PhpUnavailable)
    runtime = undefined
  })
})
