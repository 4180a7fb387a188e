/** What happens to users, posts, and links in a real WordPress. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from './runtime.ts'

const core = await testCore()
const keep = { login: 'admin', email: 'owner@example.com' }

interface State {
  users: { ID: string; user_login: string; user_email: string; display_name: string; roles: string[] }[]
  posts: Record<string, string>
  links: Record<string, string>
}

describe.skipIf(!core).each(hereRuntimes)(
  'administrators of a WordPress, $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind })
      directory = await testDirectory(core as string, { phpVersion })
      php = await runtime.start(directory)
      await install(php)
    })
    afterAll(async () => {
      await php?.stop(0)
      await runtime?.close()
      await directory?.remove()
    })

    let scripts = 0
    /** Runs PHP in the site and returns what it returns. */
    async function run<Value>(code: string): Promise<Value> {
      const script = await directory.script(
        `t${++scripts}.php`,
        `require 'wp-load.php'; echo json_encode((function () { ${code} })());`,
      )
      const page = await fetchPage(php, testRequest(`/t${scripts}.php`, script))
      expect([page.status, page.text]).toEqual([200, expect.stringMatching(/^[[{"\dtfn]/)])
      return JSON.parse(page.text) as Value
    }

    const ensure = (email: string, more: object = {}) =>
      php.runTask('ensure-administrator', { email, name: 'A Name', login: email.split('@')[0] as string, ...more })
    const reset = (email: string, password: string) =>
      php.runTask('reset-administrator', { email, name: 'A Name', login: email.split('@')[0] as string, password })
    const remove = (email: string, reassign: 'next' | 'oldest') => php.runTask('delete-user', { email, reassign, keep })

    /** Returns the authors of posts and links by title. */
    const state = () =>
      run<State>(`
      global $wpdb;
      $users = array_map(fn ($u) => ['user_login' => $u->user_login, 'user_email' => $u->user_email,
        'display_name' => $u->display_name, 'roles' => $u->roles], get_users(['orderby' => 'ID']));
      $posts = $wpdb->get_results("SELECT post_title, user_login FROM $wpdb->posts LEFT JOIN $wpdb->users u ON u.ID = post_author
        WHERE post_title LIKE 'by %' AND post_type <> 'revision'");
      $links = $wpdb->get_results("SELECT link_name, user_login FROM $wpdb->links LEFT JOIN $wpdb->users u ON u.ID = link_owner");
      return ['users' => $users, 'posts' => (object) array_column($posts, 'user_login', 'post_title'),
        'links' => (object) array_column($links, 'user_login', 'link_name')];
    `)

    /** Creates a post, a page in the trash, and a link of this user. */
    const write = (login: string) =>
      run(`
      global $wpdb;
      $id = get_user_by('login', '${login}')->ID;
      wp_insert_post(['post_title' => 'by ${login}', 'post_status' => 'publish', 'post_author' => $id]);
      wp_trash_post(wp_insert_post(['post_title' => 'by ${login}, trash', 'post_type' => 'page', 'post_author' => $id]));
      $wpdb->insert($wpdb->links, ['link_name' => 'of ${login}', 'link_url' => 'http://x', 'link_owner' => $id, 'link_rss' => '', 'link_notes' => '']);
      return true;
    `)

    const logsIn = (login: string, password: string) =>
      run<boolean>(
        `return !is_wp_error(wp_authenticate(${JSON.stringify(login)}, wp_slash(${JSON.stringify(password)})));`,
      )

    test('creates an administrator once, with a name and an unknown password', async () => {
      expect(await ensure('jane@example.com')).toEqual({ login: 'jane', created: true })
      expect(await ensure('jane@example.com')).toEqual({ login: 'jane', created: false })
      const { users } = await state()
      expect(users.map(({ user_login, roles }) => [user_login, roles])).toEqual([
        ['admin', ['administrator']],
        ['jane', ['administrator']],
      ])
      expect(users[1]?.display_name).toBe('A Name')
      expect(await logsIn('jane', '')).toBe(false)
    })

    test('does not take over a login that another address has', async () => {
      expect(await ensure('jane@elsewhere.example')).toEqual({ login: 'jane-2', created: true })
      expect(await ensure('admin@elsewhere.example', { name: `O'Neil "x" \\\\ <b>` })).toEqual({
        login: 'admin-2',
        created: true,
      })
      const longLogin = 'l'.repeat(60)
      await ensure('long1@example.com', { login: longLogin })
      expect((await ensure('long2@example.com', { login: longLogin })).login).toBe(`${'l'.repeat(58)}-2`)
      for (const email of [
        'admin@elsewhere.example',
        'long1@example.com',
        'long2@example.com',
        'jane@elsewhere.example',
      ])
        expect((await remove(email, 'oldest')).deleted).toBe(true)
    })

    test('promotes the user who has the address, in any letter case, instead of creating a second one', async () => {
      await run(
        `return wp_insert_user(['user_login' => 'customer', 'user_email' => 'Customer@Example.COM', 'user_pass' => 'x', 'role' => 'subscriber']);`,
      )
      expect(await ensure('customer@example.com')).toEqual({ login: 'customer', created: false })
      const { users } = await state()
      expect(users.filter(({ user_email }) => /customer/i.test(user_email)).map(({ roles }) => roles)).toEqual([
        ['administrator'],
      ])
      expect((await remove('customer@example.com', 'next')).deleted).toBe(true)
    })

    test('sets a password that logs in, with all characters', async () => {
      const password = `q'uo"te\\back <b>&amp; ü`
      expect(await reset('jane@example.com', password)).toEqual({ login: 'jane', created: false, dropIn: false })
      expect(await logsIn('jane', password)).toBe(true)
      expect(await reset('fresh@example.com', password)).toEqual({ login: 'fresh', created: true, dropIn: false })
      expect(await logsIn('fresh', password)).toBe(true)
      await remove('fresh@example.com', 'oldest')
    })

    test('sends no mail from WordPress', async () => {
      await directory.script(
        'wp-content/mu-plugins/count-mails.php',
        `add_filter('pre_wp_mail', function ($stop) { update_option('mails', get_option('mails', 0) + ($stop === null)); return $stop; }, 99);`,
      )
      await reset('quiet@example.com', 'x'.repeat(20))
      await remove('quiet@example.com', 'next')
      expect(await run(`return (int) get_option('mails', 0);`)).toBe(0)
    })

    test('next: gives posts in every state, and links, to the next administrator by ID, after the last to the first', async () => {
      for (const login of ['bea', 'cleo', 'dora']) {
        await ensure(`${login}@example.com`)
        await write(login)
      }
      expect(await remove('bea@example.com', 'next')).toEqual({ deleted: true, heir: 'cleo' })
      expect((await state()).posts).toMatchObject({ 'by bea': 'cleo', 'by bea, trash': 'cleo', 'by cleo': 'cleo' })
      expect((await state()).links).toEqual({ 'of bea': 'cleo', 'of cleo': 'cleo', 'of dora': 'dora' })
      expect(await remove('dora@example.com', 'next')).toEqual({ deleted: true, heir: 'admin' })
      expect((await state()).posts).toMatchObject({ 'by dora': 'admin', 'by dora, trash': 'admin', 'by bea': 'cleo' })
      expect((await state()).links['of dora']).toBe('admin')
    })

    test('oldest: gives them to the administrator who registered first, whatever the ID', async () => {
      await run(
        `global $wpdb; $wpdb->update($wpdb->users, ['user_registered' => '2001-01-01 00:00:00'], ['user_login' => 'cleo']); return true;`,
      )
      await ensure('eve@example.com')
      await write('eve')
      expect(await remove('eve@example.com', 'oldest')).toEqual({ deleted: true, heir: 'cleo' })
      expect((await state()).posts).toMatchObject({ 'by eve': 'cleo', 'by eve, trash': 'cleo' })
      // Repeated, as after a crash: nothing is left to do.
      expect(await remove('eve@example.com', 'oldest')).toEqual({ deleted: false, heir: null })
    })

    test('finishes a removal that was interrupted after the rights were removed', async () => {
      await ensure('half@example.com')
      await write('half')
      await run(
        `global $wpdb; $wpdb->delete($wpdb->usermeta, ['user_id' => get_user_by('login', 'half')->ID]); return true;`,
      )
      expect((await remove('half@example.com', 'oldest')).deleted).toBe(true)
      expect((await state()).posts['by half']).toBe('cleo')
    })

    test("keeps the site's own administrator, by name or by address, and removes no user without an heir", async () => {
      expect((await remove('owner@example.com', 'oldest')).deleted).toBe(false)
      await run(
        `global $wpdb; $wpdb->update($wpdb->users, ['user_email' => 'moved@example.com'], ['user_login' => 'admin']); wp_cache_flush(); return true;`,
      )
      expect((await remove('moved@example.com', 'oldest')).deleted).toBe(false)
      await run(
        `foreach (get_users(['role' => 'administrator']) as $user) { if ($user->user_login !== 'cleo') $user->set_role('editor'); } return true;`,
      )
      await expect(remove('cleo@example.com', 'next')).rejects.toThrow('no other administrator')
      expect((await state()).posts['by cleo']).toBe('cleo')
    })
  },
)
