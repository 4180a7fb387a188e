import { expect, it } from 'vitest'
import { mendSockets, type SocketOperations, type WasmSocket } from './sockets.ts'

class ErrnoError extends Error {
  readonly errno: number
  constructor(errno: number) {
    super()
    this.errno = errno
  }
}

const sending = (send: () => number): (() => number) => {
  const operations: SocketOperations = { sendmsg: send, removePeer() {} }
  mendSockets({ ErrnoError }, operations)
  mendSockets({ ErrnoError }, operations)
  return () => operations.sendmsg({ type: 1, sock_ops: operations } satisfies WasmSocket)
}

it('tells a writer that the other side has closed the connection, and not to try again', () => {
  const notConnected = sending(() => {
    throw new ErrnoError(53)
  })
  expect(notConnected).toThrow(expect.objectContaining({ errno: 64 }))
  const wouldBlock = sending(() => {
    throw new ErrnoError(6)
  })
  expect(wouldBlock).toThrow(expect.objectContaining({ errno: 6 }))
  expect(sending(() => 3)()).toBe(3)
})
