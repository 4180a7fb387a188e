import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { locate } from './locate.ts'

let base: string
let site: { siteDirectory: string; corePath: string }

const FILES = [
  'home/web/index.php', 'home/web/wp-login.php', 'home/web/wp-cron.php', 'home/web/xmlrpc.php', 'home/web/wp-config.php',
  'home/web/wp-settings.php', 'home/web/readme.html', 'home/web/license.txt', 'home/web/robots.txt', 'home/web/dump.sql',
  'home/web/.htaccess', 'home/web/.well-known/security.txt', 'home/web/.git/config', 'home/web/wp-config.php.bak', 'home/web/wp-content/error_log',
  'home/web/shop/index.html', 'home/web/app/index.php', 'home/web/plain/data.txt', 'home/web/a b/index.html',
  'home/web/wp-admin/evil.php', 'home/web/wp-includes/evil.js',
  'home/web/wp-content/index.php', 'home/web/wp-content/debug.log', 'home/web/wp-content/db.php',
  'home/web/wp-content/uploads/2024/05/pic.jpg', 'home/web/wp-content/uploads/shell.php', 'home/web/wp-content/uploads/x.PHP',
  'home/web/wp-content/uploads/x.phtml', 'home/web/wp-content/uploads/ümlaut.png', 'home/web/wp-content/uploads/100%.png',
  'home/web/wp-content/uploads/dir.php/inner.txt', 'home/web/wp-content/uploads/deck.key',
  'home/web/wp-content/plugins/p/entry.php', 'home/web/wp-content/plugins/p/readme.txt', 'home/web/wp-content/mu-plugins/m.php',
  'home/private/database/site.sqlite', 'home/private/php-error.log', 'outside/secret.txt', 'outside/index.php',
  'core/wp-admin/index.php', 'core/wp-admin/install.php', 'core/wp-admin/includes/file.php', 'core/wp-admin/css/a.css',
  'core/wp-admin/admin-ajax.php', 'core/wp-includes/js/a.js', 'core/wp-includes/version.php', 'core/wp-includes/fonts/f.woff2',
  'core/wp-includes/js/tinymce/wp-tinymce.php', 'core/wp-login.php', 'core/only-in-core.txt',
] // biome-ignore format: a tree

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'stead-locate-'))
  for (const file of FILES) {
    await mkdir(dirname(join(base, file)), { recursive: true })
    await writeFile(join(base, file), file)
  }
  await symlink(join(base, 'outside'), join(base, 'home/web/link'))
  await symlink(join(base, 'outside/secret.txt'), join(base, 'home/web/link.txt'))
  await symlink(join(base, 'home/private'), join(base, 'home/web/wp-content/private'))
  site = { siteDirectory: join(base, 'home'), corePath: join(base, 'core') }
})

afterAll(() => rm(base, { recursive: true, force: true }))

/** Returns a location in one line: `file <path below the base>`, `script /x.php`, `redirect /x/`, `404`. */
async function where(target: string, more: { hasMultisite?: boolean; hasLight404?: boolean } = {}): Promise<string> {
  const location = locate({ ...site, ...more }, target)
  switch (location.kind) {
    case 'file': {
      try {
        const handle = await location.found.open()
        // Every file contains its own path.
        const text = await handle.readFile('utf8')
        await handle.close()
        return `file ${text}`
      } finally {
        location.found.close()
      }
    }
    case 'script':
      return `script ${location.script}`
    case 'redirect':
      return `redirect ${location.location}`
    case 'refused':
      return String(location.status)
    case 'missing':
      return 'missing'
  }
}

describe('sites of a network in sub-directories', () => {
  // biome-ignore format: a table
  test.each([
    ['/second/', 'script /index.php'],
    ['/second/wp-admin?x=1', 'redirect /second/wp-admin/?x=1'],
    ['/second/wp-admin/', 'script /wp-admin/index.php'],
    ['/second/wp-admin/css/a.css', 'file core/wp-admin/css/a.css'],
    ['/second/wp-includes/js/a.js?ver=1', 'file core/wp-includes/js/a.js'],
    ['/second/wp-content/uploads/2024/05/pic.jpg', 'file home/web/wp-content/uploads/2024/05/pic.jpg'],
    ['/second/wp-login.php', 'script /wp-login.php'],
    ['/second/wp-admin/admin-ajax.php', 'script /wp-admin/admin-ajax.php'],
    ['/second/wp-content/nothing.png', 'script /index.php'],
    ['/second/page/', 'script /index.php'],
    ['/second/robots.txt', 'script /index.php'],
    // The protections of a path also apply after a site's name.
    ['/second/wp-config.php', '404'],
    ['/second/wp-cron.php', '403'],
    ['/second/wp-content/uploads/woocommerce_uploads/x.pdf', '403'],
    ['/second/wp-admin/install.php', '403'],
    ['/second/wp-content/uploads/shell.php', '403'],
    ['/second/third/wp-admin/', 'script /index.php'],
    ['/se.cond/wp-admin/', 'script /index.php'],
  ])('%s → %s', async (target, expected) => expect(await where(target, { hasMultisite: true })).toBe(expected))

  test('leaves these paths to WordPress without a network', async () => {
    for (const target of ['/second/wp-admin/', '/second/wp-includes/js/a.js', '/second/wp-login.php'])
      expect(await where(target)).toBe('script /index.php')
  })
})

describe('lightweight 404', () => {
  const extensions = 'css gif eot jpg jpeg js otf png svg swf ttf webm webp woff woff2'.split(' ')

  test('covers missing files with the listed extensions, whatever the case and the query, and nothing else', async () => {
    for (const extension of extensions)
      for (const name of [extension, extension.toUpperCase()]) {
        const target = `/wp-content/themes/none.${name}?ver=1`
        expect([target, await where(target, { hasLight404: true })]).toEqual([target, 'missing'])
        expect([target, await where(target)]).toEqual([target, 'script /index.php'])
      }
    for (const target of [
      '/none.ico',
      '/none.txt',
      '/sitemap.xml',
      '/none.mp4',
      '/a.jsx',
      '/css',
      '/x.css/',
      '/x.css/y',
    ])
      expect([target, await where(target, { hasLight404: true })]).toEqual([target, 'script /index.php'])
    expect(await where('/second/wp-content/none.png', { hasLight404: true, hasMultisite: true })).toBe('missing')
    expect(await where('/wp-content/uploads/2024/05/pic.jpg', { hasLight404: true })).toMatch(/^file/)
  })
})

describe('the meaning of a path', () => {
  // biome-ignore format: a table
  test.each([
    // WordPress.
    ['/', 'script /index.php'],
    ['/?p=1', 'script /index.php'],
    ['/hello-world/', 'script /index.php'],
    ['/2024/05/post?x=/../', 'script /index.php'],
    ['/index.php', 'script /index.php'],
    ['/index.php/hello/world/', 'script /index.php'],
    ['/none.php', 'script /index.php'],
    ['/none.php/x', 'script /index.php'],
    ['/wp-json/wp/v2/posts', 'script /index.php'],
    ['/sitemap.xml', 'script /index.php'],
    ['/%C3%BCber/', 'script /index.php'],
    ['/%ff%fe', 'script /index.php'],
    ['/\xfc', 'script /index.php'],
    ['/favicon.ico', 'script /index.php'],
    // Entry points.
    ['/wp-login.php?action=lostpassword', 'script /wp-login.php'],
    ['/wp-login.php/x', 'script /wp-login.php'],
    ['/xmlrpc.php', 'script /xmlrpc.php'],
    ['//wp-login.php', 'script /wp-login.php'],
    ['/wp%2Dlogin%2Ephp', 'script /wp-login.php'],
    ['/wp-admin/', 'script /wp-admin/index.php'],
    ['/wp-admin/admin-ajax.php', 'script /wp-admin/admin-ajax.php'],
    ['/wp-content/plugins/p/entry.php', 'script /wp-content/plugins/p/entry.php'],
    ['/wp-content/mu-plugins/m.php', 'script /wp-content/mu-plugins/m.php'],
    ['/wp-includes/js/tinymce/wp-tinymce.php?c=1', 'script /wp-includes/js/tinymce/wp-tinymce.php'],
    // Folders.
    ['/wp-admin', 'redirect /wp-admin/'],
    ['//wp-admin?a=1&b', 'redirect /wp-admin/?a=1&b'],
    ['/wp%2Dadmin', 'redirect /wp-admin/'],
    ['/shop', 'redirect /shop/'],
    ['/shop/', 'file home/web/shop/index.html'],
    ['/a%20b', 'redirect /a%20b/'],
    ['/app/', 'script /app/index.php'],
    ['/plain', 'script /index.php'],
    ['/plain/', 'script /index.php'],
    ['/wp-content/uploads/', 'script /index.php'],
    ['/wp-includes/', 'script /index.php'],
    // Files.
    ['/robots.txt', 'file home/web/robots.txt'],
    ['/robots.txt/', 'script /index.php'],
    ['/robots.txt/x', 'script /index.php'],
    ['/.well-known/security.txt', 'file home/web/.well-known/security.txt'],
    ['/wp-content/uploads/2024/05/pic.jpg?w=1', 'file home/web/wp-content/uploads/2024/05/pic.jpg'],
    ['/wp-content/uploads/%C3%BCmlaut.png', 'file home/web/wp-content/uploads/ümlaut.png'],
    ['/wp-content/uploads/100%25.png', 'file home/web/wp-content/uploads/100%.png'],
    ['/wp-content/uploads/deck.key', 'file home/web/wp-content/uploads/deck.key'],
    ['/wp-content/plugins/p/readme.txt', 'file home/web/wp-content/plugins/p/readme.txt'],
    ['/wp-admin/css/a.css?ver=1', 'file core/wp-admin/css/a.css'],
    ['/wp-includes/js/a.js', 'file core/wp-includes/js/a.js'],
    // The core replaces two folders only, and replaces them completely.
    ['/wp-admin/evil.php', 'script /index.php'],
    ['/wp-includes/evil.js', 'script /index.php'],
    ['/only-in-core.txt', 'script /index.php'],
    // Not run.
    ['/wp-content/uploads/shell.php', '403'],
    ['/wp-content/uploads/shell.php/x.jpg', '403'],
    ['/wp-content//uploads/%73hell.php', '403'],
    ['/wp-content/uploads/x.PHP', '403'],
    ['/wp-content/uploads/x.phtml', '403'],
    ['/wp-content/uploads/2024/05/pic.jpg/y.php', 'script /index.php'],
    ['/wp-content/uploads/dir.php/inner.txt', 'script /index.php'],
    ['/wp-content/db.php', '403'],
    ['/wp-includes/version.php', '403'],
    ['/wp-admin/includes/file.php', '403'],
    ['/wp-admin/install.php?step=1', '403'],
    ['/wp-cron.php?doing_wp_cron', '403'],
    ['/wp-settings.php', '403'],
    ['/wp-config.php/x', '403'],
    // Hidden.
    ['/wp-config.php', '404'],
    ['/wp-config.php/', '404'],
    ['/wp-config.php.bak', '404'],
    ['/WP-CONFIG.PHP', '404'],
    ['/wp-config%2ephp', '404'],
    ['/readme.html', '404'],
    ['/license.txt', '404'],
    ['/dump.sql', '404'],
    ['/dump.sql.gz', '404'],
    ['/wp-content/error_log', '404'],
    ['/wp-content/plugins/p/none.inc', '404'],
    ['/wp-content/debug.log', '404'],
    ['/.htaccess', '404'],
    ['/.env', '404'],
    ['/wp-content/site.wpress', '404'],
    ['/wp-content/site.daf', '404'],
    // Folders in which plugins keep sold files or backups of the site, whether the file exists or not.
    ['/wp-content/uploads/woocommerce_uploads/2026/01/book.pdf', '403'],
    ['/wp-content/uploads/WooCommerce_uploads/x.pdf', '403'],
    ['/wp-content//uploads/%77oocommerce_uploads/x.pdf', '403'],
    ['/wp-content/uploads/sites/2/woocommerce_uploads/x.pdf', '403'],
    ['/wp-content/updraft/backup-db.gz', '403'],
    ['/wp-snapshots/a_archive.zip', '403'],
    ['/wp-content/backups-dup-lite/a_archive.zip', '403'],
    ['/wp-content/uploads/backwpup-1a2b-backups/a.tar', '403'],
    ['/wp-content/ai1wm-backups/a.zip', '403'],
    ['/wp-content/plugins/all-in-one-wp-migration/storage/x/package.json', '403'],
    ['/wp-content/uploads/woocommerce_uploads_note.txt', 'script /index.php'],
    ['/.git/config', '404'],
    ['/x/.well-known/y', '404'],
    ['/./robots.txt', '404'],
    ['/.well-known/.htaccess', '404'],
    // Pages with names like those of hidden files.
    ['/wp-config-tips', 'script /index.php'],
    ['/wp-config-tips/', 'script /index.php'],
    ['/category/wp-config/', 'script /index.php'],
    ['/error_log', 'script /index.php'],
    ['/wp-json/x/example.sh', 'script /index.php'],
    ['/docs/my.cnf', 'script /index.php'],
    ['/docs/readme.html', 'script /index.php'],
    // Outside.
    ['/../private/php-error.log', '400'],
    ['/%2e%2e/private/database/site.sqlite', '400'],
    ['/wp-content/..%2f..%2fprivate/x', '400'],
    ['/wp-content/..\\..\\private', '400'],
    ['/wp-content%5c..', '400'],
    ['/robots.txt%00.jpg', '400'],
    ['/%zz', '400'],
    ['/%', '400'],
    ['http://evil.test/', '400'],
    ['/%252e%252e/private/php-error.txt', 'script /index.php'],
    ['/link/secret.txt', 'script /index.php'],
    ['/link/', 'script /index.php'],
    ['/link.txt', 'script /index.php'],
    ['/wp-content/private/php-error.txt', 'script /index.php'],
  ])('%s → %s', async (target, expected) => {
    expect(await where(target)).toBe(expected)
  })
})

test('never opens anything outside the web root and the two core folders, whatever the target', async () => {
  const part = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('web', 'wp-content', 'wp-admin', 'wp-includes', 'link', 'private', 'uploads', 'core'),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '..',
        '.',
        '%2e%2e',
        '.%2e',
        '%2e',
        '..%2f',
        '%2f',
        '%5c',
        '\\',
        '..;',
        '%00',
        '',
        '%252e%252e',
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'secret.txt',
        'site.sqlite',
        'index.php',
        'php-error.log',
        'database',
        'robots.txt',
        'a.js',
        'js',
      ),
    },
    { weight: 1, arbitrary: fc.string() },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 9 }),
      fc.constantFrom('/', '//', '/%2f', '/\\'),
      async (parts, join) => {
        const result = await where(`/${parts.join(join)}`)
        if (result.startsWith('file ')) expect(result).toMatch(/^file (?:home\/web\/|core\/wp-(?:admin|includes)\/)/)
        if (result.startsWith('redirect ')) expect(result).toMatch(/^redirect \/(?!\/)/)
        if (result.startsWith('script ')) expect(result).toMatch(/^script \/(?:[^.][^/]*\/)*[^/]+\.php$/)
      },
    ),
    { numRuns: 3000 },
  )
})
