/**
 * Compares answers of MariaDB and of the layer that lets WordPress run on SQLite: rows, names and types of columns,
 * changed rows, IDs, warnings, and whether the statement failed. Known differences are in a list, with the reason.
 */
import { execFile, execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import { hasMariaDb, startMariaDb } from '../../../test/support/mariadb.ts'
import { fetchPage, testDirectory, testRequest, testRuntime } from '../../../test/support/site-directory.ts'
import { unpackLayer } from '../site-files/platform/sqlite-layer.ts'
import { known, setup, statements } from './same-answers.fixture.ts'

const core = await testCore()
const program = join(import.meta.dirname, 'same-answers.fixture.php')

/** The required share of equal answers among all statements. Less fails the test. */
const SHARE = 0.98

const hasPhp = (() => {
  try {
    const needed = 'exit(extension_loaded("mysqli") && extension_loaded("pdo_sqlite") ? 0 : 1);'
    execFileSync('php', ['-r', needed])
    return true
  } catch {
    return false
  }
})()

interface Answered {
  readonly sql: string
  readonly wanted: unknown
  readonly got: unknown
  readonly why: string | null
}

const all = [...setup, ...statements]

function readAnswers(text: string): Answered[] {
  const pairs = JSON.parse(text) as [unknown, unknown, string | null][]
  return all.map((sql, n) => {
    const [wanted, got, why] = pairs[n] as (typeof pairs)[number]
    return { sql, wanted, got, why }
  })
}

/** @param socket the socket of a MariaDB, or '' for none */
async function nativeAnswers(socket: string): Promise<Answered[]> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-answers-'))
  try {
    await mkdir(join(folder, 'layer'))
    await unpackLayer(join(folder, 'layer'))
    await writeFile(join(folder, 'statements.json'), JSON.stringify(all))
    const places = [join(folder, 'statements.json'), join(folder, 'layer'), socket, join(folder, 'site.sqlite')]
    const { stdout } = await promisify(execFile)('php', [program, ...places], { maxBuffer: 64 << 20 })
    return readAnswers(stdout)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function wasmAnswers(): Promise<Answered[]> {
  const directory = await testDirectory(core as string)
  try {
    const runtime = await testRuntime()
    const php = await runtime.start(directory)
    try {
      await writeFile(join(directory.siteDirectory, 'web/statements.json'), JSON.stringify(all))
      await copyFile(program, join(directory.siteDirectory, 'web/answers.php'))
      const layer = '/wordpress/wp-content/mu-plugins/sqlite-database-integration'
      const path = await directory.script(
        'ask.php',
        `$places = ['/wordpress/statements.json', '${layer}', '', '/tmp/answers.sqlite']; require '/wordpress/answers.php';`,
      )
      return readAnswers((await fetchPage(php, testRequest('/ask.php', path))).text)
    } finally {
      await php.stop()
      await runtime.close()
    }
  } finally {
    await directory.remove()
  }
}

test.skipIf(!hasMariaDb || !hasPhp)('gives the same answers in the embedded database as in MariaDB', async () => {
  const server = await startMariaDb()
  const answers = await nativeAnswers(server.socket).finally(() => server.stop())
  const differing = answers.filter(({ wanted, got }) => !isDeepStrictEqual(wanted, got))
  const total = all.length
  const share = (total - differing.length) / total
  console.log(`${total - differing.length} of ${total} statements are answered alike: ${(share * 100).toFixed(1)} %`)
  expect(differing.filter(({ sql }) => !(sql in known))).toEqual([])
  expect(Object.keys(known).filter((sql) => !differing.some((each) => each.sql === sql))).toEqual([])
  expect(share).toBeGreaterThanOrEqual(SHARE)
})

test.skipIf(!hasPhp || !core)('gives the same answers on WebAssembly as on native PHP', async () => {
  const native = await nativeAnswers('')
  expect((await wasmAnswers()).map(({ sql, got }) => ({ sql, got }))).toEqual(
    native.map(({ sql, got }) => ({ sql, got })),
  )
})

test.skipIf(!core)(
  'logs untranslatable statements in the PHP log, even if errors are hidden: shortened, with their origin, and limited in number',
  async () => {
    const directory = await testDirectory(core as string)
    const runtime = await testRuntime()
    const php = await runtime.start(directory)
    const log = join(directory.siteDirectory, 'private/php-error.log')
    /** Returns the lines that a page's statements add to the log. */
    const logOf = async (code: string): Promise<string[]> => {
      await rm(log, { force: true })
      const path = await directory.script('ask.php', `require '/wordpress/wp-load.php';\n${code}\necho 'asked';`)
      expect((await fetchPage(php, testRequest('/ask.php', path))).text).toContain('asked')
      return (await readFile(log, 'utf8')).trim().split('\n')
    }
    try {
      const who = {
        title: 'T',
        user: 'u',
        password: 'secret-of-a-test',
        email: 'a@b.example',
        url: 'http://my.localhost',
      }
      await php.runTask('install', who)
      const lines = await logOf(`
      $wpdb->suppress_errors(true);
      $wpdb->query('select * from not_there');
      $wpdb->query('DESCRIBE IF;');
      $wpdb->query('create trigger one before insert on wp_posts for each row set new.post_title = 1');
      $wpdb->suppress_errors(false);
      $wpdb->query('select nothing_of_this_name(' . str_repeat('1, ', 1000) . '1)');`)
      expect(lines).toHaveLength(2)
      expect(lines[0]).toMatch(
        /WordPress database error .* for query create trigger one before insert .* made by ask\.php:6$/,
      )
      expect(lines[1]).toMatch(/for query select nothing_of_this_name\(.*… \(3\d{3} bytes\) made by ask\.php:8$/)
      const many = await logOf(`for ($i = 0; $i < 1000; $i++) $wpdb->query('select nothing_of_this_name()');`)
      expect(many).toHaveLength(21)
      expect(many.at(-1)).toContain('more statements of this request failed')
      // For answers that may differ from MySQL's: once for each query shape.
      const other = await logOf(`for ($i = 0; $i < 3; $i++)
        $wpdb->get_results("select a.ID from $wpdb->posts a join $wpdb->terms t on a.post_title = t.name where a.ID > $i");`)
      expect(other).toHaveLength(1)
      expect(other[0]).toMatch(/Embedded database: accents count .* query select a\.ID from .* made by ask\.php:3$/)
      const large = await logOf(`
      $wpdb->query("create view three as select ID from $wpdb->posts");
      $wpdb->get_results('describe three');
      $wpdb->get_var('select 18446744073709551615');
      $wpdb->get_var('select 9223372036854775807');
      $wpdb->get_results("select ID from $wpdb->posts limit 0, 18446744073709551615");`)
      expect(large).toEqual([
        expect.stringMatching(/Embedded database: the columns of a view .* query describe three made by ask\.php:4$/),
        expect.stringMatching(
          /a whole number over \d+ becomes .* query select 18446744073709551615 made by ask\.php:5$/,
        ),
      ])
      // What a plugin sees of failures, warnings, and types.
      const [seen] = await logOf(`
      $wpdb->suppress_errors(true);
      $wpdb->query("insert into $wpdb->options (option_name, option_value) values ('blogname', 'again')");
      $failure = $wpdb->last_error;
      $wpdb->query("insert ignore into $wpdb->options (option_name, option_value) values ('blogname', 'again')");
      $warnings = $wpdb->get_results('show warnings', ARRAY_N);
      $wpdb->get_results("select ID, post_title, post_date, ID + 1.5 half, null none, max(post_date) last from $wpdb->posts where ID < 0");
      error_log(json_encode(array($failure, $warnings, $wpdb->get_col_info('type'))));`)
      const duplicate = `Duplicate entry 'blogname' for key 'option_name'`
      expect(JSON.parse(String(seen).replace(/^\[[^\]]*\] /, ''))).toEqual([
        duplicate,
        [['Warning', '1062', duplicate]],
        [8, 252, 12, 246, 6, 12],
      ])
    } finally {
      await php.stop()
      await runtime.close()
      await directory.remove()
    }
  },
)
