/** Clones a site in real WordPress: the clone has all content under its own address, and the source keeps serving. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

/** What themes, plugins, and the editor store with the site's address in it. */
const CONTENT = `
  $url = home_url(); $address = preg_replace('~^https?://~', '', $url);
  require_once ABSPATH . 'wp-admin/includes/image.php';
  $upload = wp_upload_bits('picture.png', null, base64_decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='));
  $image = wp_insert_attachment(['post_mime_type' => 'image/png', 'post_title' => 'Picture', 'guid' => $upload['url']], $upload['file']);
  wp_update_attachment_metadata($image, wp_generate_attachment_metadata($image, $upload['file']));
  $block = fn ($attributes, $html) => '<!-- wp:image ' . serialize_block_attributes($attributes) . " -->$html<!-- /wp:image -->";
  $post = wp_insert_post(wp_slash(['post_status' => 'publish', 'post_title' => 'Pictures – Grüße 🌍', 'post_name' => 'pictures',
    'post_content' => $block(['id' => $image, 'url' => $upload['url'] . '?a--b&c'], "<img src=\\"{$upload['url']}\\">")
      . "<p>See <a href='$url/sample-page/'>there</a>, //$address/x, and " . rawurlencode("$url/?p=1") . '</p>']));
  set_theme_mod('header_image', $upload['url']);
  set_theme_mod('nested', ['logo' => ['src' => $upload['url'], 'text' => 'Grüße']]);
  update_option('widget_text', [2 => ['title' => 'T', 'text' => "<a href='$url/w/'>w</a>"], '_multiwidget' => 1]);
  update_option('builder', ['json' => wp_json_encode(['u' => "$url/j", 'in' => wp_json_encode(['u' => "$url/jj"])]),
    'deep' => serialize(['x' => serialize([$url, 'ü'])]), 'object' => (object) ['u' => $url], 'domain' => $address]);
  update_post_meta($post, '_builder_data', wp_slash(wp_json_encode([['settings' => ['image' => ['url' => $upload['url']]]]])));
  $menu = wp_create_nav_menu('Main');
  wp_update_nav_menu_item($menu, 0, ['menu-item-title' => 'Own', 'menu-item-url' => "$url/own/", 'menu-item-status' => 'publish']);
  $wpdb->query("CREATE TABLE {$wpdb->prefix}plugin_links (id bigint unsigned NOT NULL AUTO_INCREMENT, link text, PRIMARY KEY (id))");
  $wpdb->insert("{$wpdb->prefix}plugin_links", ['link' => "$url/table"]);
  echo 'made';`

/** Finds every value of every table that contains an address, and what PHP reads from the serialized ones. */
const LOOK = `
  $found = [];
  foreach ($wpdb->get_col('SHOW TABLES') as $table)
    foreach ($wpdb->get_results("SELECT * FROM \`$table\`", ARRAY_A) as $row)
      foreach ($row as $column => $value)
        if (is_string($value) && stripos($value, $_GET['host']) !== false) $found[] = "$table.$column: $value";
  $builder = get_option('builder');
  echo json_encode(['found' => $found, 'home' => home_url(), 'title' => get_option('blogname'),
    'mods' => get_theme_mod('nested'), 'builder' => ['json' => json_decode(json_decode($builder['json'])->in)->u,
      'deep' => unserialize(unserialize($builder['deep'])['x']), 'object' => $builder['object']->u, 'domain' => $builder['domain']],
    'posts' => (int) wp_count_posts()->publish, 'widget' => get_option('widget_text')[2]['text'],
    'link' => $wpdb->get_var("SELECT link FROM {$wpdb->prefix}plugin_links"), 'env' => wp_get_environment_type()]);`

describeSites('clone', ({ env, testOnce }) => {
  let stead: Stead
  let source: number
  let clone: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    source = await stead.createSite({ name: 'source' })
    await writeFile(join(stead.directoryOf('source'), 'web/make.php'), `<?php require 'wp-load.php'; ${CONTENT}`)
    await writeFile(join(stead.directoryOf('source'), 'web/look.php'), `<?php require 'wp-load.php'; ${LOOK}`)
    const made = await stead.visit('source', '/make.php')
    expect(made.text).toBe('made')
  })
  afterAll(() => stead?.remove())

  const look = async (site: string, host: string) =>
    JSON.parse((await stead.visit(site, `/look.php?host=${encodeURIComponent(host)}`)).text)

  test('goes live with all content and its own address everywhere, without the source’s address', async () => {
    const asked = await stead.api('POST', `/v1/sites/${source}/clone`, { name: 'the-copy', staging: true })
    expect(asked.body.data).toMatchObject({ state: 'cloning', clonedFromId: source, staging: true })
    clone = asked.body.data.id
    const operation = stead.ended(asked.headers.get('operation-id') as string)
    // visitors of the source notice nothing
    let done = false
    operation.finally(() => {
      done = true
    })
    const statuses = new Set<number>()
    while (!done) statuses.add((await stead.visit('source', `/?${Math.random()}`)).status)
    expect(await operation).toMatchObject({ state: 'succeeded', error: null })
    expect([...statuses]).toEqual([200])
    expect((await stead.api('GET', `/v1/sites/${clone}`)).body.data).toMatchObject({ state: 'live', staging: true })

    const own = `the-copy.localhost:${stead.edgePort}`
    const found = await look('the-copy', 'source.localhost')
    expect(found).toEqual({
      found: [],
      home: `http://${own}`,
      title: 'source',
      mods: { logo: { src: expect.stringMatching(`^http://${own}/wp-content/uploads/.*picture.png$`), text: 'Grüße' } },
      builder: { json: `http://${own}/jj`, deep: [`http://${own}`, 'ü'], object: `http://${own}`, domain: own },
      posts: 2,
      widget: `<a href='http://${own}/w/'>w</a>`,
      link: `http://${own}/table`,
      env: 'staging',
    })
    for (const path of [
      '/',
      '/pictures/',
      '/hello-world/',
      '/feed/',
      '/wp-json/wp/v2/posts',
      '/wp-sitemap-posts-post-1.xml',
    ]) {
      const page = await stead.visit('the-copy', path)
      expect([path, page.status, page.text.includes('source.localhost')]).toEqual([path, 200, false])
    }
    const picture = /src="http:\/\/[^/]+(\/wp-content\/uploads\/[^"]+\.png)"/.exec(
      (await stead.visit('the-copy', '/pictures/')).text,
    )
    expect((await stead.visit('the-copy', picture?.[1] as string)).status).toBe(200)
  })

  test('leaves the source unchanged, with its own address', async () => {
    expect((await look('source', 'the-copy.localhost')).found).toEqual([])
    expect(await look('source', 'nothing')).toMatchObject({
      home: `http://source.localhost:${stead.edgePort}`,
      env: 'production',
    })
  })

  test('gives the clone its own keys, and independent passwords from then on', async () => {
    const keys = async (name: string) =>
      /'AUTH_KEY', '(.*)'/.exec(await readFile(join(stead.directoryOf(name), 'web/wp-config.php'), 'utf8'))?.[1]
    expect(await keys('source')).not.toBe(await keys('the-copy'))
    const password = (await stead.api('PUT', `/v1/sites/${clone}/cms/password-reset`)).body.data
    const browserOf = (site: string) => new Browser((path, options) => stead.visit(site, path, options))
    expect((await browserOf('the-copy').logIn('admin', password)).text).toContain('wpadminbar')
    expect((await browserOf('source').logIn('admin', password)).text).not.toContain('wpadminbar')
  })

  testOnce('keeps changes to one site out of the other', async () => {
    await writeFile(join(stead.directoryOf('the-copy'), 'web/only-here.txt'), 'x')
    const post = `<?php require 'wp-load.php'; echo wp_insert_post(['post_title' => 'New', 'post_status' => 'publish']);`
    await writeFile(join(stead.directoryOf('the-copy'), 'web/post.php'), post)
    expect(Number((await stead.visit('the-copy', '/post.php')).text)).toBeGreaterThan(0)
    expect(await look('the-copy', 'nothing')).toMatchObject({ posts: 3 })
    expect(await look('source', 'nothing')).toMatchObject({ posts: 2 })
    expect((await stead.visit('source', '/only-here.txt')).status).toBe(404)
  })

  testOnce('clones a configured address, or fails when WordPress still uses it', async () => {
    const config = join(stead.directoryOf('source'), 'web/wp-config.php')
    const before = await readFile(config, 'utf8')
    const fixed = `define('WP_HOME', 'http://source.localhost:${stead.edgePort}');\n`
    await writeFile(config, before.replace('<?php\n', `<?php\n${fixed}`))
    const asked = await stead.api('POST', `/v1/sites/${source}/clone`, { name: 'fixed-copy' })
    expect(await stead.ended(asked.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    expect((await look('fixed-copy', 'source.localhost')).home).toBe(`http://fixed-copy.localhost:${stead.edgePort}`)
    const built = `define('WP_HOME', 'http://source' . '.localhost:${stead.edgePort}');\n`
    await writeFile(config, before.replace('<?php\n', `<?php\n${built}`))
    const wrong = await stead.api('POST', `/v1/sites/${source}/clone`, { name: 'wrong-copy' })
    const operation = await stead.ended(wrong.headers.get('operation-id') as string)
    expect(operation).toMatchObject({ state: 'failed', error: expect.stringContaining('WordPress uses') })
    const site = (await stead.api('GET', `/v1/sites/${wrong.body.data.id}/status`)).body.data
    expect(site).toMatchObject({ status: 'failed', deployError: expect.stringContaining('could not be cloned') })
    await writeFile(config, before)
    const again = await stead.api('POST', `/v1/operations/${wrong.headers.get('operation-id')}/retry`)
    expect(again.status).toBe(200)
    expect(await stead.ended(wrong.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    expect((await stead.visit('wrong-copy')).status).toBe(200)
  })
})
