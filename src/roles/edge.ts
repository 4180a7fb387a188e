import type { AddressInfo } from 'node:net'
import { createGateway } from '../edge/gateway.ts'
import { loadRoute, routesChangedSince } from '../edge/routes.store.ts'
import { createRouteTable } from '../edge/routes.ts'
import { untilFree } from './free-port.ts'
import type { Ground, Part } from './part.ts'

export interface Edge extends Part {
  readonly port: number
}

/** The gateway for all visitor traffic. */
export async function startEdge({ config, database, log, hostKey }: Ground): Promise<Edge> {
  const routes = createRouteTable({
    load: (hostName) => loadRoute(database.read, hostName),
    changedSince: (sinceMs) => routesChangedSince(database.read, sinceMs),
    onChange: (callback) => database.changes.subscribe('routes', callback),
    onError: (error) => log.warn({ err: error }, 'routes could not be read'),
  })
  const gateway = createGateway({ routes, log, hostKey, trustProxy: config.trustProxy })
  const { server } = gateway
  await untilFree(config.edgeListen, 'STEAD_EDGE_LISTEN')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.edgeListen, resolve)
  })
  const { port } = server.address() as AddressInfo
  log.info({ host: config.edgeListen.host, port }, 'the edge listens')
  return {
    port,
    async stop() {
      await gateway.close()
      routes.close()
    },
  }
}
