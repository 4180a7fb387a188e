import { Resolver } from 'node:dns/promises'
import { meansNoRecords } from '../../platform/fetch/no-records.ts'

const TIMEOUT_MS = 2_000
/** The limit for all servers and attempts together. */
const PATIENCE_MS = 6_000

/**
 * Looks up the TXT records of a name, as public resolvers see them.
 * @param resolvers addresses of DNS servers, by default the machine's
 * @throws Error when the lookup fails, with a sentence without a full stop
 */
export async function textsAt(name: string, resolvers: readonly string[]): Promise<string[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  if (resolvers.length > 0) resolver.setServers([...resolvers])
  const late = setTimeout(() => resolver.cancel(), PATIENCE_MS)
  try {
    return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    if (meansNoRecords(code)) return []
    throw new Error(`${name} cannot be looked up in the DNS (${code})`)
  } finally {
    clearTimeout(late)
  }
}
