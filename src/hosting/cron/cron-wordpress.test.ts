import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import {
  install,
  type TestDirectory,
  testAddress,
  testBodies,
  testDirectory,
  testRequest,
  testRuntime,
  testUid,
} from '../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import { PhpPool } from '../php/pool/pool.ts'
import type { PhpRuntime } from '../php/runtime.ts'
import { changeWpConfig } from '../site-files/platform/wp-config-file.ts'
import type { HostedSite } from '../web-server/hosted-site.ts'
import { Cron } from './cron.ts'
import { sqliteEvents } from './sqlite-events.ts'

const core = await testCore()
/** A pass waits for the run of the site, however slow the machine is. */
const ALONE_MS = 300_000

const plugin = `<?php
add_action('mark', fn ($name) => update_option("marked_$name", getmypid()));
add_action('leave', fn () => exit);
add_action('die', fn () => wp_die('done'));
add_action('fail', fn () => no_such_function());
add_action('where', fn () => update_option('was_at', home_url()));
add_action('throw', function () { throw new Exception('thrown'); });
add_action('count', fn () => update_option('counted', get_option('counted', 0) + 1));
// As Action Scheduler does: each minute, batches of 25 while there is time.
add_action('work_off', function () {
    $until = time() + 20;
    do {
        $jobs = get_option('jobs');
        foreach (array_splice($jobs, 0, 25) as $job) do_action('count', $job);
        update_option('jobs', $jobs);
    } while ($jobs && time() < $until);
});
add_action('hang', function () { for (;;) { } });
add_filter('cron_schedules', fn ($all) => $all + ['minutely' => ['interval' => 60, 'display' => 'Each minute']]);
`

describe.skipIf(!core).each(hereRuntimes)(
  'scheduled events of a real WordPress on $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let site: HostedSite
    let pool: PhpPool
    let cron: Cron
    let starts: ReturnType<typeof vi.spyOn>
    const log = { debug: vi.fn(), warn: vi.fn() }
    const say = vi.fn(async () => {})

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind })
      directory = await testDirectory(core as string, { phpVersion })
      site = { ...directory, siteId: 1, state: 'live' }
      await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
      await writeFile(join(directory.siteDirectory, 'web/wp-content/mu-plugins/test.php'), plugin)
      const process = await runtime.start(directory)
      await install(process)
      await process.stop()
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })
    beforeEach(() => {
      vi.clearAllMocks()
      pool = newPool()
      starts = vi.spyOn(runtime, 'start')
      cron = new Cron({
        sites: async () => [site],
        siteById: async () => site,
        php: pool,
        events: sqliteEvents(),
        aloneMs: ALONE_MS,
        log,
        say,
      })
    })
    afterEach(async () => {
      starts.mockRestore()
      await pool.stopAll(0)
    })

    const newPool = (taskMs = 300_000) =>
      new PhpPool(runtime, {
        queueLength: 10,
        requestMs: 300_000,
        taskMs,
        onNote: (siteId, text) => cron.hear(siteId, text),
        idleMs: 600_000,
        memoryBytes: 2 ** 31,
        processMemoryBytes: 768 << 20,
        bodies: testBodies(),
      })

    /** Runs PHP in the site, as a visitor's request does. */
    async function visit(code: string): Promise<string> {
      const script = await directory.script('visit.php', `require '/wordpress/wp-load.php'; ${code}`)
      const response = await pool.handle(site, testRequest('/visit.php', script))
      return text(response.body)
    }
    const database = () => new DatabaseSync(join(directory.siteDirectory, 'private/database/site.sqlite'))
    const option = (name: string): string | undefined => {
      using open = database()
      return open.prepare('select option_value as value from wp_options where option_name = ?').get(name)
        ?.value as string
    }
    /** Simulates the passage of time by moving scheduled events closer. PHP must not be running. */
    function goBy(seconds: number): void {
      using open = database()
      const planned = (option('cron') as string).replace(/i:(\d{10});(?=a:)/g, (_, at) => `i:${at - seconds};`)
      open.prepare("update wp_options set option_value = ? where option_name = 'cron'").run(planned)
      open.exec(`update wp_posts set post_date = datetime(post_date, '-${seconds} seconds'),
      post_date_gmt = datetime(post_date_gmt, '-${seconds} seconds') where post_status = 'future'`)
    }
    const gone = () => vi.waitFor(() => expect(pool.pidOf(1)).toBeUndefined(), 300_000)

    it('publishes a post on time although nobody visits, and leaves no process behind', async () => {
      const id =
        await visit(`update_option('ping_sites', ''); echo wp_insert_post(['post_title' => 'Later', 'post_content' => 'x', 'post_status' => 'future',
      'post_date' => wp_date('Y-m-d H:i:s', time() + 120), 'post_date_gmt' => gmdate('Y-m-d H:i:s', time() + 120)], true);`)
      await pool.stop(1)
      starts.mockClear()
      const status = () => {
        using open = database()
        return open.prepare('select post_status as status from wp_posts where ID = ?').get(Number(id))?.status
      }
      expect(status()).toBe('future')
      await cron.pass()
      expect(starts).not.toHaveBeenCalled()
      goBy(121)
      await cron.pass()
      expect(status()).toBe('publish')
      await gone()
      expect(starts).toHaveBeenCalledTimes(1)
      await cron.pass()
      expect(starts).toHaveBeenCalledTimes(1)
      expect(log.warn).not.toHaveBeenCalled()
    })

    it('runs the events of an active site in its own process, whatever their arguments', async () => {
      await visit(
        `wp_schedule_single_event(time() - 1, 'mark', ['own', new stdClass, 1.5, null, "\\u{20ac}\\";}"]); echo 1;`,
      )
      const pid = pool.pidOf(1)
      await cron.pass()
      expect(Number(option('marked_own'))).toBeGreaterThan(0)
      expect(pool.pidOf(1)).toBe(pid)
      expect(starts).toHaveBeenCalledTimes(1)
      await cron.pass()
      expect(log.debug).toHaveBeenCalledTimes(1)
      expect(log.warn).not.toHaveBeenCalled()
    })

    it('delays the housekeeping of an idle site for 12 h, then does all of it in one run', async () => {
      // These hooks wait for other machines, and the test has no network.
      await visit(`foreach (['wp_version_check', 'wp_update_plugins', 'wp_update_themes', 'wp_site_health_scheduled_check',
      'wp_https_detection'] as $hook) wp_unschedule_hook($hook);`)
      await pool.stop(1)
      starts.mockClear()
      goBy(11 * 3600)
      await cron.pass()
      expect(starts).not.toHaveBeenCalled()
      goBy(13 * 3600)
      await cron.pass()
      await cron.pass()
      expect(starts).toHaveBeenCalledTimes(1)
      const planned = option('cron') as string
      // Several events can share a second.
      expect(planned.match(/"schedule"/g)?.length).toBeGreaterThan(2)
      const times = [...planned.matchAll(/i:(\d{10});(?=a:)/g)].map(([, at]) => Number(at) * 1000)
      expect(Math.min(...times)).toBeGreaterThan(Date.now() - 60_000)
      expect(log.warn).not.toHaveBeenCalled()
    })

    it('contains an event that ends its request or fails, and retries the failed one later', async () => {
      await visit(`wp_schedule_single_event(time() - 9, 'leave'); wp_schedule_single_event(time() - 8, 'die');
        wp_schedule_event(time() - 7, 'hourly', 'fail'); wp_schedule_single_event(time() - 5, 'mark', ['left']);
        for ($each = 0; $each < 4; $each++) wp_schedule_single_event(time() - 60 + $each, 'throw', [$each]);`)
      await cron.pass()
      expect(Number(option('marked_left'))).toBeGreaterThan(0)
      expect(log.warn).not.toHaveBeenCalled()
      const left = JSON.parse(
        await visit(`echo json_encode([(bool) wp_next_scheduled('leave'), (bool) wp_next_scheduled('die'),
          wp_next_scheduled('fail') - time() > 3500, (bool) wp_next_scheduled('throw', [0]),
          wp_next_scheduled('throw', [1]) - time() > 0]);`),
      )
      expect(left).toEqual([false, false, true, false, true])
      expect(await readFile(join(directory.siteDirectory, 'private/php-error.log'), 'utf8')).toMatch(
        /Stead: the scheduled event fail failed: .*no_such_function/,
      )
    })

    it('runs 300 waiting jobs of a plugin and 300 waiting events, and others that are due behind them', async () => {
      await visit(`update_option('jobs', range(1, 300)); wp_schedule_event(time() - 30, 'minutely', 'work_off');
        $cron = _get_cron_array();
        for ($each = 0; $each < 300; $each++)
          $cron[time() - 20]['count'][md5(serialize([$each]))] = ['schedule' => false, 'args' => [$each]];
        _set_cron_array($cron);
        wp_schedule_single_event(time() - 5, 'mark', ['behind']);`)
      // A pass continues with other sites after 20 s.
      await vi.waitFor(
        async () => {
          await cron.pass()
          expect([option('counted'), Number(option('marked_behind')) > 0]).toEqual(['600', true])
        },
        { timeout: 300_000, interval: 500 },
      )
      expect(log.warn).not.toHaveBeenCalled()
      await visit(`wp_unschedule_hook('work_off');`)
    })

    it('postpones an event that was cut off, reports it, and runs the others', async () => {
      await pool.stopAll(0)
      pool = newPool(4_000)
      const once = { sites: async () => [site], siteById: async () => site, events: sqliteEvents(), aloneMs: ALONE_MS }
      const long = vi.spyOn(pool, 'runTask')
      long.mockImplementation((...[asked, name, input, how]) =>
        PhpPool.prototype.runTask.call(pool, asked, name, input, { ...how, longMs: 0 }),
      )
      cron = new Cron({ ...once, php: pool, log, say })
      await visit(
        `wp_schedule_event(time() - 9, 'minutely', 'hang'); wp_schedule_single_event(time() - 5, 'mark', ['beside']);`,
      )
      await cron.pass()
      expect(Number(option('marked_beside'))).toBeGreaterThan(0)
      expect(log.warn).not.toHaveBeenCalled()
      const wait = () => visit(`echo wp_next_scheduled('hang') - time();`)
      expect(Number(await wait())).toBeGreaterThan(50)
      expect(say).toHaveBeenCalledWith(site, expect.stringContaining('the scheduled event hang was cut off'))
      await visit(`wp_unschedule_hook('hang');`)
    })

    it('runs the events of every site of a network at its own address, but skips closed sites', async () => {
      const { networkId, blogId, path } = await pool.runTask(site, 'make-network', { title: 'A network' })
      await pool.stop(1)
      await changeWpConfig(directory.siteDirectory, directory.uid, {
        ...{ MULTISITE: true, SUBDOMAIN_INSTALL: false, DOMAIN_CURRENT_SITE: testAddress, PATH_CURRENT_SITE: path },
        ...{ SITE_ID_CURRENT_SITE: networkId, BLOG_ID_CURRENT_SITE: blogId },
      })
      const made = await visit(`wp_set_current_user(1); $ids = [];
        foreach (['/two/', '/closed/'] as $path) {
          $ids[] = $id = wpmu_create_blog('${testAddress}', $path, $path, 1);
          switch_to_blog($id);
          foreach (array_keys(_get_cron_array()) as $at) foreach (_get_cron_array()[$at] ?? [] as $hook => $each) wp_unschedule_hook($hook);
          wp_schedule_single_event(time() - 5, 'where', []);
          restore_current_blog();
        }
        update_blog_status($ids[1], 'archived', 1);
        foreach (array_keys(_get_cron_array()) as $at) foreach (_get_cron_array()[$at] ?? [] as $hook => $each) wp_unschedule_hook($hook);
        echo json_encode($ids);`)
      const [two, closed] = JSON.parse(made) as number[]
      await cron.pass()
      const where = (blog: number | undefined) => {
        using open = database()
        return open.prepare(`select option_value as value from wp_${blog}_options where option_name = 'was_at'`).get()
          ?.value
      }
      expect(where(two)).toBe(`http://${testAddress}/two`)
      expect(where(closed)).toBeUndefined()
      // No site that remains is due.
      starts.mockClear()
      await cron.pass()
      await cron.pass()
      expect(log.warn).not.toHaveBeenCalled()
      expect(log.debug).toHaveBeenCalledTimes(1)
      await changeWpConfig(directory.siteDirectory, directory.uid, { MULTISITE: null, SUBDOMAIN_INSTALL: null })
      await pool.stop(1)
    })

    it('lets WordPress recover after an interrupted write, then runs its events', async () => {
      await visit(`wp_schedule_single_event(time() - 1, 'mark', ['after']);`)
      await pool.stop(1)
      const journal = join(directory.siteDirectory, 'private/database/site.sqlite-journal')
      await writeFile(journal, Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(504)]))
      if (testUid !== null) await chown(journal, testUid, testUid)
      await cron.pass()
      expect(Number(option('marked_after'))).toBeGreaterThan(0)
      await gone()
    })
  },
)
