/**
 * The name server of one sandbox. It resolves nothing: each queried name gets a synthetic address. When PHP connects to
 * it, the host knows the name, resolves and checks the real address, and connects. So no answer of an untrusted name
 * server counts between check and connection. The same as in php-wasm.
 */

const headerBytes = 12
const longestName = 253
/** Names that are remembered. Beyond that, the oldest address goes to another name. */
const mostNames = 10_000
const [typeA, typeAny, classInternet] = [1, 255, 1]
const isAnswer = 0x81_80
const pointerToQuestion = 0xc0_0c
const ttlSeconds = 1

/** Synthetic addresses (172.29.x.y) and the names that they stand for within one sandbox. */
export class MadeUpAddresses {
  readonly #addresses = new Map<string, string>()
  readonly #names = new Map<string, string>()
  #next = 0

  addressOf(name: string): string {
    const known = this.#addresses.get(name)
    if (known !== undefined) return known
    const number = (this.#next++ % mostNames) + 1
    const address = `172.29.${number >> 8}.${number & 255}`
    const before = this.#names.get(address)
    if (before !== undefined) this.#addresses.delete(before)
    this.#names.set(address, name)
    this.#addresses.set(name, address)
    return address
  }

  nameOf(address: string): string | undefined {
    return this.#names.get(address)
  }
}

/** Answers one UDP query. @returns undefined for anything else */
export function answerName(asked: Buffer, names: MadeUpAddresses): Buffer | undefined {
  const isQuestion = asked.length > headerBytes && ((asked[2] as number) & 0x80) === 0 && asked.readUInt16BE(4) === 1
  const question = isQuestion ? readQuestion(asked) : undefined
  if (!question) return undefined
  const hasAddress = (question.type === typeA || question.type === typeAny) && question.inClass === classInternet
  const header = Buffer.alloc(headerBytes)
  asked.copy(header, 0, 0, 2)
  header.writeUInt16BE(isAnswer, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(hasAddress ? 1 : 0, 6)
  const repeated = asked.subarray(headerBytes, question.end)
  // No other record types exist.
  if (!hasAddress) return Buffer.concat([header, repeated])
  const answer = Buffer.alloc(16)
  answer.writeUInt16BE(pointerToQuestion, 0)
  answer.writeUInt16BE(typeA, 2)
  answer.writeUInt16BE(classInternet, 4)
  answer.writeUInt32BE(ttlSeconds, 6)
  answer.writeUInt16BE(4, 10)
  Buffer.from(names.addressOf(question.name).split('.').map(Number)).copy(answer, 12)
  return Buffer.concat([header, repeated, answer])
}

function readQuestion(asked: Buffer): { name: string; type: number; inClass: number; end: number } | undefined {
  const labels: string[] = []
  let at = headerBytes
  for (let length = asked[at++]; length !== 0; length = asked[at++]) {
    if (length === undefined || length > 63 || at + length > asked.length) return undefined
    labels.push(asked.toString('latin1', at, at + length))
    at += length
  }
  const name = labels.join('.').toLowerCase()
  if (at + 4 > asked.length || name.length > longestName || !/^[a-z0-9_.-]+$/.test(name)) return undefined
  return { name, type: asked.readUInt16BE(at), inClass: asked.readUInt16BE(at + 2), end: at + 4 }
}
