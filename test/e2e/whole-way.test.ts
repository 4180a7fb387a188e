/** A name typed into a browser leads to the site over https: see `whole-way/journey.ts`. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hasChromium } from '../support/chromium.ts'
import { testCore } from '../support/core.ts'
import { hasPebble } from '../support/pebble.ts'

const core = await testCore()
const has = (program: string, ...words: string[]) => spawnSync(program, words).error === undefined
const hasPrograms = has('unbound', '-V') && has('certutil', '-H') && has('ip', '-V')
/** A network and mounts of its own. */
const apart = ['--net', '--mount', '--propagation', 'private', '--']
const mayPart = spawnSync('unshare', [...apart, 'ip', 'link', 'set', 'lo', 'up']).status === 0

test.runIf(core && hasChromium && hasPebble && hasPrograms && mayPart)(
  'resolver, name server, authority, edge, WordPress and browser',
  { timeout: 600_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stead-apart-'))
    try {
      await writeFile(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n')
      await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost\n')
      const bind = (file: string) => `mount --bind ${join(folder, file)} /etc/${file}`
      const script = `ip link set lo up && ${bind('resolv.conf')} && ${bind('hosts')} && exec "$0" "$1"`
      const journey = join(import.meta.dirname, 'whole-way/journey.ts')
      const words = [...apart, 'sh', '-c', script, process.execPath, journey]
      const { stdout } = await promisify(execFile)('unshare', words, { maxBuffer: 1 << 24 })
      expect(JSON.parse(stdout)).toEqual({
        url: 'https://www.example.test/hello-world/?a=b',
        from: ['http://example.test/hello-world/?a=b', 'https://example.test/hello-world/?a=b'],
        status: 200,
        issuer: expect.stringContaining('Pebble Intermediate'),
        name: 'www.example.test',
        plainLinks: [],
        dashboard: 'https://www.example.test/wp-admin/',
        insecureCookies: [],
        complaints: [],
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)
