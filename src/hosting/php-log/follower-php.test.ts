import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import { fetchPage, testDirectory, testRequest, testRuntime } from '../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import type { LogRecord } from '../../platform/log-store/log-store.ts'
import { PhpLogFollower } from './follower.ts'
import { phpEntryOf } from './php-records.ts'
import { openPlaces } from './positions.ts'

const core = await testCore()

test.skipIf(!core).each(hereRuntimes)(
  'loses no entry while PHP keeps writing and its log is rotated: $runtime',
  async ({ runtime: kind, phpVersion }) => {
    const runtime = await testRuntime({ runtime: kind })
    const directory = await testDirectory(core as string, { phpVersion })
    const php = await runtime.start(directory)
    const stored: LogRecord[] = []
    const follower = new PhpLogFollower({
      running: () => [{ siteId: 1, siteDirectory: directory.siteDirectory }],
      all: async () => [],
      store: {
        async append(_kind, records) {
          stored.push(...records)
        },
      },
      places: openPlaces(join(directory.siteDirectory, 'places.db')),
      log: { warn: (facts) => console.error(facts) },
      limits: { everyMs: 5, entriesPerSecond: 1e6, burst: 1e6, backlogBytes: 1e9, passMs: 60_000 },
    })
    try {
      // 60 × 100 × 1.5 kB: the log is rotated twice while PHP runs.
      const script = await directory.script(
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
      // The last log may have been rotated, with nothing written since.
      await fetchPage(php, testRequest('/log.php?round=60', script))
      expect(await readdir(join(directory.siteDirectory, 'private'))).toContain('php-error.log')
    } finally {
      await php.stop()
      await follower.stop()
      await runtime.close()
      await directory.remove()
    }
  },
)

test.skipIf(!core).each(hereRuntimes)(
  'logs a deprecation that a plugin raises, even if WordPress is not in debug mode: $runtime',
  async ({ runtime: kind, phpVersion }) => {
    const runtime = await testRuntime({ runtime: kind })
    const directory = await testDirectory(core as string, { phpVersion })
    const php = await runtime.start(directory)
    try {
      const raise = ['WARNING', 'DEPRECATED', 'NOTICE']
        .map((level) => `trigger_error("E_USER_${level}", E_USER_${level});`)
        .join(' ')
      const alone = await directory.script('alone.php', raise)
      const below = await directory.script(
        'below.php',
        // In the order of wp-settings.php, because the site directory of this test has no database.
        `define('ABSPATH', __DIR__ . '/'); define('WPINC', 'wp-includes'); define('WP_DEBUG', !empty($_GET['debug']));
         define('WP_DEBUG_DISPLAY', false); define('WP_DEBUG_LOG', false);
         require ABSPATH . WPINC . '/load.php'; require ABSPATH . WPINC . '/plugin.php'; wp_debug_mode(); ${raise}`,
      )
      const logged = async (script: string, path: string) => {
        const before = await read(directory.siteDirectory)
        await fetchPage(php, testRequest(path, script))
        return [
          ...(await read(directory.siteDirectory)).slice(before.length).matchAll(/PHP (.*?): +(E_USER_\w+)/g),
        ].map(([, severity, level]) => `${level}: ${severity}`)
      }
      const wanted = ['E_USER_WARNING: Warning', 'E_USER_DEPRECATED: Deprecated']
      const all = [...wanted, 'E_USER_NOTICE: Notice']
      expect(await logged(alone, '/alone.php')).toEqual(all)
      expect(await logged(below, '/below.php')).toEqual(wanted)
      expect(await logged(below, '/below.php?debug=1')).toEqual(all)
    } finally {
      await php.stop()
      await runtime.close()
      await directory.remove()
    }
  },
)

const read = (siteDirectory: string) => readFile(join(siteDirectory, 'private/php-error.log'), 'utf8').catch(() => '')
