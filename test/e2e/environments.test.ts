/** Works with a staging site in real WordPress: create it, change it, preview, push code, undo, and pull content. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

/** A PHP file that writes content, and one that shows it. */
const WRITE = `<?php require 'wp-load.php';
  if (isset($_GET['post'])) wp_insert_post(['post_title' => $_GET['post'], 'post_status' => 'publish', 'post_type' => $_GET['type'] ?? 'post']);
  if (isset($_GET['comment'])) wp_insert_comment(['comment_post_ID' => 1, 'comment_content' => $_GET['comment'], 'comment_author' => 'Visitor',
    'comment_date' => current_time('mysql'), 'comment_date_gmt' => current_time('mysql', true), 'comment_approved' => 1]);
  if (isset($_GET['user'])) wp_insert_user(['user_login' => $_GET['user'], 'user_pass' => wp_generate_password()]);
  echo 'written';`
const SHOW = `<?php require 'wp-load.php'; global $wpdb;
  echo json_encode(['posts' => $wpdb->get_col("SELECT post_title FROM $wpdb->posts WHERE post_type IN ('post', 'shop_order') AND post_status = 'publish' ORDER BY post_title"),
    'comments' => $wpdb->get_col("SELECT comment_content FROM $wpdb->comments WHERE comment_author = 'Visitor'"), 'home' => home_url()]);`
const STYLE = 'web/wp-content/themes/twentytwentyfive/style.css'
const MU_PLUGIN = 'web/wp-content/mu-plugins/agency.php'

describeSites('environments', ({ env }) => {
  let stead: Stead
  let live: number
  let staging: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    live = await stead.createSite({ name: 'shop' })
    await writeFile(join(stead.directoryOf('shop'), 'web/write.php'), WRITE)
    await writeFile(join(stead.directoryOf('shop'), 'web/show.php'), SHOW)
  })
  afterAll(() => stead?.remove())

  const write = async (site: string, query: string) =>
    expect((await stead.visit(site, `/write.php?${query}`)).text).toBe('written')
  const show = async (site: string) => JSON.parse((await stead.visit(site, '/show.php')).text)
  const file = (site: string, path: string) => readFile(join(stead.directoryOf(site), path), 'utf8').catch(() => null)
  async function done(path: string, body?: object): Promise<string> {
    const asked = await stead.api('POST', path, body)
    expect([asked.status, asked.body.errors]).toEqual([200, null])
    const id = (asked.headers.get('operation-id') ?? String(asked.body.data?.id)) as string
    expect(await stead.ended(id)).toMatchObject({ state: 'succeeded', error: null })
    return id
  }
  const transfer = (way: 'push' | 'pull', body: object) =>
    done(`/v1/sites/${live}/environments/${staging}/${way}`, body)
  const preview = async (way: 'push' | 'pull', body: object) => {
    const id = await transfer(way, { ...body, dry_run: true })
    return (await stead.api('GET', `/v1/sites/${live}/environments/${staging}/previews/${id}`)).body.data
  }
  const newer = ({ database }: { database: { counts: { kind: string; new: number }[] } }) =>
    Object.fromEntries(database.counts.map(({ kind, new: count }) => [kind, count]))

  test('creates a staging site that knows its live site', async () => {
    const asked = await stead.api('POST', `/v1/sites/${live}/environments`, { name: 'shop-staging' })
    staging = asked.body.data.id
    expect(await stead.ended(asked.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    const { data } = (await stead.api('GET', `/v1/sites/${staging}/environments`)).body
    expect(data).toMatchObject({ live: { id: live }, environments: [{ id: staging, state: 'live', staging: true }] })
  })

  test('previews what a push would lose, and changes nothing', async () => {
    // The seconds of WordPress must differ from those of the copy.
    await write('shop', 'post=Order&type=shop_order')
    await write('shop', 'comment=Bought')
    await write('shop', 'user=customer')
    await write('shop-staging', 'post=Draft+of+the+agency')
    const style = (await file('shop', STYLE)) as string
    await writeFile(join(stead.directoryOf('shop-staging'), STYLE), `${style}/* new */`)
    await writeFile(join(stead.directoryOf('shop-staging'), MU_PLUGIN), '<?php // of the agency')
    const report = await preview('push', { preset: 'everything' })
    expect(newer(report)).toMatchObject({ shop_order: 1, comment: 1, user: 1 })
    expect(report.files.changed.first).toContain('wp-content/themes/twentytwentyfive/style.css')
    expect(report.files.added.first).toContain('wp-content/mu-plugins/agency.php')
    const comments = report.database.tables.find(({ table }: { table: string }) => table === 'wp_comments')
    expect(comments.rows).toBe(comments.fromRows + 1)
    const code = await preview('push', { preset: 'code' })
    expect(code).toMatchObject({
      database: null,
      files: { added: { count: 1 }, changed: { count: 1 }, removed: { count: 0 } },
    })
    expect(await file('shop', STYLE)).toBe(style)
    expect((await show('shop')).posts).not.toContain('Draft of the agency')
  })

  test('pushes the code, and keeps what arrived on the live site', async () => {
    const before = await file('shop', STYLE)
    const id = await transfer('push', { preset: 'code' })
    expect(await file('shop', STYLE)).toBe(`${before}/* new */`)
    expect(await file('shop', MU_PLUGIN)).toBe('<?php // of the agency')
    const shown = await show('shop')
    expect(shown.home).toBe(`http://shop.localhost:${stead.edgePort}`)
    expect(shown.posts).toContain('Order')
    expect(shown.posts).not.toContain('Draft of the agency')
    expect(shown.comments).toEqual(['Bought'])
    const undone = await done(`/v1/operations/${id}/undo`)
    expect(Number(undone)).toBeGreaterThan(Number(id))
    expect(await file('shop', STYLE)).toBe(before)
    expect(await file('shop', MU_PLUGIN)).toBe(null)
    expect((await show('shop')).comments).toEqual(['Bought'])
  })

  test('pulls the content, and then previews only what came later', async () => {
    expect(newer(await preview('pull', { preset: 'content' }))).toMatchObject({ post: 1 })
    await transfer('pull', { preset: 'content' })
    const shown = await show('shop-staging')
    expect(shown).toMatchObject({ comments: ['Bought'], home: `http://shop-staging.localhost:${stead.edgePort}` })
    expect(shown.posts).toContain('Order')
    expect(shown.posts).not.toContain('Draft of the agency')
    expect(await file('shop-staging', MU_PLUGIN)).toBe('<?php // of the agency')
    await write('shop', 'comment=Again')
    const counts = newer(await preview('push', { preset: 'content' }))
    expect(counts.comment).toBeGreaterThan(0)
  })

  test('pushes only chosen tables', async () => {
    await write('shop-staging', 'comment=From+staging')
    await write('shop-staging', 'post=From+staging')
    await transfer('push', { preset: 'chosen', tables: ['wp_posts'] })
    const shown = await show('shop')
    expect(shown.posts).toContain('From staging')
    expect(shown.comments).toEqual(['Bought', 'Again'])
  })
})
