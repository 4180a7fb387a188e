import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultFpmLimits, iniText, nativeIni } from '../src/hosting/php/native/fpm-settings.ts'
import { findNativePhp, type NativePhp } from '../src/hosting/php/native/native-php.ts'
import { proportionalBytesOf } from '../src/hosting/php/native/proportional-memory.ts'
import { phpVersions } from '../src/hosting/php/runtime.ts'
import { testCore } from '../test/support/core.ts'
import { freePort, type Stead, startStead } from '../test/support/stead.ts'
import { visit } from '../test/support/visit.ts'
import { memoryOfIdleSites } from './native-idle.ts'
import { requestsPerSecond } from './support/load.ts'
import { median, type Section } from './support/report.ts'
import { type BenchServer, cpuOf, startProgram } from './support/servers.ts'

const SECONDS = 5
const ROUNDS = 2
const STARTS = 5
const IDLE_SITES = 100
const NAME = 'bench-native'

interface Served {
  readonly port: number
  cpuMicroseconds(): number
}

interface Pages {
  readonly perSecond: number
  readonly cpuMs: number
}

/**
 * Native PHP beside a conventional setup: nginx and php-fpm with the same WordPress, theme, database and settings of
 * PHP.
 */
export async function nativeBench(): Promise<Section> {
  const { php, version } = await findPhp()
  const native = await steadWith({ STEAD_RUNTIME: 'native', STEAD_MARIADB: 'own' }, version)
  let plain: BenchServer | undefined
  try {
    plain = await startPlain(native, php)
    const [ours, theirs] = await inTurns(native, { ...native, ...plain })
    const server = (await proportionalBytesOf(serverOf(native.stead))) / 2 ** 20
    const [memory, started] = [await memoryOf(native.stead), await startOf(native.stead)]
    await native.stead.remove()
    const idle = await memoryOfIdleSites(IDLE_SITES, version)
    const wasm = await steadWith({ STEAD_RUNTIME: 'wasm' }, version)
    const [embedded] = await inTurns(wasm)
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
      how: `Uncached front pages of a fresh site on MariaDB with PHP ${version}, through edge and host, ${ROUNDS} times ${SECONDS} s each, in turns with the reference. Numbers of php-wasm with SQLite are in parentheses. The reference is nginx and php-fpm with four children and the same files, database, server, and PHP settings. A start is the time to the last byte of a script on a site whose PHP is stopped, minus the time of the same request right after, median of ${STARTS}. Memory is Pss, without the server’s.`,
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
        { what: `${IDLE_SITES} such sites together`, value: `${idle.toFixed(0)} MB` },
        { what: "MariaDB's server for all of them, after those pages", value: `${server.toFixed(0)} MB` },
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

async function steadWith(runs: Record<string, string>, phpVersion: string) {
  const env = {
    ...runs,
    STEAD_SPARE_SITES: '0',
    STEAD_PREPARED_SITES: '0',
    STEAD_PHP_IDLE_SECONDS: '3600',
  }
  const stead = await startStead({ env })
  await stead.createSite({ name: NAME, php_version: phpVersion })
  await stead.visit(NAME, '/')
  await writeFile(join(stead.directoryOf(NAME), 'web/readme-php.php'), "<?php echo 'ready';")
  const host = `${NAME}.localhost:${stead.edgePort}`
  const cpuMicroseconds = () => cpuOf(stead.role('supervisor')?.pid as number)
  return { stead, host, port: stead.edgePort, cpuMicroseconds }
}

type Running = Served & { readonly stead: Stead; readonly host: string }

/** Process ID of the database server. */
function serverOf(stead: Stead): number {
  const found = stead.processes().find(({ words }) => words[0]?.endsWith('/mariadbd'))
  if (!found) throw new Error('no server of databases runs')
  return found.pid
}

/** Runs each server in each round, so that other load on the machine affects all of them. */
async function inTurns<Servers extends readonly (Served & { readonly host: string })[]>(
  ...servers: Servers
): Promise<{ [Index in keyof Servers]: { one: Pages; many: Pages } }> {
  for (const each of servers) await load(each, { seconds: 3, connections: 4 })
  const seen = servers.map(() => ({ one: [] as Pages[], many: [] as Pages[] }))
  for (let round = 0; round < ROUNDS; round++)
    for (const [how, connections] of [
      ['one', 1],
      ['many', 16],
    ] as const)
      for (const [index, each] of servers.entries())
        seen[index]?.[how].push(await load(each, { seconds: SECONDS, connections }))
  const mean = (pages: Pages[], value: keyof Pages) => pages.reduce((sum, each) => sum + each[value], 0) / pages.length
  const together = (pages: Pages[]) => ({ perSecond: mean(pages, 'perSecond'), cpuMs: mean(pages, 'cpuMs') })
  return seen.map(({ one, many }) => ({ one: together(one), many: together(many) })) as never
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

const phpOf = (stead: Stead): number => {
  // The outermost comes first, and includes its descendants.
  const php = stead.processes().find(({ words }) => words[0] === 'bwrap' || words.at(-1)?.endsWith('/child/main.js'))
  if (!php) throw new Error('no PHP runs')
  return php.pid
}

async function memoryOf(stead: Stead): Promise<{ active: number; idle: number }> {
  await Promise.all([1, 2, 3, 4].map((n) => stead.visit(NAME, `/?memory=${n}`)))
  const now = async () => (await proportionalBytesOf(phpOf(stead))) / 2 ** 20
  const active = await now()
  await new Promise((resolve) => setTimeout(resolve, (defaultFpmLimits.idleSeconds + 5) * 1000))
  return { active, idle: await now() }
}

/** Its PHP is killed from outside, so the next visitor waits for a new one. */
async function startOf(stead: Stead): Promise<number> {
  const timed = async (path: string) => {
    const began = performance.now()
    await stead.visit(NAME, path)
    return performance.now() - began
  }
  const more: number[] = []
  for (let n = 0; n < STARTS; n++) {
    process.kill(phpOf(stead), 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const cold = await timed(`/readme-php.php?cold=${n}`)
    more.push(cold - (await timed(`/readme-php.php?warm=${n}`)))
  }
  return median(more)
}

/** The site as on any server: one folder, with nothing from Stead except the database server. */
async function startPlain({ stead, host }: Running, php: NativePhp): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-plain-'))
  await chmod(folder, 0o755)
  const directory = stead.directoryOf(NAME)
  const web = join(folder, 'web')
  execFileSync('cp', ['-rL', (await testCore()) as string, web])
  execFileSync('cp', ['-a', `${directory}/web/.`, web])
  const config = join(web, 'wp-config.php')
  const socket = join(stead.dataDir, 'mariadb/run/socket')
  await writeFile(config, (await readFile(config, 'utf8')).replace('/run/mariadb/socket', socket))
  execFileSync('chown', ['-R', 'www-data:', folder])
  const ini = Object.entries(nativeIni({ memoryLimitMb: 256, uploadMaxMb: 128 })).filter(([name]) =>
    /^(opcache|memory_limit|output_buffering|realpath)/.test(name),
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
  // It ends with the benchmark, in every case.
  const words = ['--pdeathsig', 'TERM', php.fpm, '-F', '-c', `${folder}/php.ini`, '-y', `${folder}/fpm.conf`]
  const fpm = spawn('setpriv', words, { env: { ...process.env, PHP_INI_SCAN_DIR: '' }, stdio: 'inherit' })
  while (!existsSync(join(folder, 'fpm'))) {
    if (fpm.exitCode !== null) throw new Error('php-fpm does not start')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const port = await freePort()
  await writeFile(join(folder, 'nginx.conf'), nginxConfig(folder, port))
  const nginx = await startProgram(
    'nginx',
    () => ['-c', join(folder, 'nginx.conf'), '-g', 'daemon off;', '-e', join(folder, 'error.log')],
    port,
  )
  const [own, page] = [await stead.visit(NAME), await visit({ host, port, path: '/', headers: { host } })]
  if (page.status !== 200 || Math.abs(page.text.length - own.text.length) > own.text.length / 20)
    throw new Error(`nothing to compare with: ${page.status} ${page.headers.location ?? page.text}`)
  const server = serverOf(stead)
  return {
    port,
    cpuMicroseconds: () => nginx.cpuMicroseconds() + cpuOf(fpm.pid as number) + cpuOf(server),
    async stop() {
      await nginx.stop()
      fpm.kill('SIGTERM')
      if (fpm.exitCode === null) await once(fpm, 'exit')
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
    location ~ \\.php$ { include /etc/nginx/fastcgi_params; fastcgi_param HTTP_HOST $http_host; fastcgi_param SERVER_NAME $host; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_pass unix:${folder}/fpm; }
  }
}
`
