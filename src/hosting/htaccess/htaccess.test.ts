import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { VisitorRequest } from '../php/pool/pool.ts'
import { ask, createTestSite, ok, type TestSite } from '../web-server/test-support.ts'
import { withExpiry } from './expires.ts'
import type { FolderLimits } from './folders.ts'
import { Htaccess } from './htaccess.ts'
import { parseHtaccess } from './parse-htaccess.ts'

let site: TestSite
let htaccess: Htaccess
let changed: number[]
let told: string[]
let asked: VisitorRequest[]

beforeEach(async () => {
  site = await createTestSite()
  changed = []
  told = []
  asked = []
  open()
})
afterEach(() => site.remove())

function open(limits: Partial<FolderLimits> = {}, memory?: string): void {
  htaccess = new Htaccess({
    changed: (siteId) => changed.push(siteId),
    told: (_siteId, file, line, what) => told.push(`${file}:${line} ${what}`),
    log: { warn() {} },
    limits: { checkEveryMs: 0, ...limits },
    ...(memory !== undefined && { memory }),
  })
}

async function write(path: string, text: string): Promise<void> {
  const file = join(site.folder, 'home/web', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

const start = (headers: string[] = [], more = {}) =>
  site.start(
    (request) => {
      asked.push(request)
      return ok(request.script, headers)
    },
    undefined,
    undefined,
    more,
    undefined,
    undefined,
    htaccess,
  )

const statusOf = async (port: number, path: string, headers: Record<string, string> = {}) =>
  (await ask(port, path, { headers })).status

describe('folder protection', () => {
  test('closes a folder and the files below it at once, and keeps others open', async () => {
    await write('wp-content/uploads/shut/deep/a.txt', 'a')
    const port = await start()
    expect(await statusOf(port, '/wp-content/uploads/shut/deep/a.txt')).toBe(200)
    await write('wp-content/uploads/shut/.htaccess', 'deny from all')
    expect(await statusOf(port, '/wp-content/uploads/shut/deep/a.txt')).toBe(403)
    expect(await statusOf(port, '/wp-content/uploads/shut/none.txt')).toBe(403)
    expect(await statusOf(port, '/wp-content/uploads/shut/deep/a.txt', { range: 'bytes=0-0' })).toBe(403)
    expect(await statusOf(port, '/wp-content/uploads/shut/deep/a.txt', { 'if-none-match': '*' })).toBe(403)
    expect(await statusOf(port, '/style.css')).toBe(200)
    expect(changed).toEqual([7])
  })

  test('also works behind a site name of a network', async () => {
    await write('wp-content/uploads/shut/a.txt', 'a')
    await write('wp-content/uploads/shut/.htaccess', 'Require all denied')
    const port = await start([], { hasMultisite: true })
    expect(await statusOf(port, '/second/wp-content/uploads/shut/a.txt')).toBe(403)
    expect(await statusOf(port, '/second/page/')).toBe(200)
  })

  // biome-ignore format: a table
  test.each([
    ['Deny from all\nFrobnicate on', 'frobnicate: not supported'],
    ['Require foo bar', 'require foo bar: no visitor meets it'],
    ['<RequireAll>\nRequire all granted\nRequire not foo\n</RequireAll>', 'require not foo: no visitor meets it'],
    ['Order nonsense', 'order: an order that does not exist'],
    ['AuthType Digest\nRequire valid-user', 'authtype: only Basic is supported'],
    ['<Files a.txt>\nRequire all granted', '<files> is never closed'],
    ['</Files>', '</files> without its begin'],
    ['<If "true">\nRequire all denied\n</If>', '<if> is not supported'],
    ['<FilesMatch "(?<=a)b">\nRequire all denied\n</FilesMatch>', '<filesmatch>: a kind of parenthesis that is not supported'],
    ['RewriteEngine On\nRewriteCond expr "x"\nRewriteRule ^ - [F]', 'rewritecond: expressions are not supported'],
    ['Require ip 10.0.0.0/8\nRequire expr x', 'require expr x: no visitor meets it'],
    [`#${'x'.repeat(256 << 10)}`, 'it is larger than 262144 bytes'],
  ])('closes a folder whose rules are not understood, and reports them: %#', async (rules, what) => {
    await write('shut/a.txt', 'a')
    await write('shut/.htaccess', rules)
    const port = await start()
    expect(await statusOf(port, '/shut/a.txt')).toBe(403)
    expect(told.join('\n')).toContain(what)
    expect(told[0]).toMatch(/^shut\/\.htaccess:\d+ /)
  })

  test.each([
    'Frobnicate on',
    'Order allow,deny\nAllow from all\nDeny from 10.0.0.1\nFrobnicate on',
    '<If "x">\nHeader set X y\n</If>',
    'RewriteEngine On\nRewriteRule (?<=a)b /c',
  ])('only reports rules that are not understood in an open folder: %#', async (rules) => {
    await write('open/a.txt', 'a')
    await write('open/.htaccess', rules)
    const port = await start()
    expect(await statusOf(port, '/open/a.txt')).toBe(200)
    expect(told.length).toBeGreaterThan(0)
  })

  // biome-ignore format: a table
  test.each([
    ['a script says so itself', ['Cache-Control', 'max-age=5'], { 'cache-control': 'max-age=5' }],
    ['a script has a date', ['Expires', 'Thu, 01 Jan 1970 00:00:00 GMT'], { expires: 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['nobody may keep it', ['Cache-Control', 'no-store'], { 'cache-control': 'no-store' }],
    ['for one visitor', ['Cache-Control', 'private'], { 'cache-control': 'private' }],
    ['a script says something else', ['Cache-Control', 'no-transform'], { 'cache-control': 'no-transform, max-age=60', expires: 'Thu, 01 Jan 1970 00:01:00 GMT' }],
    ['a script says nothing', [], { 'cache-control': 'max-age=60', expires: 'Thu, 01 Jan 1970 00:01:00 GMT' }],
    ['a file', ['X-Stead-Renderer', 'static', 'Cache-Control', 'public, max-age=9'], { 'x-stead-renderer': 'static', 'cache-control': 'max-age=60', expires: 'Thu, 01 Jan 1970 00:01:00 GMT' }],
  ])('applies ExpiresDefault if %s', (_what, raw, wanted) => {
    const { folder } = parseHtaccess('ExpiresActive On\nExpiresDefault "access plus 1 minute"', false)
    const answered = withExpiry(raw, [folder], { now: 0, type: undefined })
    const pairs = answered.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), answered[at + 1]]] : []))
    expect(Object.fromEntries(pairs)).toEqual(wanted)
  })

  test('never applies Expires to an error, and keeps the type’s lifetime for an unchanged file', async () => {
    await write('lasting/a.css', 'a')
    await write('lasting/.htaccess', 'ExpiresActive On\nExpiresDefault A60\nExpiresByType text/css A70')
    const port = await start()
    const first = await ask(port, '/lasting/a.css')
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'max-age=70'])
    const again = await ask(port, '/lasting/a.css', {
      headers: { 'if-none-match': String(first.headers.etag) },
    })
    expect([again.status, again.headers['cache-control']]).toEqual([304, 'max-age=70'])
    const missing = await ask(port, '/lasting/a.css', { headers: { range: 'bytes=900-' } })
    expect(missing.headers['cache-control'] ?? '').not.toContain('max-age=70')
  })

  test.each(['ExpiresActive maybe', 'ExpiresDefault never', 'ExpiresByType text/css "access plus 1 moon"'])(
    'reports %s, and closes nothing',
    async (rules) => {
      await write('late/a.css', 'a')
      await write('late/.htaccess', rules)
      expect(await statusOf(await start(), '/late/a.css')).toBe(200)
      expect(told[0]).toMatch(/^late\/\.htaccess:1 expires/)
    },
  )

  test('closes a folder whose .htaccess is a link or a folder', async () => {
    await write('link/a.txt', 'a')
    await symlink('/dev/null', join(site.folder, 'home/web/link/.htaccess'))
    await write('folder/a.txt', 'a')
    await mkdir(join(site.folder, 'home/web/folder/.htaccess'))
    const port = await start()
    expect(await statusOf(port, '/link/a.txt')).toBe(403)
    expect(await statusOf(port, '/folder/a.txt')).toBe(403)
  })

  test('runs no scripts where PHP is turned off', async () => {
    await write('files/x.php', '<?php')
    await write('files/.htaccess', 'php_flag engine off')
    const port = await start()
    expect(await statusOf(port, '/files/x.php')).toBe(403)
    await write('files/.htaccess', 'RemoveHandler .php .phtml')
    expect(await statusOf(port, '/files/x.php')).toBe(403)
    expect(asked).toEqual([])
  })

  test('checks names and passwords from a file of the site', async () => {
    await write('members/a.txt', 'a')
    await write('.htpasswd', 'me:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n')
    const rules = (file: string) =>
      write('members/.htaccess', `AuthType Basic\nAuthName "a \\"b"\nAuthUserFile ${file}\nRequire valid-user`)
    const port = await start()
    const me = { authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` }
    for (const file of ['/wordpress/.htpasswd', '.htpasswd']) {
      await rules(file)
      expect(await statusOf(port, '/members/a.txt', me)).toBe(200)
      const reply = await ask(port, '/members/a.txt')
      expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, 'Basic realm="a \\"b"'])
    }
    for (const file of ['/etc/passwd', '/wordpress/../../outside', '/private/none', '../x']) {
      await rules(file)
      expect(await statusOf(port, '/members/a.txt', me)).toBe(401)
    }
    expect(told.join()).toContain('there is no such file')
  })
})

describe('edge caching', () => {
  test('varies by the headers that rules check, and is private when they check the address', async () => {
    const port = await start(['Vary', 'Origin'])
    await write('.htaccess', 'RewriteEngine On\nRewriteCond %{HTTP_USER_AGENT} badbot\nRewriteRule ^ - [F]')
    const page = await ask(port, '/page/')
    expect([page.status, page.headers.vary]).toEqual([200, 'Origin, user-agent'])
    expect((await ask(port, '/style.css')).headers.vary).toBe('user-agent')
    expect((await ask(port, '/style.css', { headers: { 'user-agent': 'a badbot' } })).status).toBe(403)
    await write('.htaccess', 'Order allow,deny\nAllow from all\nDeny from 192.0.2.9')
    expect((await ask(port, '/style.css')).headers['x-stead-cache']).toBe('private')
    expect((await ask(port, '/page/')).headers['x-stead-cache']).toBe('private')
    await write('.htaccess', '')
    const plain = (await ask(port, '/style.css')).headers
    expect([plain.vary, plain['x-stead-cache']]).toEqual([undefined, undefined])
  })

  test('is off for an answer from a file at another address, which purges would not find', async () => {
    await write('cache/page.html', 'page')
    await write('.htaccess', 'RewriteEngine On\nRewriteRule ^page/$ cache/page.html [L]')
    const reply = await ask(await start(), '/page/')
    expect([reply.text, reply.headers['x-stead-cache']]).toEqual(['page', 'private'])
  })

  test('is purged after a change without a visit, even for a folder that was requested before the host started', async () => {
    const memory = join(site.folder, 'folders')
    open({}, memory)
    await write('a/b/c.txt', 'c')
    await statusOf(await start(), '/a/b/c.txt')
    htaccess.folders.look()
    expect(changed).toEqual([])
    await write('a/.htaccess', 'Require all denied')
    htaccess.folders.look()
    htaccess.folders.look()
    expect(changed).toEqual([7])
    // The host dies, and starts again.
    open({}, memory)
    htaccess.folders.look()
    expect(changed).toEqual([7])
    await rm(join(site.folder, 'home/web/a/.htaccess'))
    open({}, memory)
    htaccess.folders.look()
    expect(changed).toEqual([7, 7])
  })

  test('is off for folders beyond the watched ones, and each pass checks the next folders', async () => {
    open({ foldersOfSite: 3, foldersOfPass: 1 })
    for (const name of ['a', 'b', 'c']) await write(`${name}/x.txt`, 'x')
    const port = await start()
    const marks = []
    for (const name of ['a', 'b', 'c']) marks.push((await ask(port, `/${name}/x.txt`)).headers['x-stead-cache'])
    expect(marks).toEqual([undefined, undefined, 'private'])
    await write('c/.htaccess', 'deny from all')
    expect(await statusOf(port, '/c/x.txt')).toBe(403)
    await write('b/.htaccess', 'deny from all')
    for (let i = 0; i < 3; i++) htaccess.folders.look()
    expect(changed).toEqual([7])
  })

  test('forgets a deleted site', async () => {
    await statusOf(await start(), '/style.css')
    await rm(join(site.folder, 'home'), { recursive: true })
    htaccess.folders.look()
    htaccess.folders.look()
    expect(changed).toEqual([])
  })
})

describe('WordPress', () => {
  const SINGLE =
    '# BEGIN WordPress\n<IfModule mod_rewrite.c>\nRewriteEngine On\nRewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]\nRewriteBase /\nRewriteRule ^index\\.php$ - [L]\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule . /index.php [L]\n</IfModule>\n# END WordPress\n'
  const NETWORK =
    'RewriteEngine On\nRewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]\nRewriteBase /\nRewriteRule ^index\\.php$ - [L]\n\n# add a trailing slash to /wp-admin\nRewriteRule ^([_0-9a-zA-Z-]+/)?wp-admin$ $1wp-admin/ [R=301,L]\n\nRewriteCond %{REQUEST_FILENAME} -f [OR]\nRewriteCond %{REQUEST_FILENAME} -d\nRewriteRule ^ - [L]\nRewriteRule ^([_0-9a-zA-Z-]+/)?(wp-(content|admin|includes).*) $2 [L]\nRewriteRule ^([_0-9a-zA-Z-]+/)?(.*\\.php)$ $2 [L]\nRewriteRule . index.php [L]\n'

  test.each([
    ['single', SINGLE, {}],
    ['network', NETWORK, { hasMultisite: true }],
    ['light', SINGLE, { hasLight404: true }],
  ])('ignores its own block: %s', async (_name, block, more) => {
    const targets = [
      '/',
      '/page/?a=b',
      '/index.php',
      '/style.css',
      '/none.css',
      '/wp-admin',
      '/wp-admin/',
      '/second/wp-admin/',
      '/second/wp-admin',
      '/second/style.css',
      '/wp-content/uploads/',
      '/none.php',
      '/%ff',
      '/.env',
      '/wp-cron.php',
      '/%zz',
    ]
    const port = await start([], more)
    const answers = async () => {
      asked.length = 0
      const out = []
      for (const target of targets) {
        const { status, headers, text } = await ask(port, target)
        out.push([target, status, text, headers])
      }
      return [out, asked.map(({ path, script, query }) => [path, script, query])]
    }
    const before = await answers()
    await write('.htaccess', block)
    expect(await answers()).toEqual(before)
    expect(told).toEqual([])
  })

  test('passes the first address and the new query to scripts when rules come before its block', async () => {
    await write('.htaccess', `RewriteEngine On\nRewriteRule ^shop/(\\d+)$ /index.php?product=$1 [QSA,L]\n${SINGLE}`)
    const port = await start()
    await ask(port, '/shop/12?x=%201')
    expect(asked.map(({ path, script, query }) => [path, script, query])).toEqual([
      ['/shop/12?x=%201', '/wordpress/index.php', 'product=12&x=%201'],
    ])
  })

  test('blocks rules that lead to hidden files, out of the web root, or break a header', async () => {
    await write('wp-config.php', 'secret')
    await write(
      '.htaccess',
      'RewriteEngine On\nRewriteRule ^a$ /wp-config.php [L]\nRewriteRule ^b$ /../private/x [L]\nRewriteRule ^c/(.*)$ /x$1 [R,NE]\nRewriteRule ^d$ /d?x [L]\nRewriteRule ^e$ /.git/config',
    )
    const port = await start()
    expect(await statusOf(port, '/a')).toBe(404)
    expect(await statusOf(port, '/e')).toBe(404)
    expect(await statusOf(port, '/c/%0d%0aSet-Cookie:x')).toBe(403)
    expect(await statusOf(port, '/b')).toBe(400)
    expect(await statusOf(port, '/d')).toBe(200)
  })
})

describe('a hostile site', () => {
  test('stops rules that lead in a circle', async () => {
    await write('.htaccess', 'RewriteEngine On\nRewriteRule ^(.*)$ x/$1 [L]')
    expect(await statusOf(await start(), '/page')).toBe(500)
    await write('.htaccess', 'RewriteEngine On\nRewriteRule ^(.*)$ x$1 [N]')
    expect(await statusOf(await start(), '/page')).toBe(500)
  })

  test('limits work: asks a request that needs more to retry, and so a site that always does', async () => {
    await write(
      '.htaccess',
      `RewriteEngine On\n${'RewriteCond %{HTTP_USER_AGENT} (((x+)+)+)+y\nRewriteRule ^ - [F]\n'.repeat(500)}`,
    )
    const port = await start()
    const headers = { 'user-agent': 'x'.repeat(8000) }
    for (let i = 0; i < 3; i++) expect(await statusOf(port, '/page', headers)).toBe(503)
  })

  test('sends nothing to the edge, and no header that frames an answer', async () => {
    await write(
      '.htaccess',
      'Header set X-Stead-Purge 9\nHeader set Transfer-Encoding chunked\nHeader set Content-Length 3\nHeader set X-Ok yes',
    )
    const { headers, text } = await ask(await start(), '/style.css')
    expect([
      headers['x-stead-purge'],
      headers['transfer-encoding'],
      headers['content-length'],
      headers['x-ok'],
      text,
    ]).toEqual([undefined, undefined, '6', 'yes', 'body{}'])
  })
})
