/**
 * Compares Stead's answers with those of Debian's Apache, with the same `.htaccess` files. Needs `apache2-bin`.
 * `TEST_APACHE` names its folder if it is unpacked.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Htaccess } from '../src/hosting/htaccess/htaccess.ts'
import { HeldAnswers } from '../src/hosting/web-server/held-answers.ts'
import { ask, KEY, ok, testBudgets } from '../src/hosting/web-server/test-support.ts'
import { createWebServer } from '../src/hosting/web-server/web-server.ts'

const apacheRoot = process.env.TEST_APACHE ?? '/'
const apache = join(apacheRoot, 'usr/sbin/apache2')
const modules = join(apacheRoot, 'usr/lib/apache2/modules')

const WORDPRESS = `# BEGIN WordPress
<IfModule mod_rewrite.c>
RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
</IfModule>
# END WordPress
`
const ON = 'RewriteEngine On\n'
const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`
const AUTH = 'AuthType Basic\nAuthName "Members only"\nAuthUserFile {root}/.htpasswd\n'

/** Each contains its own path. */
const FILES = [
  'index.php', 'a.txt', 'b.html', 'note.xyz', 'other.php', 'sub/x.txt', 'sub/index.html', 'sub/y.php', 'deep/er/z.css', 'img/p.jpg', 'img/p.webp', 'img/q.jpg',
  'nolist/n.txt', 'home/start.html', 'gone.html', 'a b.txt',
] // biome-ignore format: a list
const PASSWORDS = [
  'sha:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
  'apr:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/',
  'bcrypt:$2y$05$h4DS/K3fDkaJTSg64lXj1u7dxfTS/1Wl4H55Dnhf3.dystn.0E40C',
].join('\n')

/** Rules of the web root, or of several folders; the requests, with headers; headers that must be the same. */
type Row = readonly [rules: string | Record<string, string>, asked: string, headers?: readonly string[]]

const rows: readonly Row[] = [
  // Access.
  ['Require all denied', 'GET /a.txt'],
  ['Require all granted', 'GET /a.txt'],
  ['Order allow,deny\nDeny from all', 'GET /a.txt'],
  ['Order deny,allow\nDeny from all\nAllow from 127.0.0.1', 'GET /a.txt'],
  ['Order allow,deny\nAllow from all\nDeny from 127', 'GET /a.txt'],
  ['Order deny,allow\nDeny from 10.0.0.0/8', 'GET /a.txt'],
  ['deny from all', 'GET /sub/x.txt'],
  [{ sub: 'deny from all' }, 'GET /a.txt'],
  [{ '': 'Require all denied', sub: 'Require all granted' }, 'GET /sub/x.txt'],
  [{ '': 'Require all granted', deep: 'Require all denied' }, 'GET /deep/er/z.css'],
  ['<Files a.txt>\nRequire all denied\n</Files>', 'GET /a.txt'],
  ['<Files a.txt>\nRequire all denied\n</Files>', 'GET /b.html'],
  ['<Files "*.css">\nDeny from all\n</Files>', 'GET /deep/er/z.css'],
  ['<FilesMatch "\\.(txt|css)$">\nOrder allow,deny\nDeny from all\n</FilesMatch>', 'GET /sub/x.txt'],
  ['<FilesMatch "^(?!a).*\\.txt$">\nRequire all denied\n</FilesMatch>', 'GET /a.txt'],
  ['<FilesMatch "^(?!a).*\\.txt$">\nRequire all denied\n</FilesMatch>', 'GET /nolist/n.txt'],
  [`${WORDPRESS}<Files index.php>\nRequire all denied\n</Files>`, 'GET /some/page/'],
  [`${WORDPRESS}<Files some>\nRequire all denied\n</Files>`, 'GET /some/page/'],
  ['<IfModule mod_authz_core.c>\nRequire all denied\n</IfModule>\n<IfModule !mod_authz_core.c>\nDeny from all\n</IfModule>', 'GET /a.txt'],
  ['<IfModule !mod_authz_core.c>\nDeny from all\n</IfModule>', 'GET /a.txt'],
  ['<IfModule mod_nothing.c>\nRequire all denied\n</IfModule>', 'GET /a.txt'],
  ['<IfVersion < 2.4>\nDeny from all\n</IfVersion>', 'GET /a.txt'],
  ['<IfVersion >= 2.4>\nRequire all denied\n</IfVersion>', 'GET /a.txt'],
  ['<Limit POST>\nRequire all denied\n</Limit>', 'GET /a.txt'],
  ['<Limit GET POST>\nOrder deny,allow\nDeny from all\n</Limit>', 'HEAD /a.txt'],
  ['<LimitExcept GET>\nRequire all denied\n</LimitExcept>', 'GET /a.txt'],
  ['<LimitExcept POST>\nDeny from all\n</LimitExcept>', 'GET /a.txt'],
  ['<RequireAll>\nRequire all granted\nRequire not ip 127.0.0.1\n</RequireAll>', 'GET /a.txt'],
  ['<RequireAny>\nRequire ip 10.1.2.3\nRequire ip 127.0.0.0/8\n</RequireAny>', 'GET /a.txt'],
  ['<RequireAll>\nRequire all granted\n<RequireNone>\nRequire ip 127.0.0.1\n</RequireNone>\n</RequireAll>', 'GET /a.txt'],
  ['Require ip 127.0.0.1\nRequire all denied', 'GET /a.txt'],
  ['Require method POST', 'GET /a.txt'],
  ['SetEnvIfNoCase User-Agent "BadBot" bad\nOrder allow,deny\nAllow from all\nDeny from env=bad', 'GET /a.txt\nUser-Agent: a badbot/1'],
  ['SetEnvIfNoCase User-Agent "BadBot" bad\nOrder allow,deny\nAllow from all\nDeny from env=bad', 'GET /a.txt\nUser-Agent: good'],
  ['SetEnvIf Referer "^http://friend\\.test/" ok\n<RequireAny>\nRequire env ok\n</RequireAny>', 'GET /img/p.jpg\nReferer: http://friend.test/x'],
  ['SetEnvIf Referer "^http://friend\\.test/" ok\nRequire env ok', 'GET /img/p.jpg'],
  // Passwords.
  [`${AUTH}Require valid-user`, 'GET /a.txt', ['www-authenticate']],
  [`${AUTH}Require valid-user`, `GET /a.txt\n${basic('sha:secret')}`],
  [`${AUTH}Require valid-user`, `GET /a.txt\n${basic('apr:secret')}`],
  [`${AUTH}Require valid-user`, `GET /a.txt\n${basic('bcrypt:secret')}`],
  [`${AUTH}Require valid-user`, `GET /a.txt\n${basic('bcrypt:wrong')}`],
  [`${AUTH}Require user sha`, `GET /a.txt\n${basic('apr:secret')}`],
  [`${AUTH}<Files a.txt>\nRequire valid-user\n</Files>`, 'GET /b.html'],
  [`${AUTH}Require valid-user\nOrder allow,deny\nAllow from 127.0.0.1\nSatisfy Any`, 'GET /a.txt'],
  [`${AUTH}Require valid-user\nOrder deny,allow\nDeny from all\nSatisfy Any`, 'GET /a.txt', ['www-authenticate']],
  // Redirects of mod_alias.
  ['Redirect /old /b.html', 'GET /old', ['location']],
  ['Redirect 301 /old http://new.test/place', 'GET /old/a/b?x=1', ['location']],
  [`Redirect permanent /old /b.html\n${WORDPRESS}`, 'GET /older', ['location']],
  ['Redirect gone /gone.html', 'GET /gone.html'],
  ['RedirectPermanent /a.txt https://other.test/', 'GET /a.txt', ['location']],
  ['RedirectMatch 302 ^/(\\w+)\\.xml$ /feed/$1/', 'GET /rss.xml?p=2', ['location']],
  ['RedirectMatch 404 /\\.?note', 'GET /note.xyz'],
  ['Redirect 307 /old/ http://new.test/', 'GET /old/%C3%BC%20x', ['location']],
  // mod_rewrite.
  [`${ON}RewriteRule ^a\\.txt$ - [F]`, 'GET /a.txt'],
  [`${ON}RewriteRule ^gone - [G]`, 'GET /gone.html'],
  [`${ON}RewriteRule ^old/(.*)$ /new/$1 [R=301,L]`, 'GET /old/a%20b?x=1', ['location']],
  [`${ON}RewriteRule ^old$ /new?y=2 [R,QSA]`, 'GET /old?x=1', ['location']],
  [`${ON}RewriteRule ^old$ /new? [R=302,L]`, 'GET /old?x=1', ['location']],
  [`${ON}RewriteRule ^old$ /new#part [R=302,NE,L]`, 'GET /old', ['location']],
  [`${ON}RewriteRule ^old$ /new#part [R=302,L]`, 'GET /old', ['location']],
  [`${ON}RewriteRule ^OLD$ https://other.test/%{QUERY_STRING} [NC,R=308]`, 'GET /old?q', ['location']],
  [`${ON}RewriteBase /\nRewriteRule ^old$ b.html [R=301]`, 'GET /old', ['location']],
  [`${ON}RewriteRule ^c\\.txt$ a.txt [L]`, 'GET /c.txt'],
  [`${ON}RewriteRule ^c\\.txt$ /sub/x.txt [END]`, 'GET /c.txt'],
  [`${ON}RewriteRule ^c$ d\nRewriteRule ^d$ a.txt`, 'GET /c'],
  [`${ON}RewriteRule ^a\\.txt$ b.html [L]\nRewriteRule ^b\\.html$ sub/x.txt [L]`, 'GET /a.txt'],
  [`${ON}RewriteRule ^a\\.txt$ b.html [END]\nRewriteRule ^b\\.html$ sub/x.txt [L]`, 'GET /a.txt'],
  [`${ON}RewriteCond %{HTTP_USER_AGENT} (evil|bad)bot [NC]\nRewriteRule .* - [F,L]`, 'GET /a.txt\nUser-Agent: EvilBot'],
  [`${ON}RewriteCond %{HTTP_REFERER} !^$\nRewriteCond %{HTTP_REFERER} !^https?://(www\\.)?own\\.test [NC]\nRewriteRule \\.(jpe?g|png)$ - [F,NC,L]`, 'GET /img/p.jpg\nReferer: http://thief.test/'],
  [`${ON}RewriteCond %{HTTP_REFERER} !^$\nRewriteCond %{HTTP_REFERER} !^https?://(www\\.)?own\\.test [NC]\nRewriteRule \\.(jpe?g|png)$ - [F,NC,L]`, 'GET /img/p.jpg\nReferer: http://www.own.test/'],
  [`${ON}RewriteCond %{HTTP_ACCEPT} image/webp\nRewriteCond %{DOCUMENT_ROOT}/img/$1.webp -f\nRewriteRule ^img/(.+)\\.jpg$ img/$1.webp [T=image/webp,L]`, 'GET /img/p.jpg\nAccept: image/webp', ['content-type']],
  [`${ON}RewriteCond %{DOCUMENT_ROOT}/img/$1.webp -f\nRewriteRule ^img/(.+)\\.jpg$ img/$1.webp [L]`, 'GET /img/q.jpg'],
  [`${ON}RewriteCond %{QUERY_STRING} (^|&)author=\\d+ [OR]\nRewriteCond %{QUERY_STRING} union.*select [NC]\nRewriteRule ^ - [F]`, 'GET /a.txt?author=1'],
  [`${ON}RewriteCond %{QUERY_STRING} (^|&)author=\\d+ [OR]\nRewriteCond %{QUERY_STRING} union.*select [NC]\nRewriteRule ^ - [F]`, 'GET /a.txt?x=1'],
  [`${ON}RewriteCond %{REQUEST_METHOD} ^(TRACE|DELETE|HEAD)$\nRewriteRule ^ - [F]`, 'HEAD /a.txt'],
  [`${ON}RewriteCond %{REQUEST_URI} ^/sub/(.+)\\.txt$\nRewriteRule ^ /b.html?%1 [R=303,L]`, 'GET /sub/x.txt', ['location']],
  [`${ON}RewriteCond %{HTTP_HOST} ^(.+)\\.test [NC]\nRewriteRule ^(.*)$ http://www.%1.test/$1 [R=301,L]`, 'GET /a.txt', ['location']],
  [`${ON}RewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule ^(.*)$ /index.php?route=$1 [QSA,L]`, 'GET /x/y?z=1'],
  [`${ON}RewriteRule ^a\\.txt$ - [S=1]\nRewriteRule .* - [F]\nRewriteRule ^a - [G]`, 'GET /a.txt'],
  [`${ON}RewriteRule ^b - [C]\nRewriteRule .* - [F]\nRewriteRule ^a - [G]`, 'GET /a.txt'],
  [`${ON}RewriteRule ^a\\.txt$ - [R=404]`, 'GET /a.txt'],
  [`${ON}RewriteRule ^a\\.txt$ b.html\nRewriteRule ^b\\.html$ - [F]`, 'GET /a.txt'],
  [{ '': `${ON}RewriteRule x - [F]`, sub: 'RewriteEngine off' }, 'GET /sub/x.txt'],
  [{ '': `${ON}RewriteRule x - [F]`, sub: `${ON}RewriteRule ^y - [F]` }, 'GET /sub/x.txt'],
  [{ sub: `${ON}RewriteRule ^old$ new [R=301]\nRewriteBase /sub/` }, 'GET /sub/old', ['location']],
  [{ sub: `${ON}RewriteRule ^old$ x.txt [L]` }, 'GET /sub/old'],
  [`${ON}RewriteRule !^(a|b)\\. - [F]`, 'GET /sub/x.txt'],
  [`${ON}RewriteRule ^(.*)\\.htm$ $1.html [R=301]\nRewriteBase /`, 'GET /b.htm', ['location']],
  [`${ON}RewriteRule ^a\\.txt$ b.html [L]\nRedirect /a.txt /sub/`, 'GET /a.txt', ['location']],
  [`${ON}RewriteRule ^old$ /a%20b [R=301]`, 'GET /old', ['location']],
  [`${ON}RewriteCond %{ENV:mark} =1\nRewriteRule ^ - [F]\nSetEnvIf Request_URI a\\.txt mark`, 'GET /a.txt'],
  [WORDPRESS, 'GET /some/page/?x=1'],
  [WORDPRESS, 'GET /a.txt'],
  [WORDPRESS, 'GET /'],
  [`${ON}RewriteRule ^shop/(\\d+)$ /other.php?id=$1 [L]\n${WORDPRESS}`, 'GET /shop/12'],
  [`${WORDPRESS}${ON}RewriteRule ^a\\.txt$ - [F]`, 'GET /a.txt'],
  // Headers and types.
  ['Header set X-One "a b"', 'GET /a.txt', ['x-one']],
  ['Header set Cache-Control "no-store"\nHeader unset ETag', 'GET /a.txt', ['cache-control', 'etag']],
  ['Header set X-One a\nHeader append X-One b\nHeader merge X-One b', 'GET /a.txt', ['x-one']],
  ['Header always set X-Frame-Options DENY\nHeader set X-Two 2\nRequire all denied', 'GET /a.txt', ['x-frame-options', 'x-two']],
  ['Header always set X-One 1\nHeader set X-Two 2\nRedirect /old /new', 'GET /old', ['x-one', 'x-two']],
  ['SetEnvIf Request_URI txt$ text\nHeader set X-Text yes env=text\nHeader set X-None yes env=!text', 'GET /a.txt', ['x-text', 'x-none']],
  ['<FilesMatch "\\.txt$">\nHeader set X-Only "50%%"\n</FilesMatch>', 'GET /a.txt', ['x-only']],
  ['<FilesMatch "\\.css$">\nHeader set X-Only yes\n</FilesMatch>', 'GET /a.txt', ['x-only']],
  ['AddType application/x-thing .xyz', 'GET /note.xyz', ['content-type']],
  ['<Files note.xyz>\nForceType application/octet-stream\n</Files>', 'GET /note.xyz', ['content-type']],
  // Lifetimes of answers.
  ['ExpiresActive On\nExpiresDefault "access plus 1 month 2 days"', 'GET /a.txt', ['cache-control']],
  ['ExpiresActive On\nExpiresByType image/jpeg A600\nExpiresByType text/* "now plus 1 hour"\nExpiresDefault A5', 'GET /img/p.jpg', ['cache-control']],
  ['ExpiresActive On\nExpiresByType text/css "access plus 1 year"\nExpiresByType text/* "now plus 1 hour"', 'GET /deep/er/z.css', ['cache-control']],
  ['ExpiresActive On\nExpiresByType text/* "now plus 1 hour"', 'GET /a.txt', ['cache-control']],
  ['ExpiresActive On\nExpiresDefault "modification plus 0 seconds"', 'GET /a.txt', ['cache-control']],
  [{ '': 'ExpiresActive On\nExpiresDefault A60', sub: 'ExpiresDefault A70' }, 'GET /sub/x.txt', ['cache-control']],
  ['ExpiresActive On\nExpiresDefault A60\nHeader set Cache-Control "max-age=7"', 'GET /a.txt', ['cache-control']],
  ['ExpiresActive On\nExpiresDefault A60', 'HEAD /a.txt', ['cache-control']],
  // Folders and refusals.
  ['Options -Indexes', 'GET /nolist/'],
  ['DirectoryIndex start.html index.php', 'GET /home/'],
  ['DirectoryIndex b.html index.php', 'GET /'],
  ['DirectoryIndex start.html', 'GET /home', ['location']],
  ['ErrorDocument 403 "Not for you"\nRequire all denied', 'GET /a.txt'],
  ['ErrorDocument 403 /b.html\n<Files a.txt>\nRequire all denied\n</Files>', 'GET /a.txt'],
  ['ErrorDocument 410 http://other.test/gone\nRedirect gone /old', 'GET /old', ['location']],
] // biome-ignore format: a table

let base: string
let server: ChildProcess | undefined
let ports: { apache: number; stead: number }
let stead: Server
const docs = () => join(base, 'docs')

const freePort = async () => {
  const socket = createSocketServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  await new Promise((resolve) => socket.close(resolve))
  return port
}

const LOADED =
  'access_compat alias auth_basic authn_core authn_file authz_core authz_host authz_user autoindex dir env expires headers mime mpm_event rewrite setenvif vhost_alias'

async function startApache(port: number): Promise<void> {
  const config = [
    `ServerRoot "${base}"`, `Listen 127.0.0.1:${port}`, `PidFile "${base}/pid"`, `ErrorLog "${base}/error.log"`, 'LogLevel warn', 'ServerName localhost',
    ...LOADED.split(' ').map((name) => `LoadModule ${name}_module "${modules}/mod_${name}.so"`),
    ...(process.getuid?.() === 0 ? ['User nobody', 'Group nogroup'] : []),
    'StartServers 1', 'ServerLimit 1', 'ThreadsPerChild 4', 'ThreadLimit 4', 'MaxRequestWorkers 4', 'MinSpareThreads 1', 'MaxSpareThreads 4',
    'UseCanonicalName Off', `VirtualDocumentRoot "${base}/docs/%1"`, 'DirectoryIndex index.php index.html', `TypesConfig "${base}/types"`,
    `<Directory "${base}/docs">`, 'AllowOverride All', 'Options FollowSymLinks Indexes', 'Require all granted', '</Directory>',
  ] // biome-ignore format: lines
  await writeFile(
    join(base, 'types'),
    'text/plain txt\ntext/html html\ntext/css css\nimage/jpeg jpg\nimage/webp webp\n',
  )
  await writeFile(join(base, 'httpd.conf'), config.join('\n'))
  const lib = join(apacheRoot, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  const env = { ...process.env, ...(apacheRoot !== '/' && { LD_LIBRARY_PATH: lib }) }
  const child = spawn(apache, ['-X', '-f', join(base, 'httpd.conf')], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  server = child
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`Apache ended: ${said}${await readFile(join(base, 'error.log'), 'utf8').catch(() => '')}`)
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false) // biome-ignore format: a line
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function startStead(): Promise<number> {
  const log = { warn() {}, error() {} }
  const budgets = testBudgets()
  const htaccess = new Htaccess({ changed() {}, told() {}, log })
  const answers = new HeldAnswers({ memory: budgets.answerMemory, disk: budgets.answerDisk, folder: base, log })
  stead = createWebServer({
    siteById: async (siteId) => ({
      siteId,
      siteDirectory: join(base, 'homes', `c${siteId}`),
      corePath: join(base, 'core'),
      phpVersion: '8.3',
      uid: null,
      address: `c${siteId}.test`,
      state: 'live',
    }),
    // Like Apache without PHP: the file itself, which contains its path.
    php: { wake() {}, isAwake: () => true, handle: async (_site, { script }) => ok(script.replace('/wordpress/', '')) },
    answers,
    firstPages: { take: async () => undefined },
    hostKey: KEY,
    log,
    httpsPort: 443,
    mostBodyBytes: 1 << 20,
    htaccess,
  })
  stead.listen(0, '127.0.0.1')
  await once(stead, 'listening')
  return (stead.address() as AddressInfo).port
}

/** Both get the same site, in different folders. */
async function lay(number: number, rules: Row[0]): Promise<void> {
  const siteDirectories = [
    { folder: join(docs(), `c${number}`), root: join(docs(), `c${number}`) },
    { folder: join(base, 'homes', `c${number}`, 'web'), root: '/wordpress' },
  ]
  for (const { folder, root } of siteDirectories) {
    for (const file of FILES) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), file)
    }
    await writeFile(join(folder, '.htpasswd'), PASSWORDS)
    for (const [at, text] of Object.entries(typeof rules === 'string' ? { '': rules } : rules))
      await writeFile(join(folder, at, '.htaccess'), text.replaceAll('{root}', root))
  }
}

describe.skipIf(!existsSync(apache))(`beside ${apache}`, () => {
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'stead-apache-'))
    await chmod(base, 0o755)
    await mkdir(join(docs(), '127'), { recursive: true })
    await mkdir(join(base, 'core'))
    await Promise.all(rows.map(([rules], number) => lay(number, rules)))
    const port = await freePort()
    await startApache(port)
    ports = { apache: port, stead: await startStead() }
  })

  afterAll(async () => {
    stead?.closeAllConnections()
    stead?.close()
    if (server && server.exitCode === null) {
      server.kill()
      await once(server, 'exit')
    }
    await rm(base, { recursive: true, force: true })
  })

  test.each(rows.map((row, number) => [row[1].split('\n')[0], JSON.stringify(row[0]), number, row] as const))(
    '%s by %s',
    async (_asked, _rules, number, [, asked, names = []]) => {
      const [line = '', ...lines] = asked.split('\n')
      const [method = '', path = ''] = line.split(' ')
      const headers: Record<string, string> = { host: `c${number}.test`, 'x-stead-site': String(number) }
      for (const each of lines) {
        const at = each.indexOf(':')
        headers[each.slice(0, at).toLowerCase()] = each.slice(at + 1).trim()
      }
      Object.assign(headers, { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
      const seen = async (port: number) => {
        const { status, text, headers: said } = await ask(port, path, { method, headers })
        const isPlain = status >= 300 && !text.startsWith('Not for') && text !== 'b.html'
        // Stead adds the charset to some types.
        const named = names.map((name) => [name, name === 'content-type' ? said[name]?.replace(/;.*/, '') : name === 'etag' ? said[name] !== undefined : name === 'location' ? said[name]?.replace(/%../g, (hex) => hex.toUpperCase()) : said[name]]) // biome-ignore format: a choice
        return { status, text: isPlain ? '' : text, ...Object.fromEntries(named) }
      }
      expect(await seen(ports.stead)).toEqual(await seen(ports.apache))
    },
  )
})

test.runIf(!existsSync(apache))('SKIPPED: the comparison with Apache needs the package apache2-bin', () => {
  expect(createServer).toBeTypeOf('function')
})
