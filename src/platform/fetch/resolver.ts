import { promises as dns } from 'node:dns'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { meansNoRecords } from './no-records.ts'

/** Queries the machine's name servers. */
export interface Resolver {
  /**
   * Returns the addresses of a name: those of the hosts file, otherwise IPv4 ones, otherwise IPv6 ones.
   * @throws NameServerSilent; an error if there are none
   */
  find(host: string): Promise<string[]>
  /**
   * Returns all addresses of a name, like `find`, of both kinds, IPv4 ones first.
   * @throws as `find`
   */
  findAll(host: string): Promise<string[]>
  /** Returns whether any name server answers, with any answer. */
  isAnswered(): Promise<boolean>
}

/** No name server has answered for this name. */
export class NameServerSilent extends Error {
  override readonly name = 'NameServerSilent'
}

export interface ResolverOptions {
  /** The machine's servers by default. */
  readonly servers?: readonly string[]
  readonly hostsPath?: string
  /** The time limit for one name. */
  readonly timeoutMs?: number
}

const HOSTS_BYTES = 4 << 20
/** Errors for a name server that does not answer. */
const silence = new Set(['ETIMEOUT', 'ECANCELLED'])

/**
 * Creates a resolver that does not use the system's own lookup. That would block one of this process's four threads,
 * which also read files, for as long as an unknown name server takes.
 */
export function createResolver({
  servers,
  hostsPath = '/etc/hosts',
  timeoutMs = 3000,
}: ResolverOptions = {}): Resolver {
  const hosts = hostsFile(hostsPath)
  /**
   * Creates one resolver per question, so that it uses the machine's current name servers, and can be canceled
   * separately.
   */
  const ask = async <Answer>(question: (resolver: dns.Resolver) => Promise<Answer>, withinMs: number) => {
    const resolver = new dns.Resolver({ timeout: Math.ceil(withinMs / 3), tries: 3 })
    if (servers) resolver.setServers(servers)
    const late = setTimeout(() => resolver.cancel(), withinMs)
    try {
      return await question(resolver)
    } finally {
      clearTimeout(late)
    }
  }
  const addresses = async (resolver: dns.Resolver, host: string) => {
    try {
      return await resolver.resolve4(host)
    } catch (error) {
      if (!meansNoRecords(codeOf(error))) throw error
      return resolver.resolve6(host)
    }
  }
  const findBy = async (host: string, question: (resolver: dns.Resolver, host: string) => Promise<string[]>) => {
    const written = (await hosts()).get(host.toLowerCase().replace(/\.$/, ''))
    if (written) return written
    try {
      return await ask((resolver) => question(resolver, host), timeoutMs)
    } catch (cause) {
      if (silence.has(codeOf(cause))) throw new NameServerSilent('the name server does not respond', { cause })
      throw cause
    }
  }
  return {
    find: (host) => findBy(host, addresses),
    findAll: (host) => findBy(host, ofBothKinds),
    async isAnswered() {
      try {
        // The root is the only name that does not depend on others.
        await ask((resolver) => resolver.resolveNs('.'), (timeoutMs * 2) / 3)
        return true
      } catch (error) {
        const code = codeOf(error)
        return !silence.has(code) && code !== 'ECONNREFUSED'
      }
    },
  }
}

/**
 * Returns the addresses of both kinds. One kind is enough.
 * @throws the error of IPv4 if both fail
 */
async function ofBothKinds(resolver: dns.Resolver, host: string): Promise<string[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

/** Returns addresses by name from the file, IPv4 first. Reads the file again after it has changed. */
function hostsFile(path: string): () => Promise<ReadonlyMap<string, string[]>> {
  let known: { changedAtMs: number; names: Map<string, string[]> } | undefined
  return async () => {
    const stats = await stat(path).catch(() => undefined)
    if (!stats?.isFile() || stats.size > HOSTS_BYTES) return new Map()
    if (known?.changedAtMs !== stats.mtimeMs)
      known = { changedAtMs: stats.mtimeMs, names: parseHosts(await readFile(path, 'utf8')) }
    return known.names
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address, ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!address || isIP(address) === 0) continue
    for (const alias of aliases) {
      const name = alias.toLowerCase()
      names.set(
        name,
        [...(names.get(name) ?? []), address].sort((a, b) => isIP(a) - isIP(b)),
      )
    }
  }
  return names
}
