/** What a restore would lose, according to a real WordPress, for shops and networks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()
const since = '2031-01-01 00:00:00'
const before = '2030-12-31 23:59:59'
const after = '2031-01-01 00:00:01'

describe.skipIf(!core)('newer-than', () => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess
  beforeAll(async () => {
    runtime = await testRuntime()
    directory = await testDirectory(core as string)
    php = await runtime.start(directory)
    await install(php)
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  async function run(code: string): Promise<void> {
    const script = await directory.script('run.php', `require 'wp-load.php'; ${code} echo $wpdb->last_error, 'done';`)
    expect((await fetchPage(php, testRequest('/run.php', script))).text).toBe('done')
  }
  const newer = (most = 100) => php.runTask('newer-than', { since, most })

  test('finds nothing newer than now, without a shop', async () => {
    expect(await newer()).toEqual({ counts: [], newest: [] })
  })

  test('finds new and changed orders with separate tables, counts refunds separately, and skips drafts and placeholder posts', async () => {
    // The columns of WooCommerce's OrdersTableDataStore.
    await run(`
      $wpdb->query("CREATE TABLE {$wpdb->prefix}wc_orders (id bigint(20) unsigned, status varchar(20) null, currency varchar(10) null, type varchar(20) null,
        tax_amount decimal(26,8) null, total_amount decimal(26,8) null, customer_id bigint(20) unsigned null, billing_email varchar(320) null,
        date_created_gmt datetime null, date_updated_gmt datetime null, parent_order_id bigint(20) unsigned null, payment_method varchar(100) null,
        payment_method_title text null, transaction_id varchar(100) null, ip_address varchar(100) null, user_agent text null, customer_note text null,
        PRIMARY KEY (id), KEY status (status), KEY date_created (date_created_gmt), KEY customer_id_billing_email (customer_id, billing_email(171)),
        KEY billing_email (billing_email(191)), KEY type_status_date (type, status, date_created_gmt), KEY date_updated (date_updated_gmt))");
      $wpdb->query("CREATE TABLE {$wpdb->prefix}wc_orders_meta (id bigint(20) unsigned auto_increment, order_id bigint(20) unsigned null, meta_key varchar(255),
        meta_value text null, PRIMARY KEY (id))");
      foreach ([
        [50, 'wc-completed', 'shop_order', 'old@example.com', '${before}', '${before}'],
        [51, 'wc-processing', 'shop_order', 'changed@example.com', '${before}', '${after}'],
        [52, 'wc-processing', 'shop_order', 'new@example.com', '${after}', '${after}'],
        [53, 'wc-pending', 'shop_order', null, '${after}', '${after}'],
        [54, 'wc-completed', 'shop_order_refund', null, '${after}', '${after}'],
        [55, 'wc-checkout-draft', 'shop_order', null, '${after}', '${after}'],
        [56, 'auto-draft', 'shop_order', null, '${after}', '${after}'],
      ] as [$id, $status, $type, $mail, $made, $changed]) {
        $wpdb->insert("{$wpdb->prefix}wc_orders", ['id' => $id, 'status' => $status, 'type' => $type, 'billing_email' => $mail,
          'total_amount' => '12.50000000', 'date_created_gmt' => $made, 'date_updated_gmt' => $changed]);
        $wpdb->insert($wpdb->posts, ['ID' => $id + 1000, 'post_type' => 'shop_order_placehold', 'post_status' => 'draft',
          'post_date_gmt' => $made, 'post_modified_gmt' => $changed]);
      }`)
    const { counts, newest } = await newer()
    expect(counts).toEqual([
      { table: 'wp_wc_orders', kind: 'shop_order', new: 2, changed: 1 },
      { table: 'wp_wc_orders', kind: 'shop_order_refund', new: 1, changed: 0 },
    ])
    expect(newest.map(({ id, title }) => [id, title]).toSorted()).toEqual([
      [52, 'new@example.com'],
      [53, ''],
      [54, ''],
    ])
  })

  test('searches each site of a network, and no table that only looks like one', async () => {
    await run(`
      foreach (['2_posts', '17_posts', '2_wc_orders', 'x_posts', '2_posts_old'] as $name) {
        $like = str_ends_with($name, 'wc_orders') ? 'wc_orders' : 'posts';
        $made = $wpdb->get_row("SHOW CREATE TABLE {$wpdb->base_prefix}$like", ARRAY_N)[1];
        $wpdb->query(str_replace("TABLE \`{$wpdb->base_prefix}$like\`", "TABLE \`{$wpdb->base_prefix}$name\`", $made));
      }
      foreach (['posts', '2_posts', '17_posts', 'x_posts', '2_posts_old'] as $at => $name)
        $wpdb->insert($wpdb->base_prefix . $name, ['ID' => 5000 + $at, 'post_type' => 'page', 'post_title' => "of $name", 'post_status' => 'publish',
          'post_date_gmt' => "2031-01-02 00:00:0$at", 'post_modified_gmt' => '${after}']);
      $wpdb->insert("{$wpdb->base_prefix}2_wc_orders", ['id' => 7, 'status' => 'wc-pending', 'type' => 'shop_order', 'billing_email' => 'second@example.com',
        'date_created_gmt' => '2031-01-03 00:00:00', 'date_updated_gmt' => '${after}']);`)
    const { counts, newest } = await newer(3)
    expect(counts.map(({ table, kind, new: fresh }) => `${table} ${kind} ${fresh}`).toSorted()).toEqual([
      'wp_17_posts page 1',
      'wp_2_posts page 1',
      'wp_2_wc_orders shop_order 1',
      'wp_posts page 1',
      'wp_wc_orders shop_order 2',
      'wp_wc_orders shop_order_refund 1',
    ])
    expect(counts[0]).toMatchObject({ table: 'wp_wc_orders', kind: 'shop_order', new: 2, changed: 1 })
    expect(newest.map(({ title }) => title)).toEqual(['second@example.com', 'of 17_posts', 'of 2_posts'])
  })
})
