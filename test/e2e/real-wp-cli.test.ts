import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

/** Path of the real wp-cli.phar, which the project does not include. Without it these tests are skipped. */
const phar = process.env.TEST_WP_CLI
const canRun = phar !== undefined && existsSync('/usr/bin/ssh')
if (phar === undefined) console.info('The real WP-CLI is not tried: set TEST_WP_CLI to the path of wp-cli.phar')

/** Exit codes that depend on whether wordpress.org can be reached. */
const NETWORK = [0, 1]
/** Command lines, the exit codes that they may end with, and what they print to either stream. */
const commands: readonly (readonly [line: string, code: number | readonly number[], says?: RegExp])[] = [
  ['wp core version --extra', 0, /^WordPress version: \d/],
  ['wp core is-installed', 0, /^$/],
  ['wp core verify-checksums', NETWORK],
  ['wp core check-update', NETWORK],
  ['wp plugin list --format=json', 0, /^\[.*\]/],
  ['wp plugin status', 0, /installed plugins?:/],
  ['wp theme list', 0, /^name\tstatus/],
  ['wp option get blogname', 0],
  [`wp option update blogdescription 'It'\\''s “nice” & ok'`, 0, /^Success: Updated 'blogdescription' option\.$/m],
  ['wp option get blogdescription', 0, /^It&#039;s “nice” &amp; ok$/m],
  ['wp option pluck wp_user_roles administrator name', 0, /^Administrator$/m],
  ["wp option list --search='*site*' --format=csv", 0, /^siteurl,http/m],
  ['wp user create bob bob@example.com --role=editor --porcelain', 0, /^\d+$/m],
  ['wp user list --format=csv', 0, /,bob,bob,/],
  ['wp user update bob --user_pass=x1y2z3 --skip-email', 0, /^Success: Updated user/],
  ['wp user application-password create bob app --porcelain', 0, /^\w{24}$/m],
  ['wp search-replace http://here.example http://new.test --dry-run', 0, /^Success: 0 replacements to be made/m],
  ['wp search-replace s s --dry-run --regex --all-tables-with-prefix --report-changed-only', 0, /^Success: /m],
  ['wp search-replace here zzz --export=- --skip-columns=guid', 0],
  ['wp search-replace Hello Hallo wp_posts', 0, /^Success: Made 1 replacement\.$/m],
  ['wp db size --tables', 0, /^wp_posts\t/m],
  ['wp db size --human-readable', 0, /^Name\tSize/],
  ['wp db tables', 0, /^wp_posts$/m],
  ['wp db prefix', 0, /^wp_$/m],
  [`wp db query 'SELECT option_value FROM wp_options WHERE option_name="blog_charset"'`, 0, /^option_value\nUTF-8\n/],
  ["wp db query 'SELECT nothing FROM wp_options'", 1, /Query failed: .*Unknown column 'nothing'/s],
  ['wp db check', 0, /wp_posts +OK$/m],
  ['wp db optimize', 0, /wp_posts/],
  ['wp db columns wp_posts', 0, /^post_title\ttext/m],
  ['wp db search Hallo wp_posts --stats', 0, /Success: Found 1 match/],
  ['wp db cli', 0, /^$/],
  ['wp cron event list', 0, /^hook\t/],
  ['wp cron event run --due-now', 0, /^Success: Executed/m],
  ['wp cron schedule list', 0, /^hourly\t/m],
  ['wp cron test', 1, /DISABLE_WP_CRON constant is set/],
  ['wp media import https://wordpress.org/x.png', 1, /Error: No items imported/],
  ['wp post create --post_title=CLI --post_status=publish --porcelain', 0, /^\d+$/m],
  ['wp post list --fields=ID,post_title --format=json', 0, /"CLI"/],
  ['wp post generate --count=3', 0],
  ['wp post meta add 1 k v', 0, /^Success: Added custom field/],
  ['wp comment list --format=ids', 0, /^1$/],
  ['wp term create category NewCat', 0, /^Success: Created category/],
  ['wp menu create M', 0, /^Success: Created menu/],
  [`wp eval 'echo get_bloginfo("name");'`, 0, /./],
  [`wp eval 'WP_CLI::runcommand("option get nothing_such");'`, 1, /Could not get 'nothing_such' option/],
  ['wp cache flush', 0, /^Success: The cache was flushed\.$/m],
  ['wp cache type', 0, /./],
  ['wp rewrite flush --hard', 0],
  ['wp rewrite list --format=count', 0, /^\d+$/m],
  [
    "wp rewrite structure '/%year%/%postname%/'",
    0,
    /^Success: Rewrite structure set\.\nSuccess: Rewrite rules flushed\./,
  ],
  ["wp rewrite structure '/%postname%/'", 0, /^Success: Rewrite structure set\.\nSuccess: Rewrite rules flushed\./],
  ['wp config get DB_NAME', 0, /./],
  ['wp config list', 0, /^DB_NAME\t/m],
  ['wp config set WP_DEBUG true --raw', 0, /^Success: Updated the constant/],
  ['wp config get WP_DEBUG', 0, /^1$/m],
  ['wp config set WP_DEBUG false --raw', 0, /^Success: Updated the constant/],
  ['wp config set MY_NEW yes', 0, /^Success: Added the constant/],
  ['wp config shuffle-salts', 0, /^Success: Shuffled/],
  ['wp config path', 0, /^\/wordpress\/wp-config\.php$/m],
  ['wp theme activate twentytwentyfive', 0],
  ['wp transient delete --all', 0, /^Success: /],
  ['wp transient set a b 60', 0, /^Success: Transient added/],
  ['wp transient type', 0, /^Transients are saved/],
  ['wp language core list --status=active', NETWORK],
  ['wp language core install de_DE', NETWORK],
  ['wp export --dir=. --post_type=post', 0, /^Success: All done with export/m],
  ['wp widget list sidebar-1', [0, 1]],
  ['wp role list', 0, /^Administrator\tadministrator$/m],
  ['wp cap list editor', 0, /^edit_posts$/m],
  ['wp maintenance-mode status', 0, /is not active/],
  ['wp maintenance-mode activate', 0, /^Success: Activated/m],
  ['wp maintenance-mode deactivate', 0, /^Success: Deactivated/m],
  ['wp scaffold plugin scaffolded --skip-tests', 0, /^Success: Created plugin files/m],
  ['wp plugin activate scaffolded', 0, /^Success: Activated 1 of 1 plugins/m],
  ['wp plugin deactivate scaffolded', 0, /^Success: Deactivated 1 of 1 plugins/m],
  ['wp plugin delete scaffolded', 0, /^Success: Deleted 1 of 1 plugins/m],
  ['wp plugin install http://127.0.0.1:9/none.zip --activate', 1, /No plugins installed/],
  ['wp plugin verify-checksums --all', NETWORK],
  ['wp super-admin list', 1, /not a multisite/],
  ['wp scaffold child-theme kid --parent_theme=twentytwentyfive', 0, /^Success: Created/m],
  ['wp i18n make-pot wp-content/themes/twentytwentyfive /tmp/x.pot', NETWORK],
  ['wp cli info', 0, /^MySQL binary:\t.*mariadb\n.*^WP-CLI version:\t\d/ms],
  ['wp cli version', 0, /^WP-CLI \d/],
  ['wp help core', 0, /^NAME\n\n {2}wp core\n/],
  ['wp package list', 0],
  [`cd '/wordpress'; WP_CLI_RUNTIME_ALIAS='{"@s":{"user":"admin"}}' wp @s 'option' 'get' 'home'`, 0, /^http/],
  // Stead does not have these, and says so
  ['wp core update', 1, /updated by Stead/],
  ['wp server', 1, /^Error: Stead serves this site already/],
  ['wp shell', 1, /^Error: There is no interactive shell here/],
  ['wp --ssh=nobody@nowhere.example option get home', 255, /Cannot connect over SSH/],
  ['wp nonsense', 1, /not a registered wp command/],
  // nothing works after it
  ['wp db reset --yes', 0, /^Success: Database reset/m],
]

describeSites(
  'the real WP-CLI over SSH',
  ({ env }) => {
    let stead: Stead
    let folder: string
    let ssh: (line: string) => Promise<{ code: number | null; said: string }>
    showOutputOfFailures(() => stead)

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'stead-wp-cli-'))
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
      stead = await startStead({ env: { ...env, STEAD_SFTP_LISTEN: '127.0.0.1:0', STEAD_WP_CLI: phar as string } })
      const id = await stead.createSite({ name: 'commanded' })
      const port = await until('the port of SFTP', () =>
        /SFTP server is listening[^\n]*?"?port"?[=: ]+"?(\d+)|"?port"?[=: ]+"?(\d+)[^\n]*SFTP server is listening/
          .exec(stead.output())
          ?.slice(1)
          .find((found) => found !== undefined),
      )
      const user = (await stead.api('GET', `/v1/sites/${id}/ftp`)).body.data[0].username as string
      const public_key = await readFile(join(folder, 'key.pub'), 'utf8')
      await stead.api('POST', `/v1/sites/${id}/ftp/${user}/keys`, { public_key })
      const options = ['StrictHostKeyChecking=no', `UserKnownHostsFile=${join(folder, 'known')}`, 'LogLevel=ERROR']
      const known = options.flatMap((option) => ['-o', option])
      ssh = async (line) => {
        const words = ['-F', 'none', '-n', ...known, '-i', join(folder, 'key'), '-p', port, `${user}@127.0.0.1`, line]
        const child: ChildProcess = spawn('ssh', words)
        let said = ''
        for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (said += piece))
        const [code] = (await once(child, 'close')) as [number | null]
        return { code, said }
      }
    })
    afterAll(async () => {
      await stead?.remove()
      if (folder) await rm(folder, { recursive: true, force: true })
    })

    test('ends each command as on a server with a shell', { timeout: 20 * 60_000 }, async () => {
      const wrong: string[] = []
      for (const [line, codes, says] of commands) {
        const { code, said } = await ssh(line)
        if (![codes].flat().includes(code ?? -1) || (says && !says.test(said)))
          wrong.push(`${line}\n  ended with ${code}: ${said.slice(0, 500)}`)
      }
      expect(wrong).toEqual([])
    })
  },
  { skip: !canRun },
)
