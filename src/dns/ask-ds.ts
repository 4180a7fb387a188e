import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { connect } from 'node:net'
import { questionOf } from './wire/message-writer.ts'
import { readName } from './wire/name.ts'
import { HEADER_BYTES, HeaderFlag, Opcode, Rcode, Type } from './wire/protocol.ts'
import { uint16s } from './wire/record-data.ts'

const TIMEOUT_MS = 4000
const DNS_PORT = 53

/**
 * Asks resolvers which keys the parent zone names.
 * @param resolvers addresses, with or without a port; none: the machine's
 * @returns data of the zone's DS records from any resolver; none when all answer that there are none
 * @throws Error when all of them fail
 */
export async function askDs(zone: string, resolvers: readonly string[]): Promise<Buffer[]> {
  const servers = resolvers.length > 0 ? resolvers : getServers()
  const answers = await Promise.allSettled(servers.map((server) => askOne(zone, server)))
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  if (found.length > 0) return found.flat()
  const [failed] = answers as PromiseRejectedResult[]
  throw new Error(failed ? String((failed.reason as Error).message) : 'there is no resolver')
}

async function askOne(zone: string, server: string): Promise<Buffer[]> {
  const { host, port } = placeOf(server)
  const question = questionOf(randomInt(65_536), { opcode: Opcode.QUERY, isAuthoritative: false }, zone, Type.DS)
  question.writeUInt16BE(HeaderFlag.RD, 2)
  const short = await overUdp(question, host, port)
  const answer = short.readUInt16BE(2) & HeaderFlag.TC ? await overTcp(question, host, port) : short
  const rcode = answer.readUInt16BE(2) & 15
  if (rcode !== Rcode.NOERROR && rcode !== Rcode.NXDOMAIN) throw new Error(`the resolver ${host} answers code ${rcode}`)
  return dataOf(answer, Type.DS)
}

function placeOf(server: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? []
  return { host: bracketed ?? plain ?? server, port: port ? Number(port) : DNS_PORT }
}

/** Returns whether the answer matches the question, regardless of its sender. */
const fits = (answer: Buffer, question: Buffer): boolean =>
  answer.length >= question.length &&
  answer.readUInt16BE(0) === question.readUInt16BE(0) &&
  (answer.readUInt16BE(2) & HeaderFlag.QR) !== 0 &&
  answer.toString('latin1', HEADER_BYTES, question.length).toLowerCase() ===
    question.toString('latin1', HEADER_BYTES).toLowerCase()

function overUdp(question: Buffer, host: string, port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    let isOver = false
    const end = (settle: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      clearTimeout(again)
      socket.close()
      settle()
    }
    const late = setTimeout(() => end(() => reject(new Error(`the resolver ${host} does not answer`))), TIMEOUT_MS)
    const send = () => socket.send(question)
    const again = setTimeout(send, TIMEOUT_MS / 2)
    socket.on('error', (error) => end(() => reject(error)))
    socket.on('message', (answer) => fits(answer, question) && end(() => resolve(answer)))
    socket.connect(port, host, send)
  })
}

function overTcp(question: Buffer, host: string, port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS })
    let read = Buffer.alloc(0)
    socket.on('connect', () => socket.write(Buffer.concat([uint16s(question.length), question])))
    socket.on('timeout', () => socket.destroy(new Error(`the resolver ${host} does not answer`)))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`the resolver ${host} ended the connection`)))
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk])
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return
      const answer = read.subarray(2, 2 + read.readUInt16BE(0))
      if (fits(answer, question)) resolve(answer)
      socket.destroy()
    })
  })
}

/**
 * Returns the data of the records of a type in an answer.
 * @throws Error when it cannot be read
 */
function dataOf(answer: Buffer, type: number): Buffer[] {
  const found: Buffer[] = []
  let at = HEADER_BYTES
  const name = () => {
    const read = readName(answer, at)
    if (!read || read.end + 4 > answer.length) throw new Error('an answer of a resolver cannot be read')
    return read.end
  }
  for (let left = answer.readUInt16BE(4); left > 0; left--) at = name() + 4
  for (let left = answer.readUInt16BE(6); left > 0; left--) {
    const head = name()
    const end = head + 10 <= answer.length ? head + 10 + answer.readUInt16BE(head + 8) : Number.POSITIVE_INFINITY
    if (end > answer.length) throw new Error('an answer of a resolver cannot be read')
    if (answer.readUInt16BE(head) === type) found.push(Buffer.from(answer.subarray(head + 10, end)))
    at = end
  }
  return found
}
