import type { Server, Socket } from 'node:net'
import { addressKey } from '../../platform/budgets/address-key.ts'
import type { Budget } from '../../platform/budgets/budget.ts'
import { peerAddress } from '../../platform/http/client/client-address.ts'

export interface ConnectionCount {
  readonly connections: Budget
  /** Trusted proxies are not limited, because they carry all of their visitors. */
  readonly isTrusted: (address: string) => boolean
  /** Which connections of the server are counted here. */
  readonly counts: (socket: Socket) => boolean
  /** Ends one connection too many. */
  readonly refuse: (socket: Socket) => void
}

/** Gives each visitor a bounded number of connections. */
export function countConnections(server: Server, { connections, isTrusted, counts, refuse }: ConnectionCount): void {
  server.on('connection', (socket: Socket) => {
    if (!counts(socket)) return
    const address = peerAddress(socket)
    if (isTrusted(address)) return
    const share = connections.share(addressKey(address))
    if (share.take(1)) socket.once('close', () => share.free())
    else refuse(socket)
  })
}
