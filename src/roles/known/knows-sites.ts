import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { KnownRoutes } from '../../edge/routing/known-routes.ts'
import { type KnownContext, knownSites } from './known-sites.ts'

export const knownRoutesFile = ({ dataDir }: { readonly dataDir: string }): string => join(dataDir, 'known-routes.db')

/**
 * Returns whether a process with this name knows sites from its last run, so that it can serve them without the
 * database.
 */
export async function knowsSites(context: KnownContext, name: string): Promise<boolean> {
  // `serve` is a host and an edge.
  if (name === 'host' || name === 'serve') return (await knownSites(context).read()) !== undefined
  return name === 'edge' && knowsRoutes(context)
}

function knowsRoutes({ config, sealer, log }: KnownContext): boolean {
  const file = knownRoutesFile(config)
  if (!existsSync(file)) return false
  const known = new KnownRoutes({ file, sealer, log })
  const { hasRoutes } = known
  known.close()
  return hasRoutes
}
