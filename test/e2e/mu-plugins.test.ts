/**
 * A must-use plugin as an agency has one: a file on a web server, and the front pages of its sites. With real WordPress
 * and real PHP.
 */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type FileServer, startFileServer } from '../support/file-server.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const plugin = (text: string) =>
  `<?php\n/* Plugin Name: Agency banner */\nadd_action('wp_footer', static function () { echo '<p>${text}</p>'; });\n`

describeSites('a must-use plugin', ({ env, testOnce }) => {
  let stead: Stead
  let server: FileServer
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    server = await startFileServer()
    stead = await startStead({ env: { ...env, STEAD_ALLOW_PRIVATE_FETCH: 'true' } })
    for (const name of ['first', 'second']) await stead.createSite({ name })
  })
  afterAll(async () => {
    server?.close()
    await stead?.remove()
  })

  const front = async (site: string) => (await stead.visit(site)).text
  const file = (site: string, name = 'banner.php') => join(stead.directoryOf(site), 'web/wp-content/mu-plugins', name)
  const ordered = async (method: string, path: string, body?: object) => {
    const { status, headers, body: answer } = await stead.api(method, path, body)
    expect([status, answer.errors]).toEqual([200, null])
    const operation = headers.get('operation-id') as string
    const ended = await stead.ended(operation, 120_000)
    const { results = [] } = (await stead.api('GET', `/v1/operations/${operation}`)).body.data
    return { ended, data: answer.data, outcomes: results.map(({ outcome }: { outcome: string }) => outcome) }
  }

  test('changes the front pages of two existing sites, and of one that is created later', async () => {
    for (const site of ['first', 'second']) expect(await front(site)).not.toContain('Made with care')
    server.files.set('/banner.php', plugin('Made with care'))
    const body = { path: `${server.base}/banner.php`, existing_sites: true, future_sites: true }
    const { ended, data, outcomes } = await ordered('POST', '/v1/mu-plugins', body)
    expect(ended).toMatchObject({ state: 'succeeded', error: null })
    expect(outcomes).toEqual(['installed', 'installed'])
    id = data.id
    for (const site of ['first', 'second'])
      await until('the page says it', async () => (await front(site)).includes('Made with care'))
    await stead.createSite({ name: 'third' })
    expect(await front('third')).toContain('Made with care')
  })

  test('updates the sites at once when it is fetched again', async () => {
    for (const text of ['Made in May', 'Made in June']) {
      server.files.set('/banner.php', plugin(text))
      const { ended, outcomes } = await ordered('PUT', `/v1/mu-plugins/${id}`)
      expect(ended).toMatchObject({ state: 'succeeded' })
      expect(outcomes).toEqual(['updated', 'updated', 'updated'])
      for (const site of ['first', 'second', 'third'])
        await until('the page says it', async () => (await front(site)).includes(text))
    }
  })

  test.each([
    [
      "<?php\n\nadd_action('wp_footer', static function () { echo 'x' }\n",
      /syntax error, unexpected token "}".* on line 3$/,
    ],
    ['<?php\nfunction twice() {}\n\nfunction twice() {}\n', /Cannot redeclare (function )?twice\(\).* on line 4$/],
    ['<?php\nbreak;\n', /'break' not in the 'loop' or 'switch' context on line 2$/],
  ])('is refused with PHP’s message when PHP cannot read it, and reaches no site: %#', async (text, words) => {
    server.files.set('/banner.php', text)
    const { ended, outcomes } = await ordered('PUT', `/v1/mu-plugins/${id}`)
    expect(ended).toMatchObject({ state: 'failed', error: expect.stringMatching(words) })
    expect(outcomes).toEqual([])
    for (const site of ['first', 'second', 'third']) expect(await front(site)).toContain('Made in June')
  })

  testOnce('is parsed, but not run, when it needs code of other plugins', async () => {
    const text = `<?php\ndeclare(strict_types=1);\nnamespace Agency;\nthrow new \\Exception(missing());\nfinal class Tool extends \\Elsewhere {}\n`
    server.files.set('/tool.php', text)
    const body = { path: `${server.base}/tool.php`, existing_sites: false, future_sites: false }
    const { ended, outcomes, data } = await ordered('POST', '/v1/mu-plugins', body)
    expect(ended).toMatchObject({ state: 'succeeded', error: null })
    expect(outcomes).toEqual([])
    expect((await ordered('DELETE', `/v1/mu-plugins/${data.id}`)).ended).toMatchObject({ state: 'succeeded' })
  })

  testOnce('keeps its latest version after the restore of an older backup', async () => {
    const { data: sites } = (await stead.api('GET', '/v1/sites')).body
    const first = sites.find(({ name }: { name: string }) => name === 'first').id
    server.files.set('/banner.php', plugin('Before the backup'))
    await ordered('PUT', `/v1/mu-plugins/${id}`)
    await ordered('POST', `/v1/sites/${first}/ondemand-backups`, { backup_type: 'fs' })
    const [backup] = (await stead.api('GET', `/v1/sites/${first}/backups/fs`)).body.data
    server.files.set('/banner.php', plugin('After the backup'))
    await ordered('PUT', `/v1/mu-plugins/${id}`)
    const restore = await ordered('POST', `/v1/sites/${first}/restores`, { filesystem_id: Number(backup.id) })
    expect(restore.ended).toMatchObject({ state: 'succeeded' })
    await until('the page says it', async () => (await front('first')).includes('After the backup'))
  })

  test('is removed from all sites when it is deleted, except where someone changed it', async () => {
    await writeFile(file('second'), plugin('By hand'))
    const { ended, outcomes } = await ordered('DELETE', `/v1/mu-plugins/${id}`)
    expect(ended).toMatchObject({ state: 'succeeded' })
    expect(outcomes).toEqual(['removed', 'kept', 'removed'])
    expect((await stead.api('GET', '/v1/mu-plugins')).body.data).toEqual([])
    for (const site of ['first', 'third'])
      await until('the page is as before', async () => !/Made in June|After the backup/.test(await front(site)))
    expect([existsSync(file('first')), existsSync(file('second'))]).toEqual([false, true])
  })
})
