import { connect } from 'node:net'

/** How long a machine may take to accept a connection. Its kernel does that, however busy the host is. */
const CONNECT_MS = 3_000
/** How long the host may then take to answer. It needs neither PHP nor the database, but it may be starved. */
const ANSWER_MS = 8_000

/**
 * Asks a host on a new connection whether it lives. Whatever it answers counts, even a refusal. A host that requires TLS
 * refuses the question, and needs no handshake for that.
 * @param url `http://address:port` or `https://name@address:port`
 */
export function askAlive({ protocol, hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    })
    let late = setTimeout(() => socket.destroy(), CONNECT_MS)
    let isAlive = false
    const lives = () => {
      isAlive = true
      socket.destroy()
    }
    socket.once('connect', () => {
      clearTimeout(late)
      late = setTimeout(() => socket.destroy(), ANSWER_MS)
      socket.write('GET /alive HTTP/1.1\r\nhost: host\r\nconnection: close\r\n\r\n')
    })
    socket.once('data', lives)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A machine that refuses is there. The next request fails just as quickly.
      if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') isAlive = true
    })
    socket.once('close', () => {
      clearTimeout(late)
      resolve(isAlive)
    })
  })
}
