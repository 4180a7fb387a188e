import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNativePhp, type NativePhp } from '../src/hosting/php/native/machine.ts'
import { proportionalBytesOf } from '../src/hosting/php/native/memory.ts'
import { iniText, nativeIni } from '../src/hosting/php/native/settings.ts'
import { phpVersions } from '../src/hosting/php/runtime.ts'
import { testCore } from '../test/support/core.ts'
import { freePort, type Stead, startStead } from '../test/support/stead.ts'
import { requestsPerSecond } from './support/load.ts'
import { median, type Section } from './support/report.ts'
import { type BenchServer, cpuOf, startProgram } from './support/servers.ts'

const SECONDS = 10
const STARTS = 4
const NAME = 'bench-native'

interface Served {
  readonly port: number
  cpuMicroseconds(): number
}

interface Pages {
  readonly perSecond: number
  readonly cpuMs: number
}

/** Native PHP beside what people would run in its place: nginx and php-fpm with the same WordPress, theme, database and settings of PHP. */
export async function nativeBench(): Promise<Section> {
  const { php, version } = await findPhp()
  const native = await steadWith('native', version)
  let plain: BenchServer | undefined
  try {
    plain = await startPlain(native, php)
    const ours = await pagesOf(native)
    const theirs = await pagesOf({ ...native, ...plain })
    const [memory, started] = [await memoryOf(native.stead), await startOf(native.stead)]
    await native.stead.remove()
    const wasm = await steadWith('wasm', version)
    const embedded = await pagesOf(wasm)
    const wasmMemory = await memoryOf(wasm.stead)
    const wasmStarted = await startOf(wasm.stead)
    await wasm.stead.remove()
    const row = (what: string, connections: 'one' | 'many') => [
      {
        what: `${what}, pages a second (php-wasm ${embedded[connections].perSecond.toFixed(1)})`,
        value: ours[connections].perSecond.toFixed(1),
        yardstick: theirs[connections].perSecond.toFixed(1),
        ratio: (ours[connections].perSecond / theirs[connections].perSecond).toFixed(2),
        aim: '≥ 0.95',
      },
      {
        what: `${what}, processor time of all processes a page (php-wasm ${embedded[connections].cpuMs.toFixed(0)} ms)`,
        value: `${ours[connections].cpuMs.toFixed(1)} ms`,
        yardstick: `${theirs[connections].cpuMs.toFixed(1)} ms`,
        ratio: (ours[connections].cpuMs / theirs[connections].cpuMs).toFixed(2),
        aim: '≤ 1.05',
      },
    ]
    return {
      title: 'Native PHP',
      how: `Uncached front pages of a fresh site on SQLite with PHP ${version}, ${SECONDS} s each, through edge and host; php-wasm in brackets. Yardstick: nginx and php-fpm with four children, the same files and PHP settings. A start: a site whose PHP does not run, to the last byte of its front page less the same page right after, median of ${STARTS}. Memory is Pss.`,
      figures: [
        ...row('one at a time', 'one'),
        ...row('16 at once', 'many'),
        {
          what: `start of a stopped site (php-wasm ${wasmStarted.toFixed(0)} ms)`,
          value: `${started.toFixed(0)} ms`,
          aim: '< 60 ms',
        },
        {
          what: `an active site (php-wasm ${wasmMemory.active.toFixed(0)} MB)`,
          value: `${memory.active.toFixed(0)} MB`,
        },
        {
          what: `a site that had visitors 15 s ago (php-wasm ${wasmMemory.idle.toFixed(0)} MB)`,
          value: `${memory.idle.toFixed(0)} MB`,
        },
      ],
    }
  } finally {
    await plain?.stop()
    await native.stead.remove()
  }
}

async function findPhp() {
  for (const version of phpVersions) {
    const php = await findNativePhp(version)
    if (!('missing' in php)) return { php, version }
  }
  throw new Error('this machine has no PHP')
}

async function steadWith(runtime: 'native' | 'wasm', phpVersion: string) {
  const env = {
    STEAD_RUNTIME: runtime,
    STEAD_SPARE_SITES: '0',
    STEAD_PREPARED_SITES: '0',
    STEAD_PHP_IDLE_SECONDS: '3600',
  }
  const stead = await startStead({ env })
  await stead.createSite({ name: NAME, php_version: phpVersion })
  await stead.visit(NAME, '/')
  const host = `${NAME}.localhost:${stead.edgePort}`
  const cpuMicroseconds = () => cpuOf(stead.role('supervisor')?.pid as number)
  return { stead, host, port: stead.edgePort, cpuMicroseconds }
}

type Running = Served & { readonly stead: Stead; readonly host: string }

async function pagesOf(served: Served & { readonly host: string }): Promise<{ one: Pages; many: Pages }> {
  await load(served, { seconds: 4, connections: 4 })
  return {
    one: await load(served, { seconds: SECONDS, connections: 1 }),
    many: await load(served, { seconds: SECONDS, connections: 16 }),
  }
}

async function load(
  served: Served & { readonly host: string },
  how: { seconds: number; connections: number },
): Promise<Pages> {
  const { port, host } = served
  const script = [
    `wrk.headers["Host"] = "${host}"`,
    `local n, prefix = 0, "${Date.now().toString(36)}"`,
    'request = function() n = n + 1 return wrk.format("GET", "/?bench=" .. prefix .. n) end',
  ].join('\n')
  const before = served.cpuMicroseconds()
  const perSecond = await requestsPerSecond({ url: `http://127.0.0.1:${port}`, script, ...how })
  return { perSecond, cpuMs: (served.cpuMicroseconds() - before) / 1000 / (perSecond * how.seconds) }
}

async function memoryOf(stead: Stead): Promise<{ active: number; idle: number }> {
  await Promise.all([1, 2, 3, 4].map((n) => stead.visit(NAME, `/?memory=${n}`)))
  const now = async () => {
    // the outermost comes first, and counts with all below it
    const php = stead.processes().find(({ words }) => words[0] === 'bwrap' || words.at(-1)?.endsWith('/child/main.js'))
    return (await proportionalBytesOf(php?.pid as number)) / 2 ** 20
  }
  const active = await now()
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  return { active, idle: await now() }
}

/** Its PHP is ended from outside: the next visitor waits for a new one. */
async function startOf(stead: Stead): Promise<number> {
  const timed = async (path: string) => {
    const began = performance.now()
    await stead.visit(NAME, path)
    return performance.now() - began
  }
  const more: number[] = []
  for (let n = 0; n < STARTS; n++) {
    await stead.restart()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const cold = await timed('/wp-includes/images/blank.gif').then(() => timed(`/readme-php.php?cold=${n}`))
    more.push(cold - (await timed(`/readme-php.php?warm=${n}`)))
  }
  return median(more)
}

/** The site as it would lie on any server: one folder, with nothing of Stead in it. */
async function startPlain({ stead, host }: Running, php: NativePhp): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-plain-'))
  await chmod(folder, 0o755)
  const home = stead.homeOf(NAME)
  await writeFile(join(home, 'web/readme-php.php'), "<?php echo 'ready';")
  const web = join(folder, 'web')
  execFileSync('cp', ['-rL', (await testCore()) as string, web])
  execFileSync('cp', ['-a', `${home}/web/.`, web])
  execFileSync('cp', ['-a', join(home, 'private/database'), join(folder, 'database')])
  const config = join(web, 'wp-config.php')
  await writeFile(config, (await readFile(config, 'utf8')).replaceAll('/private/database/', `${folder}/database/`))
  execFileSync('chown', ['-R', 'www-data:', folder])
  const ini = Object.entries(nativeIni({ memoryLimitMb: 256, uploadMaxMb: 128 })).filter(([name]) =>
    /^(opcache|memory_limit|realpath)/.test(name),
  )
  await writeFile(join(folder, 'php.ini'), iniText(php, Object.fromEntries(ini)))
  const pool = [
    '[global]',
    'daemonize = no',
    `error_log = ${folder}/fpm.log`,
    '[site]',
    'user = www-data',
    `listen = ${folder}/fpm`,
    'listen.owner = www-data',
  ]
  await writeFile(join(folder, 'fpm.conf'), [...pool, 'pm = static', 'pm.max_children = 4', ''].join('\n'))
  const port = await freePort()
  await writeFile(join(folder, 'nginx.conf'), nginxConfig(folder, port))
  const line = `"$1" -F -c ${folder}/php.ini -y ${folder}/fpm.conf & while ! test -S ${folder}/fpm; do sleep 0.05; done; nginx -c ${folder}/nginx.conf -g 'daemon off;' -e ${folder}/error.log & trap 'kill $(jobs -p)' TERM; wait; wait`
  const server = await startProgram('sh', () => ['-c', line, 'sh', php.fpm], port)
  if (!existsSync(web) || !host) throw new Error('nothing to compare with')
  return {
    ...server,
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const nginxConfig = (folder: string, port: number) => `
user www-data; worker_processes 1; pid ${folder}/pid;
events { worker_connections 1024; }
http {
  access_log off; gzip on; gzip_types text/css; keepalive_requests 1000000;
  client_body_temp_path ${folder}/body; fastcgi_temp_path ${folder}/fastcgi; proxy_temp_path ${folder}/proxy;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port}; root ${folder}/web; index index.php;
    location / { try_files $uri $uri/ /index.php?$args; }
    location ~ \\.php$ { include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_pass unix:${folder}/fpm; }
  }
}
`
