/**
 * An administrator edits what visitors see in wp-admin, with a real browser. A stranger, whose page is in the edge's
 * cache for a day, sees each change.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasChromium, logInToWordPress, openChromium } from '../support/chromium.ts'
import { describeSites } from '../support/describe-sites.ts'
import { pluginFile } from '../support/plugin-directory.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const DAY_S = 86_400

/** A classic theme, with what WordPress' own screens change: a menu, widgets, and a setting. */
const theme = {
  'style.css': '/* Theme Name: Walk */',
  'functions.php': `<?php
    add_action('after_setup_theme', function () {
      register_nav_menus(['walk' => 'Walk']);
      remove_theme_support('widgets-block-editor');
    });
    add_action('widgets_init', fn () => register_sidebar(['id' => 'walk', 'name' => 'Walk']));
    add_action('customize_register', function ($customize) {
      $customize->add_section('walk', ['title' => 'Walk']);
      $customize->add_setting('walk_note', ['default' => 'old note']);
      $customize->add_control('walk_note', ['label' => 'Note', 'section' => 'walk', 'type' => 'text']);
    });
    add_action('send_headers', fn () => is_user_logged_in() || header('Cache-Control: s-maxage=${DAY_S}'));`,
  'index.php': `<!doctype html><html><head><?php wp_head(); ?></head><body><?php
    echo '<p>', esc_html(get_theme_mod('walk_note', 'old note')), '</p>';
    wp_nav_menu(['theme_location' => 'walk']);
    dynamic_sidebar('walk');
    while (have_posts()) {
      the_post();
      the_content();
      echo get_post_meta(get_the_ID(), '_walk_price', true);
    }
    wp_footer(); ?></body></html>`,
}

/** Stands in for a form builder, a table builder, a shop, and a plugin that replaces media. None of them tells a cache. */
const plugin = pluginFile(
  'Walk',
  '1.0',
  `add_action('init', function () {
     register_post_type('walk_form', ['public' => false]);
     register_post_type('walk_product', [
       'public' => true, 'label' => 'Products', 'supports' => ['title'], 'rewrite' => ['slug' => 'product'],
       'register_meta_box_cb' => fn () => add_meta_box('walk_price', 'Price', fn ($post) => print(
         '<input name="walk_price" value="' . esc_attr(get_post_meta($post->ID, '_walk_price', true)) . '">')),
     ]);
   });
   add_action('save_post_walk_product', function ($id) {
     if (isset($_POST['walk_price'])) update_post_meta($id, '_walk_price', sanitize_text_field($_POST['walk_price']));
   });
   add_shortcode('walk_form', fn ($asked) => get_post($asked['id'])->post_content);
   add_shortcode('walk_price', fn ($asked) => get_post_meta($asked['id'], '_walk_price', true));
   add_shortcode('walk_table', function () {
     global $wpdb;
     return $wpdb->get_var("SELECT cell FROM {$wpdb->prefix}walk_tables");
   });
   add_action('admin_menu', fn () => add_menu_page('Walk', 'Walk', 'manage_options', 'walk', 'walk_page'));
   function walk_page() {
     $own = static function ($name, $field, $more = '') {
       $to = esc_url(admin_url('admin-post.php'));
       echo "<form method='post' action='$to' enctype='multipart/form-data'><input type='hidden' name='action' value='walk_$name'>";
       wp_nonce_field('walk');
       echo "$field<button id='save_$name'>Save</button></form>";
     };
     $own('form', '<input name="form">');
     $own('media', '<input type="file" name="media">');
     $ajax = wp_json_encode(wp_nonce_url(admin_url('admin-ajax.php?action=walk_table'), 'walk'));
     $ajax = str_replace('&amp;', '&', $ajax);
     echo "<input id='cell'><button id='save_table'>Save</button><script>
       document.getElementById('save_table').onclick = () =>
         fetch($ajax, { method: 'POST', body: new URLSearchParams({ cell: document.getElementById('cell').value }) });
     </script>";
   }
   function walk_allow() {
     check_admin_referer('walk');
     current_user_can('manage_options') || wp_die();
   }
   function walk_done() {
     wp_safe_redirect(admin_url('admin.php?page=walk&done=1'));
     exit;
   }
   add_action('admin_post_walk_form', function () {
     walk_allow();
     wp_update_post(['ID' => get_option('walk_form'), 'post_content' => $_POST['form']]);
     walk_done();
   });
   add_action('admin_post_walk_media', function () {
     walk_allow();
     move_uploaded_file($_FILES['media']['tmp_name'], get_attached_file(get_option('walk_media')));
     walk_done();
   });
   add_action('wp_ajax_walk_table', function () {
     walk_allow();
     global $wpdb;
     $wpdb->query($wpdb->prepare("UPDATE {$wpdb->prefix}walk_tables SET cell = %s", $_POST['cell']));
     wp_send_json_success();
   });`,
)

/** Creates what is edited, and prints the IDs and the path of the picture. */
const setUp = `<?php
  require 'wp-load.php';
  require ABSPATH . 'wp-admin/includes/admin.php';
  wp_set_current_user(1);
  if (empty($_GET['content'])) {
    activate_plugin('walk/walk.php');
    switch_theme('walk');
    exit;
  }
  global $wpdb;
  $wpdb->query("CREATE TABLE {$wpdb->prefix}walk_tables (id int NOT NULL, cell varchar(200) NOT NULL, PRIMARY KEY (id))");
  $wpdb->insert("{$wpdb->prefix}walk_tables", ['id' => 1, 'cell' => 'old table']);
  // not a global of WordPress, such as $post
  $create = static fn ($type, $title, $content = '', $more = []) =>
    wp_insert_post(['post_type' => $type, 'post_title' => $title, 'post_content' => $content, 'post_status' => 'publish'] + $more);
  $form = $create('walk_form', 'Form', 'old form');
  update_option('walk_form', $form);
  $product = $create('walk_product', 'Lamp', '', ['meta_input' => ['_walk_price' => 'old price']]);
  $block = $create('wp_block', 'Shared', '<!-- wp:paragraph --><p>old block</p><!-- /wp:paragraph -->');
  $create('page', 'Walk', "[walk_form id=$form] [walk_table] <!-- wp:block {\\"ref\\":$block} /-->");
  $create('page', 'Offers', "[walk_price id=$product]");
  $menu = wp_create_nav_menu('Walk');
  $item = wp_update_nav_menu_item($menu, 0, ['menu-item-title' => 'old item', 'menu-item-url' => '/', 'menu-item-status' => 'publish']);
  set_theme_mod('nav_menu_locations', ['walk' => $menu]);
  update_option('widget_search', [2 => ['title' => 'old widget'], '_multiwidget' => 1]);
  update_option('sidebars_widgets', ['wp_inactive_widgets' => [], 'walk' => ['search-2'], 'array_version' => 3]);
  $file = wp_upload_bits('lamp.gif', null, 'old picture');
  $media = wp_insert_attachment(['post_mime_type' => 'image/gif', 'post_title' => 'Lamp'], $file['file']);
  update_option('walk_media', $media);
  update_user_meta(1, $wpdb->get_blog_prefix() . 'persisted_preferences', ['core' => ['welcomeGuide' => false], 'core/edit-post' => ['welcomeGuide' => false], '_modified' => gmdate('c')]);
  echo wp_json_encode(['product' => $product, 'block' => $block, 'menu' => $menu, 'item' => $item, 'picture' => wp_parse_url($file['url'], PHP_URL_PATH)]);`

interface Made {
  readonly product: number
  readonly block: number
  readonly menu: number
  readonly item: number
  readonly picture: string
}

/** What is edited: each text begins with `old`, and with `new` afterwards. */
interface Edit {
  readonly what: string
  /** Where strangers see it. */
  readonly paths: (made: Made) => readonly string[]
  /** Opens its screen, and fills it. @returns the click that saves */
  readonly edit: (page: Page, made: Made) => Promise<() => Promise<unknown>>
}

const onWalk = () => ['/walk/']

const edits: readonly Edit[] = [
  {
    what: 'form',
    paths: onWalk,
    async edit(page) {
      await page.goto('/wp-admin/admin.php?page=walk')
      await page.fill('[name=form]', 'new form')
      return () => page.click('#save_form')
    },
  },
  {
    what: 'table',
    paths: onWalk,
    async edit(page) {
      await page.goto('/wp-admin/admin.php?page=walk')
      await page.fill('#cell', 'new table')
      return () => page.click('#save_table')
    },
  },
  {
    what: 'picture',
    paths: ({ picture }) => [picture],
    async edit(page) {
      await page.goto('/wp-admin/admin.php?page=walk')
      // as long as the one before
      const buffer = Buffer.from('new picture')
      await page.setInputFiles('[name=media]', { name: 'lamp.gif', mimeType: 'image/gif', buffer })
      return () => page.click('#save_media')
    },
  },
  {
    what: 'price',
    // its own page, and one that shows it by a shortcode
    paths: () => ['/product/lamp/', '/offers/'],
    async edit(page, { product }) {
      await page.goto(`/wp-admin/post.php?post=${product}&action=edit`)
      await page.fill('[name=walk_price]', 'new price')
      return () => page.click('#publish')
    },
  },
  {
    what: 'item',
    paths: onWalk,
    async edit(page, { menu, item }) {
      await page.goto(`/wp-admin/nav-menus.php?action=edit&menu=${menu}`)
      await page.click(`#edit-${item}`)
      await page.fill(`#edit-menu-item-title-${item}`, 'new item')
      return () => page.click('#save_menu_footer')
    },
  },
  {
    what: 'widget',
    paths: onWalk,
    async edit(page) {
      await page.goto('/wp-admin/widgets.php')
      const widget = page.locator('#walk .widget[id$=search-2]')
      await widget.locator('button.widget-action').click()
      await widget.locator('input[name="widget-search[2][title]"]').fill('new widget')
      return () => widget.locator('.widget-control-save').click()
    },
  },
  {
    what: 'note',
    paths: onWalk,
    async edit(page) {
      await page.goto('/wp-admin/customize.php?autofocus[control]=walk_note')
      await page.locator('[data-customize-setting-link=walk_note]').fill('new note')
      await page.locator('#save:enabled').waitFor()
      return () => page.click('#save')
    },
  },
  {
    what: 'block',
    paths: onWalk,
    async edit(page, { block }) {
      await page.goto(`/wp-admin/post.php?post=${block}&action=edit`)
      await page.waitForSelector('iframe[name="editor-canvas"], .is-root-container')
      const frame = page.locator('iframe[name="editor-canvas"]')
      const canvas = (await frame.count()) > 0 ? frame.contentFrame() : page
      const text = canvas.getByText('old block')
      await text.waitFor()
      // the editor's welcome dialog covers everything
      const close = page.getByRole('button', { name: 'Close', exact: true })
      if ((await close.count()) > 0) await close.first().click()
      await text.click()
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type('new block')
      return () => page.locator('.editor-post-publish-button').click()
    },
  },
]

describeSites(
  'what an administrator edits in a browser',
  ({ env }) => {
    let stead: Stead
    let browser: Browser
    let page: Page
    let made: Made
    showOutputOfFailures(() => stead)
    beforeAll(async () => {
      stead = await startStead({ env: { ...env, STEAD_PREPARED_SITES: '0' } })
      const id = await stead.createSite({ name: 'walk' })
      made = await fill(join(stead.directoryOf('walk'), 'web'))
      browser = await openChromium()
      const site = `http://walk.localhost:${stead.edgePort}`
      page = await (await browser.newContext({ baseURL: site })).newPage()
      page.setDefaultTimeout(300_000)
      page.on('dialog', (dialog) => dialog.accept())
      const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
      await logInToWordPress(page, site, 'admin', password)
    })
    afterAll(async () => {
      await browser?.close()
      await stead?.remove()
    })

    async function fill(web: string): Promise<Made> {
      const folders = { 'plugins/walk': { 'walk.php': plugin }, 'themes/walk': theme }
      for (const [folder, files] of Object.entries(folders)) {
        await mkdir(join(web, 'wp-content', folder))
        for (const [name, text] of Object.entries(files)) await writeFile(join(web, 'wp-content', folder, name), text)
      }
      await writeFile(join(web, 'set-up.php'), setUp)
      await stead.visit('walk', '/set-up.php')
      // the first page with another theme sorts the widgets
      await stead.visit('walk', '/?first')
      const { text } = await stead.visit('walk', '/set-up.php?content=1')
      await rm(join(web, 'set-up.php'))
      return JSON.parse(text)
    }

    /** Visits until the edge has the page, for longer than any test waits. */
    const warm = (path: string) =>
      until(`${path} is in the cache`, async () => {
        const { text, headers } = await stead.visit('walk', path)
        const status = String(headers['cache-status'])
        return status.includes('; hit') && Number(/ttl=(\d+)/.exec(status)?.[1]) > DAY_S / 2 && text
      })

    test.each(edits)('is seen by strangers whose page was in the cache: the $what', async ({ what, paths, edit }) => {
      const save = await edit(page, made)
      for (const path of paths(made)) expect(await warm(path)).toContain(`old ${what}`)
      await save()
      for (const path of paths(made))
        await until(`${path} shows the new ${what}`, async () =>
          (await stead.visit('walk', path)).text.includes(`new ${what}`),
        )
    })
  },
  { skip: !hasChromium },
)
