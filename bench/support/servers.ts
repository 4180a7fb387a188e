import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running server in one or more separate processes. */
export interface BenchServer {
  readonly port: number
  /** Of all its processes since their start, in microseconds. */
  cpuMicroseconds(): number
  stop(): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Returns user and system time of a process, and of its ended children that were reaped, in microseconds (Linux counts
 * in hundredths of a second).
 */
function timesOf(pid: number): { readonly own: number; readonly ended: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  const sum = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * 10_000
  return { own: sum(11), ended: sum(13) }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number)

/** Of a process and its children, in microseconds. */
export const cpuOf = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), timesOf(pid).own)

/** Of the process without children, or 0 when it has ended. */
export function ownCpuOf(pid: number): number {
  try {
    return timesOf(pid).own
  } catch {
    return 0
  }
}

/** Like {@link cpuOf}, plus the time of processes that have ended since. */
export function cpuWithEndedOf(pid: number): number {
  try {
    const { own, ended } = timesOf(pid)
    return childrenOf(pid).reduce((sum, child) => sum + cpuWithEndedOf(child), own + ended)
  } catch {
    // It has just ended, and its parent has its time.
    return 0
  }
}

async function untilOpen(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on port ${port}`)
}

export async function startProgram(
  command: string,
  args: (folder: string) => string[],
  port: number,
): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'stead-bench-'))
  const child = spawn(command, args(folder), { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await untilOpen(port)
  return {
    port,
    cpuMicroseconds: () => cpuOf(child.pid as number),
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Starts Debian's nginx with one worker: a proxy cache before `origin` at `/`, files of `root` at `/files/`, no cache
 * at `/uncached/`.
 */
export async function startNginx(origin: string, root: string): Promise<BenchServer> {
  const port = await freePort()
  return startProgram(
    'nginx',
    (folder) => {
      const file = join(folder, 'nginx.conf')
      writeFileSync(file, nginxConfig(folder, port, origin, root))
      return ['-c', file, '-g', 'daemon off;', '-e', join(folder, 'error.log')]
    },
    port,
  )
}

const nginxConfig = (folder: string, port: number, origin: string, root: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/pid;
events { worker_connections 2048; }
http {
  access_log off;
  sendfile on;
  gzip on; gzip_proxied any; gzip_types text/css;
  tcp_nopush on;
  keepalive_requests 1000000;
  types { text/css css; text/html html; }
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  proxy_cache_path ${folder}/cache keys_zone=pages:10m;
  upstream origin { server ${origin}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    location /files/ { alias ${root}/; }
    location /uncached/ { proxy_pass http://origin; }
    location / {
      proxy_pass http://origin;
      proxy_cache pages;
      proxy_cache_valid 200 10m;
      add_header X-Cache $upstream_cache_status;
    }
  }
}
`

/** A server whose memory is measured, too. */
export interface BenchPart extends BenchServer {
  /** Resident MB, rounded. */
  residentMb(): number
  /** The maximum since its start. */
  peakMb(): number
}

/**
 * Starts a part of a benchmark in a separate process, which reports its port.
 * @param file is run with `--part` and these words
 */
export async function startPart(file: string, ...words: readonly string[]): Promise<BenchPart> {
  const child = fork(file, ['--part', ...words])
  const [port] = (await once(child, 'message')) as [number]
  const status = (name: string): number =>
    Math.round(
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) /
        1024,
    )
  return {
    port,
    residentMb: () => status('VmRSS'),
    peakMb: () => status('VmHWM'),
    cpuMicroseconds: () => cpuOf(child.pid as number),
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** A certificate with its key, as files. */
export interface CertificateFiles {
  readonly chain: string
  readonly key: string
  /** Both in one file. */
  readonly together: string
}

/** Starts Debian's nginx with one worker and a proxy cache before `origin`, only over TLS. */
export async function startSecureNginx(origin: string, files: CertificateFiles): Promise<BenchServer> {
  const port = await freePort()
  const tls = `ssl http2; ssl_certificate ${files.chain}; ssl_certificate_key ${files.key};
    ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:10m`
  return startProgram(
    'nginx',
    (folder) => {
      const file = join(folder, 'nginx.conf')
      const plain = nginxConfig(folder, port, origin, folder)
      writeFileSync(file, plain.replace(`listen 127.0.0.1:${port};`, `listen 127.0.0.1:${port} ${tls};`))
      return ['-c', file, '-g', 'daemon off;', '-e', join(folder, 'error.log')]
    },
    port,
  )
}

/** Starts Debian's haproxy with one thread and its cache before `origin`, only over TLS. */
export async function startSecureHaproxy(origin: string, files: CertificateFiles): Promise<BenchServer> {
  const port = await freePort()
  return startProgram(
    'haproxy',
    (folder) => {
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, haproxyConfig(port, origin, files))
      return ['-db', '-q', '-f', file]
    },
    port,
  )
}

const haproxyConfig = (port: number, origin: string, files: CertificateFiles) => `
global
  nbthread 1
  maxconn 4096
  tune.ssl.cachesize 20000
  ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
cache pages
  total-max-size 64
  max-object-size 1000000
  max-age 600
frontend tls
  bind 127.0.0.1:${port} ssl crt ${files.together} alpn h2,http/1.1
  http-request cache-use pages
  http-response cache-store pages
  default_backend origin
backend origin
  server one ${origin}
`

/** Starts Debian's varnish with its default rules. */
export async function startVarnish(origin: string): Promise<BenchServer> {
  const port = await freePort()
  return startProgram(
    'varnishd',
    (folder) => [
      '-F',
      '-a',
      `127.0.0.1:${port}`,
      '-b',
      origin,
      '-n',
      join(folder, 'work'),
      '-s',
      'malloc,64m',
      '-t',
      '600',
    ],
    port,
  )
}
