import { createHash } from 'node:crypto'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { StorageFailure } from '../backup-store.ts'
import { rootOf, s3Storage, statusOf } from './s3-storage.ts'
import type { SignedRequest, StorageRequest } from './sign-requests.ts'
import { type Storage, StorageRefusal } from './storage.ts'

/** A bucket whose credentials another process has. */
export interface StoragePlace {
  readonly bucket: string
  readonly endpoint?: string | undefined
  readonly region: string
  readonly prefix: string
}

/** A request for a signature. */
export type SignatureRequest = StorageRequest & {
  /** For a service that cannot keep existing objects. The signing process checks that the object is new. */
  readonly isPlain?: boolean
}

/** What the signing process answers. */
export type Signature =
  | (SignedRequest & {
      /** For a new object: reads it. */
      readonly read?: SignedRequest
    })
  | { readonly exists: true }
  | { readonly refused: string }
  | { readonly failed: string }

/** The process that has the credentials. */
export interface StorageSigner {
  /** @throws StorageFailure */
  sign(requests: readonly SignatureRequest[]): Promise<readonly Signature[]>
  /**
   * Removes those of these objects that may go.
   * @throws StorageFailure
   */
  remove(names: readonly string[]): Promise<void>
}

/** The most requests in one question. */
export const MOST_SIGNED = 32
/** The most names of a removal. */
export const MOST_REMOVED = 100
/** How long a signature for reading is used again. It is valid for longer, also if the clocks differ by minutes. */
const REUSED_MS = 240_000
/** Each takes about 1 kB. */
const MOST_KEPT = 2_000
const HOST = 'storage.invalid'

/** The object exists, and the storage keeps it. */
class AlreadyThere extends StorageFailure {}

/**
 * Stores objects in a bucket without its credentials: another process signs each request, and removes objects. The
 * bytes go straight to the bucket. Existing objects are never replaced.
 */
export function signedStorage(place: StoragePlace, signer: StorageSigner): Storage {
  const root = rootOf(place.prefix)
  const ask = inGroups((requests: readonly SignatureRequest[]) => signer.sign(requests))
  const reading = new Map<string, { readonly until: number; readonly signed: SignedRequest }>()
  const withoutCondition = new Set<string>()

  const keep = (name: string, signed: SignedRequest) => {
    reading.delete(name)
    reading.set(name, { until: performance.now() + REUSED_MS, signed })
    const [oldest] = reading.keys()
    if (reading.size > MOST_KEPT && oldest !== undefined) reading.delete(oldest)
  }
  const signatureFor = async (request: SignatureRequest): Promise<SignedRequest> => {
    const kept = request.kind === 'get' ? reading.get(request.name) : undefined
    if (kept && performance.now() < kept.until) return kept.signed
    const answer = await ask(request)
    if ('refused' in answer) throw new StorageRefusal(answer.refused)
    if ('failed' in answer) throw new StorageFailure(answer.failed)
    if ('exists' in answer) throw new AlreadyThere(`${request.kind === 'put' && request.name} exists`)
    if (request.kind === 'get') keep(request.name, answer)
    if (request.kind === 'put' && answer.read) keep(request.name, answer.read)
    return answer
  }
  const sign: Sign = async (request) => {
    const name = decodeURIComponent(request.path).slice(`/${place.bucket}/${root}`.length)
    const signed = await signatureFor(requestOf(request, { name, root, isPlain: withoutCondition.has(name) }))
    const url = new URL(signed.url)
    const { range } = request.headers
    return Object.assign(request, {
      ...{ protocol: url.protocol, hostname: url.hostname, path: url.pathname },
      port: url.port ? Number(url.port) : undefined,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...signed.headers, ...(range !== undefined && { range }) },
    })
  }
  const plain = s3Storage({
    ...{ ...place, endpoint: `https://${HOST}`, credentials: { accessKeyId: 'none', secretAccessKey: 'none' } },
    signer: { sign } as never,
  })

  const putOnce: Storage['putOnce'] = async (name, bytes, signal) => {
    try {
      await plain.put(name, bytes, signal)
      return true
    } catch (error) {
      const status = statusOf(error)
      if (error instanceof AlreadyThere || status === 412 || status === 409) return false
      if (status !== 501 || withoutCondition.has(name)) throw error
      withoutCondition.add(name)
      return putOnce(name, bytes, signal).finally(() => withoutCondition.delete(name))
    }
  }
  return {
    where: plain.where,
    putOnce,
    async put(name, bytes, signal) {
      if (await putOnce(name, bytes, signal)) return
      // Names are random, or say all. So this is the same object, of an attempt whose answer was lost.
      const standing = await this.get(name, undefined, signal)
      if (!standing?.equals(bytes)) throw new StorageRefusal(`${plain.where}: ${name} exists with other content`)
    },
    async get(name, range, signal) {
      try {
        return await plain.get(name, range, signal)
      } catch (error) {
        // The signature may be too old by the clock of the storage.
        if (statusOf(error) !== 403 || !reading.delete(name)) throw error
        return plain.get(name, range, signal)
      }
    },
    list: (folder, signal) => plain.list(folder, signal),
    async folders() {
      throw new StorageRefusal(`${plain.where}: this host sees only the backups of its own sites`)
    },
    async remove(names, signal) {
      for (let at = 0; at < names.length; at += MOST_REMOVED) {
        signal?.throwIfAborted()
        await signer.remove(names.slice(at, at + MOST_REMOVED))
      }
    },
  }
}

type Signer = Extract<NonNullable<S3ClientConfig['signer']>, { sign: unknown }>
type Sign = (request: Parameters<Signer['sign']>[0] & HttpParts) => Promise<object>
interface HttpParts {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

function requestOf(
  { method, query = {}, body }: HttpParts,
  { name, root, isPlain }: { readonly name: string; readonly root: string; readonly isPlain: boolean },
): SignatureRequest {
  if (method === 'PUT') {
    const bytes = body as Uint8Array
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { kind: 'put', name, bytes: bytes.length, sha256, ...(isPlain && { isPlain }) }
  }
  if (query.prefix === undefined) return { kind: 'get', name }
  const after = query.marker ? { after: String(query.marker) } : {}
  return { kind: 'list', folder: String(query.prefix).slice(root.length), ...after, most: Number(query['max-keys']) }
}

/** Collects requests while another question is in flight, and sends them in the next one. */
function inGroups<Asked, Answer>(
  send: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
): (asked: Asked) => Promise<Answer> {
  const waiting: { readonly asked: Asked; readonly answer: PromiseWithResolvers<Answer> }[] = []
  let isSending = false
  const sendAll = async () => {
    isSending = true
    while (waiting.length > 0) {
      const group = waiting.splice(0, MOST_SIGNED)
      try {
        const answers = await send(group.map(({ asked }) => asked))
        if (answers.length !== group.length) throw new StorageFailure('The control signed another number of requests.')
        for (const [index, { answer }] of group.entries()) answer.resolve(answers[index] as Answer)
      } catch (error) {
        for (const { answer } of group) answer.reject(error)
      }
    }
    isSending = false
  }
  return (asked) => {
    const answer = Promise.withResolvers<Answer>()
    waiting.push({ asked, answer })
    if (!isSending) sendAll()
    return answer.promise
  }
}
