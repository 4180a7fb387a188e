/**
 * Moves the content of a network to another address: a clone, a sync, a backup on another site, and a backup from
 * before an address change. With real WordPress.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

/** A blog in a folder, a blog with its own domain, and links between them. */
const CONTENT = `
  $main = home_url();
  wpmu_create_blog(get_network()->domain, '/second/', 'The second', 1);
  $shop = wpmu_create_blog(get_network()->domain, '/later-a-domain/', 'The shop', 1);
  $domain = 'shop.example.test' . strstr(get_network()->domain, ':');
  wp_update_site($shop, ['domain' => $domain, 'path' => '/']);
  foreach (['home', 'siteurl'] as $option) update_blog_option($shop, $option, "http://$domain");
  $to = "<a href='http://$domain/about/'>shop</a> <a href='$main/second/'>second</a>";
  wp_insert_post(['post_title' => 'Ways', 'post_name' => 'ways', 'post_status' => 'publish', 'post_content' => $to]);
  echo 'made';`

describeSites('content of a network', ({ env, testOnce }) => {
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    id = await stead.createSite({ name: 'network', multisite_support: true })
    await isNetwork('network')
    await stead.api('POST', `/v1/sites/${id}/domains`, { name: '*.example.test' })
    await writeFile(join(stead.directoryOf('network'), 'web/make.php'), `<?php require 'wp-load.php'; ${CONTENT}`)
    expect((await stead.visit('network', '/make.php')).text).toBe('made')
    await until('the shop answers', async () => (await titleOf('shop.example.test')) === 'The shop')
  })
  afterAll(() => stead?.remove())

  const isNetwork = (name: string) =>
    until(`${name} is a network`, async () =>
      (await readFile(join(stead.directoryOf(name), 'web/wp-config.php'), 'utf8')).includes("'MULTISITE', true"),
    )
  const titleOf = async (host: string, path = '/') =>
    /<title>([^<]*)<\/title>/.exec((await stead.visit(host, path)).text)?.[1]
  const done = async (path: string, body: object) => {
    const { status, headers, body: answer } = await stead.api('POST', path, body)
    expect([status, answer.errors]).toEqual([200, null])
    const { state, error } = await stead.ended(headers.get('operation-id') as string, 200_000)
    expect([state, error]).toEqual(['succeeded', null])
    return answer.data
  }
  const backUp = async (type: 'fs' | 'db') => {
    await done(`/v1/sites/${id}/ondemand-backups`, { backup_type: type })
    return Number((await stead.api('GET', `/v1/sites/${id}/backups/${type}`)).body.data[0].id)
  }
  /** Checks that each blog is there, and that no link leads to the original. */
  const isWhole = async (host: string) => {
    expect([await titleOf(host, '/second/'), await titleOf(host, '/shop/')]).toEqual(['The second', 'The shop'])
    const ways = (await stead.visit(host, '/ways/')).text
    for (const path of ['/shop/about/', '/second/']) expect(ways).toContain(`://${host}:${stead.edgePort}${path}`)
    for (const text of [ways, (await stead.visit(host, '/shop/')).text])
      expect(text).not.toMatch(/shop\.example\.test|\/\/network\.localhost/)
  }

  test('clones a network: a blog with a domain gets a folder, because the domain belongs to the original', async () => {
    await done(`/v1/sites/${id}/clone`, { name: 'clone' })
    await isWhole('clone.localhost')
    expect(await titleOf('shop.example.test')).toBe('The shop')
  })

  let backup: { filesystem_id: number; database_id: number }

  testOnce('restores a backup on another network, and syncs it', async () => {
    backup = { filesystem_id: await backUp('fs'), database_id: await backUp('db') }
    const other = await stead.createSite({ name: 'other', multisite_support: true })
    await isNetwork('other')
    await done(`/v1/sites/${id}/restores`, { ...backup, restore_on_site_id: other })
    await isWhole('other.localhost')
    await done('/v1/sites/sync', { from_site_id: id, to_site_id: other, database: true })
    await isWhole('other.localhost')
  })

  testOnce(
    'restores a backup from before an address change: files only, database only, both; blogs keep their domains',
    async () => {
      stead.set({ STEAD_STAGING_DOMAIN: 'moved.localhost' })
      await stead.restart()
      await until('it has moved', async () => (await titleOf('network.moved.localhost', '/second/')) === 'The second')
      const { filesystem_id, database_id } = backup
      for (const what of [{ filesystem_id }, { database_id }, backup]) {
        await done(`/v1/sites/${id}/restores`, what)
        expect(await titleOf('network.moved.localhost', '/second/')).toBe('The second')
        expect(await titleOf('shop.example.test')).toBe('The shop')
      }
      const ways = (await stead.visit('network.moved.localhost', '/ways/')).text
      expect(ways).toContain(`//network.moved.localhost:${stead.edgePort}/second/`)
      expect(ways).toContain(`//shop.example.test:${stead.edgePort}/about/`)
    },
  )
})
