import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { MessageWriter } from '../wire/message-writer.ts'
import { Opcode, Type } from '../wire/protocol.ts'
import { Signer, type TsigKeys } from '../wire/tsig.ts'
import type { ServedZone } from '../zones/zone.ts'
import { normalAddress, type Secondary } from './secondaries.ts'
import { notifyMessage } from './transfer.ts'

/**
 * RFC 1996 §3.6 asks for patience. A secondary that has missed them all asks when the zone's refresh time has passed.
 */
const MOST_TRIES = 6
const FIRST_WAIT_MS = 2000
/** The most notifications to one secondary that wait for its answer. */
const MOST_UNDER_WAY = 64

export interface NotifierOptions {
  readonly secondaries: readonly Secondary[]
  readonly keys: TsigKeys
  readonly firstWaitMs?: number
  /**
   * Repeats each notification once after this time. Several processes answer at one address. The one that a secondary
   * asks may learn of a change later than the one that sends the notification. A secondary that gets the old serial
   * only asks again after the zone's refresh time. Default: never.
   */
  readonly againMs?: number | undefined
  readonly onGiveUp: (secondary: Secondary, zone: string) => void
}

/** Notifies secondaries that zones have changed (RFC 1996), and repeats it until they answer. */
export class Notifier {
  readonly #lines: readonly Line[]
  readonly #againMs: number | undefined
  /** By the name of the zone: notifications that are repeated. */
  readonly #again = new Map<string, NodeJS.Timeout>()

  constructor(options: NotifierOptions) {
    this.#lines = options.secondaries.map((secondary) => new Line(secondary, options))
    this.#againMs = options.againMs
  }

  changed(zone: ServedZone): void {
    this.#tell(zone)
    if (this.#againMs === undefined) return
    clearTimeout(this.#again.get(zone.name))
    const timer = setTimeout(() => {
      this.#again.delete(zone.name)
      this.#tell(zone)
    }, this.#againMs)
    this.#again.set(zone.name, timer.unref())
  }

  #tell(zone: ServedZone): void {
    for (const line of this.#lines) line.changed(zone)
  }

  /** Returns the number of notifications that secondaries have not yet answered. */
  get waiting(): number {
    return this.#lines.reduce((sum, line) => sum + line.waiting, 0)
  }

  close(): void {
    for (const timer of this.#again.values()) clearTimeout(timer)
    this.#again.clear()
    for (const line of this.#lines) line.close()
  }
}

interface Notice {
  readonly id: number
  readonly zone: ServedZone
  tries: number
  timer?: NodeJS.Timeout
}

/** The notifications for one secondary. */
class Line {
  readonly #secondary: Secondary
  readonly #options: NotifierOptions
  readonly #writer = new MessageWriter()
  readonly #waiting = new Map<string, ServedZone>()
  readonly #underWay = new Map<string, Notice>()
  #socket: Socket | undefined
  #isClosed = false

  constructor(secondary: Secondary, options: NotifierOptions) {
    this.#secondary = secondary
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.size + this.#underWay.size
  }

  changed(zone: ServedZone): void {
    if (this.#isClosed) return
    this.#end(zone.name)
    this.#waiting.set(zone.name, zone)
    this.#next()
  }

  close(): void {
    this.#isClosed = true
    this.#waiting.clear()
    for (const name of [...this.#underWay.keys()]) this.#end(name)
    this.#socket?.close()
  }

  #end(name: string): void {
    clearTimeout(this.#underWay.get(name)?.timer)
    this.#underWay.delete(name)
  }

  #next(): void {
    for (const [name, zone] of this.#waiting) {
      if (this.#underWay.size >= MOST_UNDER_WAY) return
      this.#waiting.delete(name)
      const notice: Notice = { id: randomInt(65_536), zone, tries: 0 }
      this.#underWay.set(name, notice)
      this.#tell(notice)
    }
  }

  #tell(notice: Notice): void {
    const { firstWaitMs = FIRST_WAIT_MS, keys, onGiveUp } = this.#options
    const { host: address, port, keyName } = this.#secondary
    if (notice.tries === MOST_TRIES) {
      this.#end(notice.zone.name)
      onGiveUp(this.#secondary, notice.zone.name)
      this.#next()
      return
    }
    const message = notifyMessage(notice.zone, notice.id, Type.SOA, this.#writer)
    const signed = keyName === undefined ? message : new Signer(keys, { keyName }).sign(message, Date.now())
    // A failed send counts as lost on the way.
    this.#open().send(signed, port, address, () => {})
    notice.timer = setTimeout(() => this.#tell(notice), firstWaitMs * 2 ** notice.tries)
    notice.tries++
  }

  #open(): Socket {
    if (this.#socket) return this.#socket
    const { host: address, port } = this.#secondary
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
    socket.on('error', () => {})
    socket.on('message', (message, from) => {
      if (normalAddress(from.address) !== normalAddress(address) || from.port !== port || message.length < 12) return
      const flags = message.readUInt16BE(2)
      if (!(flags & 0x8000) || ((flags >> 11) & 15) !== Opcode.NOTIFY) return
      const id = message.readUInt16BE(0)
      // Any answer shows that the notification arrived.
      for (const notice of this.#underWay.values()) if (notice.id === id) this.#end(notice.zone.name)
      this.#next()
    })
    this.#socket = socket
    return socket
  }
}
