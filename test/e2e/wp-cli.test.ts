/**
 * WP-CLI over SSH, with OpenSSH's own client. A small stand-in for tests replaces WP-CLI (`test/support/wp-cli.ts`).
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { wpCliStandIn } from '../support/wp-cli.ts'

const hasSsh = existsSync('/usr/bin/ssh') && existsSync('/usr/bin/ssh-keygen')

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Everyone except logged-in users gets the cached page, for up to a second after a change. */
const pastTheCache = { headers: { cookie: 'wordpress_logged_in_x=1' } }

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

describeSites(
  'WP-CLI over SSH',
  ({ env, testOnce }) => {
    let stead: Stead
    let folder: string
    let port: string
    let id: number
    let owner: string
    showOutputOfFailures(() => stead)

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'stead-wp-cli-'))
      await writeFile(join(folder, 'wp-cli.phar'), wpCliStandIn)
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
      stead = await startStead({
        env: { ...env, STEAD_SFTP_LISTEN: '127.0.0.1:0', STEAD_WP_CLI: join(folder, 'wp-cli.phar') },
      })
      id = await stead.createSite({ name: 'commanded' })
      port = await until(
        'the port of SFTP',
        async () => /SFTP server is listening[^\n]*/.exec(stead.output())?.[0] && portIn(stead.output()),
      )
      owner = (await users())[0]?.username as string
      await addKey(owner)
    })
    afterAll(async () => {
      await stead?.remove()
      if (folder) await rm(folder, { recursive: true, force: true })
    })

    const portIn = (output: string) =>
      output
        .split('\n')
        .flatMap((line) =>
          line.includes('SFTP server is listening') ? (/"?port"?[=: ]+"?(\d+)/.exec(line)?.[1] ?? []) : [],
        )[0]
    const users = async (): Promise<{ username: string; email: string }[]> =>
      (await stead.api('GET', `/v1/sites/${id}/ftp`)).body.data
    const addKey = async (username: string) => {
      const public_key = await readFile(join(folder, 'key.pub'), 'utf8')
      const { status } = await stead.api('POST', `/v1/sites/${id}/ftp/${username}/keys`, { public_key })
      expect(status).toBe(200)
    }
    const start = (command: string[], { user = owner, more = [] as string[] } = {}): ChildProcess => {
      const known = ['-o', 'StrictHostKeyChecking=no', '-o', `UserKnownHostsFile=${join(folder, 'known')}`]
      const as = [
        '-F',
        'none',
        '-o',
        'LogLevel=ERROR',
        '-o',
        'IdentitiesOnly=yes',
        '-i',
        join(folder, 'key'),
        '-p',
        port,
      ]
      return spawn('ssh', [...known, ...as, ...more, `${user}@127.0.0.1`, ...command])
    }
    const ended = async (child: ChildProcess, input: string | Buffer = ''): Promise<Ended> => {
      const said = { out: '', err: '' }
      child.stdout?.on('data', (piece) => (said.out += piece))
      child.stderr?.on('data', (piece) => (said.err += piece))
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, ...said }
    }
    const ssh = (command: string, input?: string | Buffer, how = {}) => ended(start([command], how), input)
    /** Starts a command that runs until something ends it. */
    const begin = (command: string, how = {}) => {
      const child = start([command], how)
      let out = ''
      child.stdout?.on('data', (piece) => (out += piece))
      const closed = once(child, 'close')
      return { child, says: () => out, code: async () => (await closed)[0] as number | null }
    }
    /** Code that the stand-in runs by `eval-file -`. */
    const php = (code: string) => ssh('wp eval-file -', `<?php ${code}`)
    const activity = async () =>
      (
        (await stead.api('POST', `/v1/sites/${id}/logs/activity`, {})).body.data as {
          message?: string
          description?: string
        }[]
      )
        .map((entry) => JSON.stringify(entry))
        .join('\n')

    test('returns output, errors, and exit code separately', async () => {
      expect(await ssh('wp option get blogname')).toMatchObject({ code: 0, err: '' })
      const version = await ssh('wp core version')
      expect(version).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+(\.\d+)?\n$/), err: '' })
      const { out } = await ssh('wp plugin list --format=json')
      expect(JSON.parse(out)).toBeInstanceOf(Array)
      expect(await ssh('wp option get no_such_option')).toEqual({
        code: 1,
        out: '',
        err: "Error: Could not get 'no_such_option' option. Does it exist?\n",
      })
      expect(await php('echo "said"; fwrite(STDERR, "complained"); exit(42);')).toEqual({
        code: 42,
        out: 'said',
        err: 'complained',
      })
    })

    test('passes PHP the words as a shell would, its standard input, and its own home directory', async () => {
      const { out } = await ssh(`wp args "two words" 'it''s $HOME' a\\ b --format=json "q\\"q" ''`)
      expect(JSON.parse(out)).toEqual(['args', 'two words', 'its $HOME', 'a b', '--format=json', 'q"q', ''])
      const bytes = Buffer.from('\0\xff one\r\n'.repeat(40_000), 'latin1')
      const sum = await ssh(
        `wp eval --skip-wordpress 'echo strlen($all = stream_get_contents(STDIN)), " ", md5($all);'`,
        bytes,
      )
      const { createHash } = await import('node:crypto')
      expect(sum.out).toBe(`${bytes.length} ${createHash('md5').update(bytes).digest('hex')}`)
      expect(JSON.parse((await ssh('wp env')).out)).toEqual(['/wordpress', '/tmp', true, true, '1', false])
    })

    testOnce('refuses what cannot be done, and changes nothing', async () => {
      for (const [command, code, text] of [
        ['id', 127, 'the only command is wp'],
        ['wpx', 127, 'the only command is wp'],
        ['wp option get a; id', 1, '; is not possible'],
        ['wp option get a | cat', 1, '| is not possible'],
        ['wp option get $(id)', 1, '$ is not possible'],
        ['wp option get "`id`"', 1, '` is not possible'],
        ['wp option get a > b', 1, '> is not possible'],
        ["wp option get 'a", 1, "' that is not closed"],
        ['wp core update', 1, 'WordPress itself is updated by Stead'],
        ['wp server --port=8080', 1, 'Stead serves this site already'],
        ['wp shell', 1, 'There is no interactive shell here'],
        ['wp db export --all-databases', 1, '--all-databases is not possible'],
        ['wp nonsense', 1, 'not a registered wp command'],
      ] as const)
        expect(await ssh(command), command).toMatchObject({ code, out: '', err: expect.stringContaining(text) })
      expect(await ended(start([]))).toMatchObject({ code: 1, err: expect.stringContaining('There is no shell') })
      const shown = await ended(start([], { more: ['-tt'] }))
      expect(shown).toMatchObject({ code: 1, out: expect.stringContaining('There is no shell') })
    })

    testOnce('ends lines for a terminal when there is one, with colors and tables', async () => {
      const { code, out } = await ended(start(['wp env'], { more: ['-tt'] }))
      expect([code, out.endsWith('\r\n')]).toEqual([0, true])
      expect(JSON.parse(out).slice(4)).toEqual(['0', expect.stringMatching(/^\d+$/)])
    })

    testOnce('requires wp_access besides sftp_access; revoking it ends the commands', async () => {
      const email = 'mate@example.com'
      const added = await stead.api('POST', `/v1/sites/${id}/collaborators`, { email, roles: ['sftp_access'] })
      const user = (await users()).find((each) => each.email === email)?.username as string
      await addKey(user)
      expect(await ssh('wp core version', '', { user })).toEqual({
        code: 1,
        out: '',
        err: expect.stringContaining('needs the role wp_access'),
      })
      const change = (roles: string[]) =>
        stead.api('POST', '/v1/collaborators/batch_create', { email, siteIds: [id], roles })
      expect(added.status).toBe(200)
      const { headers } = await change(['sftp_access', 'wp_access'])
      await stead.ended(headers.get('operation-id') as string)
      expect((await ssh('wp core version', '', { user })).code).toBe(0)
      const long = begin('wp eval --skip-wordpress \'echo "begun"; while (true) usleep(100000);\'', { user })
      await until('it runs', async () => long.says().includes('begun'))
      await change(['sftp_access'])
      expect(await long.code()).not.toBe(0)
    })

    test('shows changes to visitors at once, and serves them while it runs', async () => {
      const title = async () => /<title>([^<&]*)/.exec((await stead.visit('commanded')).text)?.[1]
      await title()
      const long = begin(
        'wp eval \'echo "begun"; while (!get_transient("enough")) { wp_cache_flush(); usleep(100000); }\'',
      )
      await until('it runs', async () => long.says().includes('begun'))
      expect((await ssh('wp option update blogname Changed')).code).toBe(0)
      await until('the new title', async () => (await title())?.includes('Changed'))
      expect((await stead.visit('commanded', '/', pastTheCache)).text).toContain('Changed')
      // past WordPress' functions, so that Stead only knows that something was written
      await php(
        "global $wpdb; $wpdb->update($wpdb->options, ['option_value' => 'Direct'], ['option_name' => 'blogname']);",
      )
      expect((await stead.visit('commanded', '/', pastTheCache)).text).toContain('Direct')
      await until('the title that was written directly', async () => (await title())?.includes('Direct'))
      await php("set_transient('enough', 1);")
      expect(await long.code()).toBe(0)
      const rows = 'global $wpdb; for ($i = 0; $i < 40; $i++) { add_option("row_" . uniqid("", true), $i); }'
      await Promise.all([
        php(rows),
        php(rows),
        ...Array.from({ length: 10 }, () => stead.visit('commanded', '/', pastTheCache)),
      ])
      expect(
        (
          await php(
            'global $wpdb; echo $wpdb->get_var("select count(*) from $wpdb->options where option_name like \'row_%\'");',
          )
        ).out,
      ).toBe('80')
    })

    testOnce('logs commands without their values', async () => {
      await ssh('wp option update secret_name secret_value')
      await ssh("wp eval --skip-wordpress 'secret_function_is_not_there();'")
      const log = await activity()
      expect(log).toContain(`${owner} ran wp option update`)
      expect(log).toContain(`${owner} ran wp eval`)
      expect(log).not.toContain('secret')
    })

    test('does without a shell what would need programs', async () => {
      const folder = join(stead.directoryOf('commanded'), 'web/wp-content/plugins/leaving')
      await mkdir(join(folder, 'deep/er'), { recursive: true })
      await writeFile(join(folder, 'deep/er/leaving.php'), '<?php // Plugin Name: Leaving')
      const { uid, gid } = await stat(join(folder, '..'))
      for (const path of ['', 'deep', 'deep/er', 'deep/er/leaving.php']) await chown(join(folder, path), uid, gid)
      const id = "SELECT option_value FROM wp_options WHERE option_name = 'blog_charset'; SELECT 1 AS one, NULL AS two"
      for (const [command, code, out, err] of [
        // printing only to STDOUT, or not at all, sends no head before PHP ends
        ['wp core is-installed', 0, '', ''],
        ['wp option update quiet 1', 0, "Success: Updated 'quiet' option.\n", ''],
        [
          "wp rewrite structure '/%postname%/'",
          0,
          /^Success: Rewrite structure set.\nSuccess: Rewrite rules flushed.\n$/,
          '',
        ],
        ['wp plugin delete leaving', 0, "Deleted 'leaving' plugin.\nSuccess: Deleted 1 of 1 plugins.\n", ''],
        ['wp cli info', 0, /^MySQL binary:\t\/usr\/bin\/mariadb\nMySQL version:\tmariadb .*MariaDB/, ''],
        ['wp help', 0, 'NAME\n', ''],
        [`wp db query ${quote(id)}`, 0, 'option_value\nUTF-8\none\ttwo\n1\tNULL\n\n', ''],
        ["wp db query 'SELECT nothing FROM wp_options'", 1, '', /Query failed: .*Unknown column 'nothing'/s],
        ['wp config set MINE 7', 0, /^Success: Added the constant 'MINE'/, ''],
        ["wp eval 'echo MINE;'", 0, '7', ''],
        ['wp option update shop-name zebra', 0, /^Success/, ''],
        ['wp search-replace zebra zebu', 0, 'Success: Made 1 replacements.\n', ''],
        [`wp launch ${quote('wp shell')}`, 0, /^\[1,"","Error: There is no interactive shell/, ''],
        [`wp launch ${quote('wp core update')}`, 0, /^\[1,"","Error: WordPress itself is updated by Stead/, ''],
        [`wp launch ${quote('wp option get shop-name')}`, 0, '[0,"zebu\\n",""]', ''],
      ] as const) {
        const matching = (text: string | RegExp) => (typeof text === 'string' ? text : expect.stringMatching(text))
        expect(await ssh(command), command).toEqual({ code, out: matching(out), err: matching(err) })
      }
      expect(existsSync(folder)).toBe(false)
    })

    testOnce('is run by WP-CLI on another machine, by --ssh and by an alias', async () => {
      const alias = `WP_CLI_RUNTIME_ALIAS='{"@s":{"path":"\\/wordpress","key":"~\\/.ssh\\/id"}}'`
      const here = { code: 0, out: expect.stringMatching(/^http:/), err: '' }
      expect(await ssh(`${alias} wp @s 'option' 'get' 'home'`)).toEqual(here)
      expect(await ssh(`cd '/wordpress'; WP_CLI_STRICT_ARGS_MODE=1 wp 'option' 'get' 'home'`)).toEqual(here)
      expect(await ssh(`cd '/wordpress'; ${alias} wp @other option get home`)).toMatchObject({ code: 1 })
      for (const [command, code, text] of [
        [`cd '/etc'; wp option get home`, 1, '/etc is not the folder of the site'],
        [`cd '/wordpress'; id; wp option get home`, 127, 'the only command is wp'],
        [`cd '/wordpress'; wp option get home; id`, 1, '; is not possible'],
        ['PATH=/tmp wp option get home', 1, 'The variable PATH cannot be set'],
        [`${alias} wp @s core update`, 1, 'WordPress itself is updated by Stead'],
      ] as const)
        expect(await ssh(command), command).toMatchObject({ code, out: '', err: expect.stringContaining(text) })
    })

    test('exports and imports a database with Stead; a broken dump changes nothing', async () => {
      await ssh('wp option update kept before')
      const dump = await ssh('wp db export -')
      expect([dump.code, dump.err, dump.out.includes('CREATE TABLE')]).toEqual([0, '', true])
      expect(await ssh('wp db export kept.sql')).toEqual({
        code: 0,
        out: "Success: Exported to 'kept.sql'.\n",
        err: '',
      })
      const file = join(stead.directoryOf('commanded'), 'web/kept.sql')
      expect(await readFile(file, 'utf8')).toContain('INSERT INTO')
      await ssh('wp option update kept after')
      const broken = await ssh('wp db import -', dump.out.slice(0, dump.out.length / 2))
      expect(broken).toMatchObject({ code: 1, out: '', err: expect.stringContaining('The database did not change.') })
      expect((await ssh('wp option get kept')).out).toBe('after\n')
      expect(await ssh('wp db import -', dump.out)).toEqual({
        code: 0,
        out: "Success: Imported from 'STDIN'.\n",
        err: '',
      })
      expect((await ssh('wp option get kept')).out).toBe('before\n')
      await ssh('wp option update kept after')
      expect((await ssh('wp db import kept.sql')).code).toBe(0)
      expect((await ssh('wp option get kept')).out).toBe('before\n')
      expect((await stead.visit('commanded', '/', pastTheCache)).status).toBe(200)
      expect(await ssh('wp db import none.sql')).toMatchObject({
        code: 1,
        err: expect.stringContaining('No such file'),
      })
    })

    testOnce('reports an import that is refused or whose client has gone, and leaves the next one alone', async () => {
      const dump = (await ssh('wp db export -')).out
      // refused at its beginning, while the client has much more to send
      const refused = `CREATE NONSENSE;\n${dump}${`-- ${'x'.repeat(1000)}\n`.repeat(8000)}`
      for (let again = 0; again < 2; again++) {
        const { code, err } = await ssh('wp db import -', refused)
        expect([code, err]).toEqual([1, expect.stringMatching(/^Error: .*The database did not change\.\n$/s)])
      }
      const half = () => {
        const child = start(['wp db import -'])
        child.stdin?.on('error', () => {}).write(dump.slice(0, dump.length / 2))
        return child
      }
      let gone = half()
      const other = () => ssh('wp db import -', dump)
      await until('the first one is at work', async () => {
        // the other one was first
        if (gone.exitCode !== null) gone = half()
        return (await other()).err.includes('Another import')
      })
      gone.kill('SIGKILL')
      await until('the next one may begin', async () => (await other()).code === 0)
    })

    testOnce('says where visitors of a foreign database would be redirected, and what to do', async () => {
      const dump = (await ssh('wp db export - --tables=wp_options')).out
      const here = `http://commanded.localhost:${stead.edgePort}`
      const theirs = dump.replaceAll(`'${here}'`, "'https://www.elsewhere.example'")
      expect(theirs).not.toBe(dump)
      expect(await ssh('wp db import -', theirs)).toMatchObject({
        code: 0,
        err: expect.stringContaining(`wp search-replace 'https://www.elsewhere.example' '${here}'`),
      })
      expect((await ssh('wp db import - --quiet', theirs)).err).toBe('')
      expect((await ssh('wp db import -', dump)).err).toBe('')
    })

    test('replaces only the one table that a dump contains', async () => {
      await php("wp_insert_post(['post_title' => 'Stays', 'post_status' => 'publish']);")
      const dump = await ssh('wp db export - --tables=wp_options')
      expect(dump.out).not.toContain('`wp_posts`')
      expect((await ssh('wp db import -', dump.out)).code).toBe(0)
      expect(
        (
          await php(
            'global $wpdb; echo $wpdb->get_var("select count(*) from $wpdb->posts where post_title = \'Stays\'");',
          )
        ).out,
      ).toBe('1')
    })

    test('ends the command when its client leaves or is disconnected', async () => {
      const mark = join(stead.directoryOf('commanded'), 'web/ticks')
      const ticking =
        'wp eval --skip-wordpress \'while (true) { file_put_contents("ticks", ".", FILE_APPEND); usleep(20000); }\''
      const stands = async () => {
        const length = async () => (await readFile(mark, 'utf8').catch(() => '')).length
        await until('it stands still', async () => {
          const before = await length()
          // inactivity is the only sign that the process has ended
          await new Promise((resolve) => setTimeout(resolve, 500))
          return (await length()) === before
        })
      }
      const gone = begin(ticking)
      await until('it ticks', async () => existsSync(mark))
      gone.child.kill('SIGKILL')
      await stands()
      await rm(mark)
      const cut = begin(ticking)
      await until('it ticks again', async () => existsSync(mark))
      const { headers } = await stead.api('GET', `/v1/sites/${id}/disconnect-ssh`)
      await stead.ended(headers.get('operation-id') as string)
      expect(await cut.code()).toBe(255)
      await stands()
    })

    test('pauses a command whose output is not read', async () => {
      const child = start([
        'wp eval --skip-wordpress \'$s = str_repeat("x", 1 << 20); for ($i = 0; $i < 40; $i++) { echo $s; file_put_contents("written", $i); }\'',
      ])
      child.stdout?.pause()
      const written = async () =>
        Number(await readFile(join(stead.directoryOf('commanded'), 'web/written'), 'utf8').catch(() => 0))
      await until('it waits', async () => {
        const first = await written()
        await new Promise((resolve) => setTimeout(resolve, 1000))
        return first > 0 && (await written()) === first
      })
      expect(await written()).toBeLessThan(20)
      let bytes = 0
      child.stdout?.on('data', (piece) => (bytes += piece.length)).resume()
      const [code] = await once(child, 'close')
      expect([code, bytes]).toEqual([0, 40 << 20])
    })
  },
  { skip: !hasSsh },
)
