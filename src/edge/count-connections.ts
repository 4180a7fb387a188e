import type { Server, Socket } from 'node:net'
import { addressKey } from '../platform/budgets/address-key.ts'
import type { Budget } from '../platform/budgets/budget.ts'
import { plainAddress } from './client-address.ts'

/**
 * A visitor has a bounded number of connections; proxies have as many as they need, for all of their visitors.
 * @param refuse ends one that is too many
 */
export function countConnections(
  server: Server,
  connections: Budget,
  isTrusted: (address: string) => boolean,
  refuse: (socket: Socket) => void,
): void {
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    if (isTrusted(address)) return
    const share = connections.share(addressKey(address))
    if (share.take(1)) socket.once('close', () => share.free())
    else refuse(socket)
  })
}
