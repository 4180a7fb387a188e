/** A staging site on another machine than its live site, in real WordPress: preview, push, undo. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { type HostPart, type Lab, openLab } from './lab/lab.ts'
import { placeOf } from './lab/load.ts'
import { hasNamespaces } from './lab/network.ts'

const core = await testCore()

/** A PHP file that writes content, and one that shows it. */
const WRITE = `<?php require 'wp-load.php';
  if (isset($_GET['post'])) wp_insert_post(['post_title' => $_GET['post'], 'post_status' => 'publish']);
  if (isset($_GET['comment'])) wp_insert_comment(['comment_post_ID' => 1, 'comment_content' => $_GET['comment'], 'comment_author' => 'Visitor', 'comment_approved' => 1]);
  echo 'written';`
const SHOW = `<?php require 'wp-load.php'; header('Cache-Control: no-store'); global $wpdb;
  echo json_encode(['posts' => $wpdb->get_col("SELECT post_title FROM $wpdb->posts WHERE post_type = 'post' AND post_status = 'publish' ORDER BY post_title"),
    'comments' => $wpdb->get_col("SELECT comment_content FROM $wpdb->comments WHERE comment_author = 'Visitor'"), 'home' => home_url()]);`
const STYLE = 'wp-content/themes/twentytwentyfive/style.css'
const MU_PLUGIN = 'wp-content/mu-plugins/agency.php'
const UPLOAD = 'wp-content/uploads/picture.txt'

interface TableCounts {
  readonly table: string
  readonly rows: number | null
  readonly fromRows: number | null
}

describe.skipIf(!core || !hasPostgres || !hasNamespaces)('a staging site on another machine', () => {
  let lab: Lab
  let [h1, h2]: HostPart[] = []
  let live: number
  let staging: number
  let webOf: { readonly live: string; readonly staging: string }
  beforeAll(async () => {
    lab = await openLab({ edges: 1 })
    ;[h1, h2] = lab.hosts
    live = await lab.createSite('shop', h1)
    staging = await lab.createSite('shop-staging', h2)
    const webOn = async (host: HostPart | undefined, site: number) =>
      join((host as HostPart).dataDir, 'sites', `h${await placeOf(lab, site)}`, 'web')
    webOf = { live: await webOn(h1, live), staging: await webOn(h2, staging) }
    for (const web of Object.values(webOf)) {
      for (const folder of [MU_PLUGIN, UPLOAD]) await mkdir(join(web, dirname(folder)), { recursive: true })
      await writeFile(join(web, 'write.php'), WRITE)
      await writeFile(join(web, 'show.php'), SHOW)
    }
    expect((await lab.api('POST', `/v1/sites/${live}/environments`, { site_id: staging })).status).toBe(200)
  })
  afterAll(() => lab?.remove())
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const part of [...lab.controls, ...lab.hosts])
      console.error(`--- ${part.machine.name}, ${task.name}\n${part.output().slice(-3000)}`)
  })

  const write = async (site: string, query: string) =>
    expect((await lab.visit(0, site, `/write.php?${query}`)).text).toBe('written')
  const show = async (site: string) => JSON.parse((await lab.visit(0, site, '/show.php')).text)
  const file = (path: string) => readFile(path, 'utf8').catch(() => null)
  const path = () => `/v1/sites/${live}/environments/${staging}`
  async function done(endpoint: string, body?: object): Promise<string> {
    const asked = await lab.api('POST', endpoint, body)
    expect([asked.status, asked.body.errors]).toEqual([200, null])
    const id = (asked.headers.get('operation-id') ?? String(asked.body.data?.id)) as string
    expect(await lab.ended(id)).toMatchObject({ state: 'succeeded', error: null })
    return id
  }
  const push = (body: object) => done(`${path()}/push`, body)
  const undo = (id: string) => done(`/v1/operations/${id}/undo`)
  async function preview(way: 'push' | 'pull', body: object) {
    const id = await done(`${path()}/${way}`, { ...body, dry_run: true })
    const report = (await lab.api('GET', `${path()}/previews/${id}`)).body.data
    const tables: readonly TableCounts[] = report.database?.tables ?? []
    return { ...report, rowsOf: (name: string) => tables.find(({ table }) => table === name) }
  }

  test('the preview compares files, and counts the rows of both sites', async () => {
    await write('shop', 'comment=Bought')
    await write('shop-staging', 'post=Draft+of+the+agency')
    await write('shop-staging', 'post=Another+one')
    const style = await file(join(webOf.staging, STYLE))
    await writeFile(join(webOf.staging, STYLE), `${style}/* new */`)
    await writeFile(join(webOf.staging, MU_PLUGIN), '<?php // of the agency')
    await writeFile(join(webOf.staging, UPLOAD), 'a picture')
    const pushed = await preview('push', { preset: 'everything' })
    expect(pushed.files.changed.first).toContain(STYLE)
    expect(pushed.files.added.first).toEqual(expect.arrayContaining([MU_PLUGIN, UPLOAD]))
    const comments = pushed.rowsOf('wp_comments')
    expect(comments?.rows).toBe((comments?.fromRows ?? Number.NaN) + 1)
    const posts = pushed.rowsOf('wp_posts')
    expect(posts?.fromRows).toBe((posts?.rows ?? Number.NaN) + 2)
    // The other way round, the live site is the one in the storage.
    const pulled = await preview('pull', { preset: 'content' })
    expect(pulled.rowsOf('wp_comments')).toEqual({
      table: 'wp_comments',
      rows: comments?.fromRows,
      fromRows: comments?.rows,
    })
    expect(await file(join(webOf.live, STYLE))).toBe(style)
    expect((await show('shop')).posts).not.toContain('Draft of the agency')
  })

  test('a push of the code keeps the content, and can be undone', async () => {
    const before = await file(join(webOf.live, STYLE))
    const id = await push({ preset: 'code' })
    expect(await file(join(webOf.live, STYLE))).toBe(`${before}/* new */`)
    expect(await file(join(webOf.live, MU_PLUGIN))).toBe('<?php // of the agency')
    expect(await file(join(webOf.live, UPLOAD))).toBe(null)
    const shown = await show('shop')
    expect(shown.comments).toEqual(['Bought'])
    expect(shown.posts).not.toContain('Draft of the agency')
    await undo(id)
    expect([await file(join(webOf.live, STYLE)), await file(join(webOf.live, MU_PLUGIN))]).toEqual([before, null])
    expect((await show('shop')).comments).toEqual(['Bought'])
  })

  test('a push of the content keeps the code and the address, and can be undone', async () => {
    const before = await show('shop')
    const style = await file(join(webOf.live, STYLE))
    const id = await push({ preset: 'content' })
    const shown = await show('shop')
    expect(shown).toMatchObject({ comments: [], home: before.home })
    expect(shown.posts).toEqual(expect.arrayContaining(['Draft of the agency', 'Another one']))
    expect([await file(join(webOf.live, UPLOAD)), await file(join(webOf.live, STYLE))]).toEqual(['a picture', style])
    await undo(id)
    expect(await show('shop')).toEqual(before)
    expect(await file(join(webOf.live, UPLOAD))).toBe(null)
  })

  test('a push of chosen folders and tables overwrites only these, and can be undone', async () => {
    const before = await show('shop')
    const id = await push({ preset: 'chosen', folders: ['mu-plugins'], tables: ['wp_posts'] })
    const shown = await show('shop')
    expect(shown).toMatchObject({ comments: ['Bought'], home: before.home })
    expect(shown.posts).toContain('Draft of the agency')
    expect(await file(join(webOf.live, MU_PLUGIN))).toBe('<?php // of the agency')
    expect(await file(join(webOf.live, UPLOAD))).toBe(null)
    await undo(id)
    expect(await show('shop')).toEqual(before)
    expect(await file(join(webOf.live, MU_PLUGIN))).toBe(null)
    expect((await show('shop-staging')).comments).toEqual([])
  })
})
