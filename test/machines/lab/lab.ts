/**
 * Stead on several machines: two controls, hosts and two edges, each in a network namespace. PostgreSQL and the storage
 * for backups are beside the test, on its own address.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { nativeAndMariaDb, settingsOf } from '../../support/native-mariadb.ts'
import { type PostgresCluster, startPostgres } from '../../support/postgres-cluster.ts'
import { s3Server } from '../../support/s3-server.ts'
import { type ApiReply, quietSettings, until } from '../../support/stead.ts'
import { type Page, type SecurePage, type VisitOptions, visit, visitSecurely } from '../../support/visit.ts'
import { type Machine, type Network, openNetwork } from './network.ts'
import { makePart, type Part, type Role } from './parts.ts'

export interface LabOptions {
  readonly controls?: number
  readonly hosts?: number
  readonly edges?: number
  /** Settings of all parts. */
  readonly env?: Record<string, string>
}

export interface HostPart extends Part {
  /** As `stead host list` names it. */
  readonly name: string
}

export interface JoinedEdge extends Part {
  /** Sends a visitor's request over TLS, whatever the certificate is. */
  visitSecurely(site: string, path?: string): Promise<SecurePage>
}

export interface Lab {
  readonly network: Network
  readonly postgres: PostgresCluster
  readonly controls: readonly Part[]
  readonly hosts: readonly HostPart[]
  readonly edges: readonly Part[]
  /** All machines. */
  readonly machines: readonly Machine[]
  /**
   * Joins another machine as an edge with a token of the first control, and starts it. It has neither the master key nor
   * the database in its settings.
   */
  joinEdge(name: string): Promise<JoinedEdge>
  /**
   * Joins another machine as a host, and starts it. Its settings have neither the master key, nor the database, nor the
   * storage for backups.
   */
  joinHost(name: string): Promise<HostPart>
  /** Creates a token, and returns the arguments with which a machine joins. */
  tokenFor(...words: string[]): Promise<string[]>
  /** Calls the API of the first control with a token of the first account. */
  api(method: string, path: string, body?: unknown, control?: number): Promise<ApiReply>
  /** Sends a visitor's request through an edge. Answers 0 if the connection fails. */
  visit(edge: number, site: string, path?: string, options?: VisitOptions): Promise<Page>
  /** Creates a site, and waits until it is live. */
  createSite(name: string, host?: HostPart): Promise<number>
  /** Waits for an operation to end. */
  ended(operationId: number | string): Promise<{ state: string; error: string | null }>
  /** What the records say: rows of a query. */
  records(statement: string): Promise<Record<string, unknown>[]>
  remove(): Promise<void>
}

const API_PORT = 8080
const EDGE_PORT = 8081
const HOST_PORT = 8090
const TLS_PORT = 8443
const INTERNAL_PORT = 8091
const ports: Readonly<Record<Role, number>> = { control: API_PORT, edge: EDGE_PORT, host: HOST_PORT }

/** Settings that a machine does not need if it joins. */
const ofControls = /^STEAD_(MASTER_KEY|DATABASE_URL|BACKUP_S3_)/

/** Whether anything responds. A control tries its port before it listens there, so a connection proves nothing. */
const responds = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

function acceptsConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const end = (accepts: boolean) => {
      socket.destroy()
      resolve(accepts)
    }
    socket.setTimeout(1000, () => end(false))
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}

export async function openLab(options: LabOptions = {}): Promise<Lab> {
  const { controls: controlCount = 1, hosts: hostCount = 2, edges: edgeCount = 2 } = options
  const undo: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const each of undo.splice(0).reverse()) await each().catch((error) => console.error(error))
  }
  try {
    const network = await openNetwork()
    undo.push(() => network.remove())
    // The server keeps connections of machines that were cut off, until it notices.
    const postgres = await startPostgres({ address: network.here, mostConnections: 300 })
    if (!postgres) throw new Error('this machine has no PostgreSQL server to start (Debian: postgresql)')
    undo.push(() => postgres.remove())
    const s3 = await s3Server(network.here)
    undo.push(() => s3.close())
    const settings = {
      ...quietSettings,
      STEAD_DATABASE_URL: postgres.url,
      STEAD_MASTER_KEY: randomBytes(32).toString('base64'),
      STEAD_BACKUP_S3_BUCKET: s3.bucket,
      STEAD_BACKUP_S3_ENDPOINT: s3.url,
      STEAD_BACKUP_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      STEAD_BACKUP_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      STEAD_EDGE_PROCESSES: '1',
      STEAD_PREPARED_SITES: '0',
      STEAD_EDGE_PUBLIC_PORT: String(EDGE_PORT),
      ...(nativeAndMariaDb.skip ? {} : settingsOf),
      ...options.env,
    }
    const machines: Machine[] = []
    const start = async (role: Role, count: number, own: (address: string) => Record<string, string>) => {
      const parts: Part[] = []
      for (let number = 1; number <= count; number++) {
        const machine = await network.add(`${role}${number}`)
        machines.push(machine)
        const { address } = machine
        const listens = () =>
          role === 'control' ? responds(`http://${address}:${API_PORT}/`) : acceptsConnections(address, ports[role])
        const part = await makePart(machine, role, { ...settings, ...own(address) }, listens)
        undo.push(() => part.remove())
        await part.start()
        parts.push(part)
      }
      return parts
    }
    const controls = await start('control', controlCount, (address) => ({
      STEAD_API_LISTEN: `${address}:${API_PORT}`,
      STEAD_INTERNAL_LISTEN: `${address}:${INTERNAL_PORT}`,
    }))
    const hostParts = await start('host', hostCount, (address) => ({
      STEAD_HOST_LISTEN: `${address}:${HOST_PORT}`,
    }))
    const edges = await start('edge', edgeCount, (address) => ({ STEAD_EDGE_LISTEN: `${address}:${EDGE_PORT}` }))
    const records = postgres.query
    const hosts = await named(hostParts, records)
    const api = apiOf(controls)
    await until('all hosts are ready', async () => {
      const { status } = await api('GET', '/readyz')
      return status === 200
    })
    await hosts[0]?.keepTemplate()
    /** As a client does: sends a request again while the API cannot respond, which it says only if nothing has changed. */
    const change = async (method: string, path: string, body?: unknown) => {
      const reply = await until('the API responds', async () => {
        const each = await api(method, path, body)
        return each.body?.code !== 'unavailable' && each
      })
      if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    }
    const tokenFor: Lab['tokenFor'] = async (...words) => {
      const [control] = controls as [Part]
      const { out } = await control.cli('host', 'token', ...words, '--json')
      return [`--token=${JSON.parse(out).token}`, `--control=${control.machine.address}:${INTERNAL_PORT}`]
    }
    const join = async (part: Part, ...words: string[]) => {
      const joined = await part.cli('join', ...(await tokenFor(...words)))
      if (joined.code !== 0) throw new Error(joined.out)
      await part.start()
    }
    const joinHost: Lab['joinHost'] = async (name) => {
      const machine = await network.add(name)
      machines.push(machine)
      const { address } = machine
      const given = Object.entries(settings).filter(([name]) => !ofControls.test(name))
      const others = Object.fromEntries(given)
      const own = { ...others, STEAD_HOST_LISTEN: `${address}:${HOST_PORT}` }
      const part = await makePart(machine, 'host', own, () => acceptsConnections(address, HOST_PORT))
      undo.push(() => part.remove())
      await join(part, `--name=${name}`)
      return Object.assign(part, { name })
    }
    const joinEdge: Lab['joinEdge'] = async (name) => {
      const machine = await network.add(name)
      machines.push(machine)
      const { address } = machine
      const own = {
        ...quietSettings,
        ...{ STEAD_EDGE_LISTEN: `${address}:${EDGE_PORT}`, STEAD_EDGE_TLS_LISTEN: `${address}:${TLS_PORT}` },
        ...{ STEAD_EDGE_PROCESSES: '1', STEAD_EDGE_PUBLIC_PORT: String(EDGE_PORT) },
      }
      const part = await makePart(machine, 'edge', own, () => acceptsConnections(address, TLS_PORT))
      undo.push(() => part.remove())
      await join(part, `--name=${name}`, '--role=edge')
      return Object.assign(part, {
        visitSecurely: (site: string, path = '/') =>
          visitSecurely({ host: `${site}.localhost`, address, port: TLS_PORT, path }),
      })
    }
    const ended: Lab['ended'] = (id) =>
      until(
        `operation ${id} has ended`,
        async () => {
          const { body } = await api('GET', `/v1/operations/${id}`)
          return ['succeeded', 'failed', 'canceled'].includes(body?.data?.state) && body.data
        },
        600_000,
        300,
      )
    return {
      ...{
        network,
        postgres,
        controls,
        hosts,
        edges,
        machines,
        joinEdge,
        joinHost,
        tokenFor,
        api,
        ended,
        records,
        remove,
      },
      visit: (edge, site, path = '/', more = {}) =>
        visit({
          host: `${site}.localhost`,
          address: (edges[edge] as Part).machine.address,
          port: EDGE_PORT,
          path,
          ...more,
        }),
      async createSite(name, host) {
        const order = { name, ...(nativeAndMariaDb.skip ? {} : { php_version: nativeAndMariaDb.phpVersion }) }
        const others = host ? hosts.filter((each) => each !== host) : []
        for (const other of others) await change('PUT', `/v1/installation/hosts/${other.name}/cordon`)
        const body = await change('POST', '/v1/sites', order)
        for (const other of others) await change('PUT', `/v1/installation/hosts/${other.name}/uncordon`)
        await until(
          `${name} is live`,
          async () => (await api('GET', `/v1/sites/${body.data.id}`)).body?.data?.state === 'live',
          600_000,
          300,
        )
        return body.data.id
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Finds the names that hosts have in the records, by their addresses. */
async function named(parts: readonly Part[], records: Lab['records']): Promise<HostPart[]> {
  const nameOf = async ({ machine }: Part) => {
    const rows = (await records('select name, address from hosts')) as { name: string; address: string }[]
    return rows.find(({ address }) => new URL(address).hostname === machine.address)?.name
  }
  const found: HostPart[] = []
  for (const part of parts) {
    // It listens first.
    const name = await until(`${part.machine.name} is in the records`, () => nameOf(part))
    found.push(Object.assign(part, { name }))
  }
  return found
}

/** The first control makes the credentials of the first account. */
function apiOf(controls: readonly Part[]): Lab['api'] {
  const urlOf = (control: number) => `http://${(controls[control] as Part).machine.address}:${API_PORT}`
  let token: string | undefined
  const freshToken = async () => {
    const file = join((controls[0] as Part).dataDir, 'credentials.json')
    const { client_id, client_secret } = JSON.parse(await readFile(file, 'utf8'))
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const response = await fetch(`${urlOf(0)}/auth/token`, { method: 'POST', body: form })
    return ((await response.json()) as { access_token: string }).access_token
  }
  return async (method, path, body, control = 0) => {
    token ??= await freshToken()
    const response = await fetch(`${urlOf(control)}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers as ApiReply['headers'], body: text && JSON.parse(text) }
  }
}
