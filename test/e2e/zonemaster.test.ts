/**
 * What the tool of two registries reports about zones that Stead serves, plain and signed: see `zonemaster/looks.ts`.
 */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const has = (program: string, ...words: string[]) => spawnSync(program, words).error === undefined
const hasPrograms = has('zonemaster-cli', '--version') && has('nsd', '-v') && has('dig', '-v') && has('ip', '-V')
const apart = ['--net', '--', 'sh', '-c', 'ip link set lo up && exec "$0" "$@"']
const mayPart = spawnSync('unshare', [...apart, 'true']).status === 0

interface Found {
  readonly module: string
  readonly level: string
  readonly tag: string
}

test.runIf(hasPrograms && mayPart)(
  'finds no error in a plain zone or in a signed one',
  { timeout: 600_000 },
  async () => {
    const looks = join(import.meta.dirname, 'zonemaster/looks.ts')
    const { stdout } = await promisify(execFile)('unshare', [...apart, process.execPath, looks], { maxBuffer: 1 << 24 })
    const seen = JSON.parse(stdout) as Record<string, Found[]>
    expect(Object.keys(seen)).toEqual(['plain.test', 'signed.test'])
    for (const [zone, found] of Object.entries(seen)) {
      const worse = found
        .filter(({ level }) => !['INFO', 'NOTICE'].includes(level))
        .map(({ level, tag }) => `${level} ${tag}`)
      // the addresses of an isolated network have no names
      expect(new Set(worse), zone).toEqual(new Set(['WARNING NAMESERVER_IP_WITHOUT_REVERSE']))
      // all modules were run
      const modules = found.map(({ module }) => module)
      for (const module of ['BASIC', 'CONSISTENCY', 'DELEGATION', 'DNSSEC', 'NAMESERVER', 'SYNTAX', 'ZONE'])
        expect(modules, zone).toContain(module)
    }
  },
)
