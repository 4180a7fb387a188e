/**
 * Processes of the real program are killed while a page is changed and read: nobody sees a page from before an
 * acknowledged change.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atLength } from '../support/at-length.ts'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

/** Changes a post as an editor would. Pages that are read after this response must show this change, or a later one. */
const change = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
wp_update_post(['ID' => 1, 'post_content' => 'value-' . (int) $_GET['n'] . '-']);
echo 'set ', (int) $_GET['n'];`
const where = `<?php require 'wp-load.php'; header('Cache-Control: no-store'); echo parse_url(get_permalink(1), PHP_URL_PATH);`
const parts = ['edge', 'host', 'PHP', 'control'] as const

describe.skipIf(!core)('a page that changes while processes are killed', () => {
  let stead: Stead
  let path: string
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '1' } })
    await stead.createSite({ name: 'changing' })
    for (const [file, code] of Object.entries({ 'change.php': change, 'where.php': where }))
      await writeFile(join(stead.directoryOf('changing'), 'web', file), code)
    path = (await stead.visit('changing', '/where.php')).text
  })
  afterAll(() => stead?.remove())

  async function killed(part: (typeof parts)[number]): Promise<void> {
    if (part === 'PHP') {
      for (const { pid } of stead.phpProcesses()) process.kill(pid, 'SIGKILL')
      return
    }
    const old = stead.role(part)
    stead.kill(part)
    await until(`a new ${part} runs`, () => {
      const found = stead.role(part)
      return found !== undefined && found.pid !== old?.pid
    })
  }

  test('is fresh after each acknowledged change, also from the cache', async () => {
    let [answered, going, hits, reads] = [0, true, 0, 0]
    const stale: unknown[] = []
    const write = async () => {
      for (let n = 1; going; n++) {
        const page = await stead.visit('changing', `/change.php?n=${n}`, { method: 'POST' }).catch(() => undefined)
        if (page?.status === 200 && page.text === `set ${n}`) answered = n
        // wait for a cache hit before the next change: a site that changes all the time would never have one
        const shown = hits
        await pause(1100)
        while (going && hits === shown) await pause(20)
      }
    }
    const read = async () => {
      while (going) {
        const least = answered
        const page = await stead.visit('changing', path).catch(() => undefined)
        if (page?.status !== 200) {
          await pause(20)
          continue
        }
        reads++
        if (String(page.headers['cache-status']).includes('; hit')) hits++
        const value = Number(/value-(\d+)-/.exec(page.text)?.[1] ?? 0)
        if (value < least) stale.push({ least, value, cache: page.headers['cache-status'] })
        await pause(2)
      }
    }
    const working = [write(), read(), read()]
    try {
      for (let kill = 0; kill < atLength(8, 60); kill++) {
        const [changes, shown] = [answered, hits]
        await until('it is changed, and comes from the cache', () => answered > changes && hits > shown)
        await killed(parts[kill % parts.length] as (typeof parts)[number])
      }
      const changes = answered
      await until('it is changed again', () => answered > changes)
    } finally {
      going = false
      await Promise.all(working)
    }
    expect(stale).toEqual([])
    expect([hits > 0, reads > hits]).toEqual([true, true])
  })
})
