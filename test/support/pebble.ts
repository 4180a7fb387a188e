/** A certificate authority on this machine: Debian's pebble, and the DNS server that comes with it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { generate } from 'selfsigned'
import { freePort } from './stead.ts'

/** Tests that need it are skipped without it. */
export const hasPebble = ['pebble', 'pebble-challtestsrv'].every((program) => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})

export interface Pebble {
  readonly directory: string
  /** File with the root certificate of the authority's own server. */
  readonly roots: string
  /** `address:port` of the DNS server. */
  readonly resolver: string
  /** The issuer's certificate (PEM), which is different after each start. */
  issuer(): Promise<string>
  /** Sets the addresses of a name. An empty list: it does not exist. */
  setAddresses(hostName: string, addresses: readonly string[]): Promise<void>
  close(): Promise<void>
}

/**
 * @param httpPort where names are validated
 * @param otherResolver `address:port` of another DNS server to use instead of its own
 * @param ways more settings (`PEBBLE_…`). By default each validation takes up to two seconds, one in five nonces is
 * rejected, and every proof is validated
 * @param customers base64url keys by identifier: accounts then require one of them (external account binding)
 */
export async function startPebble(
  httpPort: number,
  otherResolver?: string,
  ways: Readonly<Record<string, string>> = {},
  customers?: Readonly<Record<string, string>>,
): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-pebble-'))
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }]
  const own = await generate([{ name: 'commonName', value: 'pebble' }], {
    ...{ keyType: 'ec' as const, algorithm: 'sha256' },
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames },
    ],
  })
  const roots = join(folder, 'cert.pem')
  await writeFile(roots, own.cert)
  await writeFile(join(folder, 'key.pem'), own.private)
  const [port, managementPort, dnsPort, dnsManagementPort, unusedPort] = await Promise.all(
    Array.from({ length: 5 }, () => freePort()),
  )
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${managementPort}`,
      certificate: roots,
      privateKey: join(folder, 'key.pem'),
      httpPort,
      tlsPort: unusedPort,
      ocspResponderURL: '',
      externalAccountBindingRequired: customers !== undefined,
      ...(customers && { externalAccountMACKeys: customers }),
    },
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  const resolver = `127.0.0.1:${dnsPort}`
  const children = [
    spawn(
      'pebble-challtestsrv',
      [
        ...['-dns01', resolver, '-management', `127.0.0.1:${dnsManagementPort}`, '-http01', '', '-https01', ''],
        ...['-tlsalpn01', '', '-defaultIPv4', '', '-defaultIPv6', ''],
      ],
      { stdio: 'ignore' },
    ),
    spawn('pebble', ['-config', join(folder, 'config.json'), '-dnsserver', otherResolver ?? resolver], {
      stdio: 'ignore',
      env: { PEBBLE_VA_SLEEPTIME: '3', PEBBLE_WFE_NONCEREJECT: '20', PEBBLE_AUTHZREUSE: '0', ...ways },
    }),
  ]
  const directory = `https://127.0.0.1:${port}/dir`
  const manage = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${dnsManagementPort}/${path}`, { method: 'POST', body: JSON.stringify(body) })
  await untilAnswers(async () => {
    await get(directory, own.cert)
    await manage('clear-a', { host: 'none.test.' })
  })
  return {
    ...{ directory, roots, resolver },
    issuer: () => get(`https://127.0.0.1:${managementPort}/roots/0`, own.cert),
    async setAddresses(hostName, addresses) {
      const host = `${hostName}.`
      await manage('clear-a', { host })
      if (addresses.length > 0) await manage('add-a', { host, addresses })
    },
    async close() {
      await Promise.all(children.map(end))
      await rm(folder, { recursive: true })
    },
  }
}

async function untilAnswers(ask: () => Promise<unknown>): Promise<void> {
  while (
    !(await ask().then(
      () => true,
      () => false,
    ))
  )
    await pause(50)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export async function get(url: string, ca: string): Promise<string> {
  const asked = request(url, { ca, agent: false })
  asked.end()
  const [response] = await once(asked, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}
