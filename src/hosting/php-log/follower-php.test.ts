import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import { fetchPage, testHome, testRequest, testRuntime } from '../../../test/support/home.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import type { LogRecord } from '../../platform/log-store/log-store.ts'
import { PhpLogFollower } from './follower.ts'
import { phpEntryOf } from './php-records.ts'
import { openPlaces } from './positions.ts'

const core = await testCore()

test.skipIf(!core).each(hereRuntimes)(
  'PHP goes on writing while its log is put aside, and no entry is lost: $runtime',
  async ({ runtime: kind, phpVersion }) => {
    const runtime = await testRuntime({ runtime: kind })
    const home = await testHome(core as string, { phpVersion })
    const php = await runtime.start(home)
    const stored: LogRecord[] = []
    const follower = new PhpLogFollower({
      running: () => [{ siteId: 1, homePath: home.homePath }],
      all: async () => [],
      store: {
        async append(_kind, records) {
          stored.push(...records)
        },
      },
      places: openPlaces(join(home.homePath, 'places.db')),
      log: { warn: (facts) => console.error(facts) },
      limits: { everyMs: 5, entriesPerSecond: 1e6, burst: 1e6, backlogBytes: 1e9, passMs: 60_000 },
    })
    try {
      // 60 × 100 × 1.5 kB: the log is put aside twice while PHP runs
      const script = await home.script(
        'log.php',
        'for ($n = 0; $n < 100; $n++) error_log($_GET["round"] . " " . $n . " " . str_repeat("x", 1500)); trigger_error("warned", E_USER_WARNING);',
      )
      follower.start()
      for (let round = 0; round < 60; round++) await fetchPage(php, testRequest(`/log.php?round=${round}`, script))
      const wanted = 60 * 101
      while (stored.length < wanted) await pause(10)
      const entries = stored.map(phpEntryOf)
      expect(entries).toHaveLength(wanted)
      const texts = new Set(
        entries.filter(({ severity }) => severity === 'User').map(({ message }) => message.slice(0, 8)),
      )
      for (let round = 0; round < 60; round++)
        for (let n = 0; n < 100; n++) expect(texts).toContain(`${round} ${n} xxxxxx`.slice(0, 8))
      expect(entries.find(({ severity }) => severity === 'Warning')).toMatchObject({
        message: 'warned',
        file: 'log.php',
        line: 1,
      })
      // the last one may have been put aside, with nothing to write since
      await fetchPage(php, testRequest('/log.php?round=60', script))
      expect(await readdir(join(home.homePath, 'private'))).toContain('php-error.log')
    } finally {
      await php.stop()
      await follower.stop()
      await runtime.close()
      await home.remove()
    }
  },
)
