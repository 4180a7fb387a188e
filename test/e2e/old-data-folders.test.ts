/**
 * Data folders that older versions made, killed while they created a site, start on this version with everything in
 * them. `test/upgrades/make.ts` makes them.
 */
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'ssh2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { freePort, prepareStead, type Stead, showOutputOfFailures, until } from '../support/stead.ts'
import { foldersDir, type OldFacts, unpackFolder } from '../upgrades/old-folder.ts'

const core = await testCore()
const folders = (await readdir(foldersDir)).filter((name) => name.endsWith('.tar.zst')).sort()

describe.skipIf(!core).each(folders)('%s', { timeout: 600_000 }, (file) => {
  let stead: Stead
  let facts: OldFacts
  let sftpPort: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    sftpPort = await freePort()
    stead = await prepareStead({ env: { STEAD_SFTP_LISTEN: `127.0.0.1:${sftpPort}` } })
    facts = await unpackFolder(join(foldersDir, file), stead.dataDir, core as string)
    await stead.start()
  }, 600_000)
  afterAll(() => stead?.remove())

  const get = async (path: string) => {
    const { status, body } = await stead.api('GET', path)
    expect(status, path).toBe(200)
    return body.data
  }

  test('serves the site with its content, and takes more', async () => {
    // the edge listens on another port than the old one: the site gets that address after the start
    const page = await until('the site has its new address', async () => {
      const found = await stead.visit('shop', '/')
      return found.status === 200 && found
    })
    expect(page.text).toContain(facts.comment)
    expect((await stead.visit('shop', facts.upload.path)).text).toBe(facts.upload.text)
    const body = new URLSearchParams({
      comment: 'After',
      author: 'Eve',
      email: 'eve@example.org',
      comment_post_ID: '1',
    })
    expect((await stead.visit('shop', '/wp-comments-post.php', { method: 'POST', body })).status).toBe(302)
    expect(await stead.visit('shop', '/?x=after')).toMatchObject({
      status: 200,
      text: expect.stringContaining('<p>After</p>'),
    })
  })

  test('has its records', async () => {
    const site = await get(`/v1/sites/${facts.site.id}`)
    expect(site).toMatchObject({ name: 'shop', state: 'live' })
    expect(site.tags.map(({ name }: { name: string }) => name)).toEqual([facts.tag])
    expect(await get(`/v1/sites/${facts.site.id}/notes`)).toMatchObject([facts.note])
    const [collaborator] = await get('/v1/collaborators')
    expect(collaborator.email).toBe(facts.collaborator.email)
    expect([...collaborator.roles].sort()).toEqual([...facts.collaborator.roles].sort())
    if (facts.domain) {
      const [domain] = await get(`/v1/sites/${facts.site.id}/domains`)
      expect(domain.domainName).toBe(facts.domain)
    }
    if (facts.webhook) expect(await get('/v1/webhooks')).toMatchObject([facts.webhook])
  })

  test('completes the site that was being created', async () => {
    await stead.live(facts.unfinished.id)
    expect((await stead.visit('unfinished', '/')).status).toBe(200)
  })

  test('lets its SFTP user in', async ({ skip }) => {
    if (!facts.sftp) skip('this version had no SFTP')
    const client = new Client()
    const ready = once(client, 'ready')
    client.connect({ host: '127.0.0.1', port: sftpPort, ...facts.sftp })
    await ready
    client.end()
  })

  test('restores its backups', async ({ skip }) => {
    if (!facts.backups) skip('this version had no backups')
    const idOf = (kind: string) => facts.backups?.find(({ type }) => type === kind)?.id
    const { status, body } = await stead.api('POST', `/v1/sites/${facts.site.id}/restores`, {
      filesystem_id: idOf('fs'),
      database_id: idOf('db'),
    })
    expect({ status, body }).toMatchObject({ status: 200 })
    const [operation] = await get(`/v1/operations?site_id=${facts.site.id}&per_page=1`)
    expect(await stead.ended(operation.id)).toMatchObject({ state: 'succeeded' })
    expect((await stead.visit('shop', facts.upload.path)).text).toBe(facts.upload.text)
    const { text } = await stead.visit('shop', '/?restored')
    expect(text).toContain(facts.comment)
    expect(text, 'a comment from after the backup').not.toContain('<p>After</p>')
  })

  test('creates a site', async () => {
    await stead.createSite({ name: 'new-site' })
    expect((await stead.visit('new-site', '/')).status).toBe(200)
  })
})
