import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { inParallel } from '../../platform/in-parallel.ts'
import { StorageFailure } from '../backup-store.ts'
import { boundAnswers } from './bounded-answers.ts'
import { type ByteRange, type Storage, StorageRefusal, type StoredObject } from './storage.ts'

export interface S3Options {
  readonly bucket: string
  /** The endpoint of a service other than Amazon's. Its buckets are named in the path. */
  readonly endpoint?: string | undefined
  readonly region: string
  /** The most objects of one list. */
  readonly mostListed?: number
  /** Precedes every name. May be empty. */
  readonly prefix: string
  /** By default, the machine's own credentials (AWS_… in the environment, ~/.aws, the role of an instance). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** Signs the requests instead of the credentials. */
  readonly signer?: Exclude<S3ClientConfig['signer'], undefined>
}

type Sdk = typeof import('@aws-sdk/client-s3')

/** Returns the options of a client. */
export const clientOptions = ({ region, endpoint, credentials, signer }: S3Options): S3ClientConfig => ({
  region,
  // The caller counts the attempts.
  maxAttempts: 1,
  // Services other than Amazon's hardly support the checksums that the SDK adds, and every object here is sealed.
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
  ...(endpoint && { endpoint, forcePathStyle: true }),
  ...(credentials && { credentials }),
  ...(signer && { signer }),
})

/** Returns what precedes each name in a bucket. */
export const rootOf = (prefix: string): string => prefix && `${prefix.replace(/\/+$/, '')}/`

/** Returns the place of a storage, for operators. */
export const describeBucket = ({ bucket, prefix }: Pick<S3Options, 'bucket' | 'prefix'>): string =>
  `s3://${bucket}/${prefix}`

/** How many removals run at once. Each is a separate request, because not every service can remove many in one. */
const AT_ONCE = 8
/** The most objects that a service lists at once. */
const PAGE = 1000
/** The most objects of a list: packs of 16 TB. */
const MOST_LISTED = 1_000_000
/** Returns the size limit of an object. An index has the tables of many packs. Everything else is a pack or smaller. */
export const mostBytesOf = (key: string): number => (key.includes('/indexes/') ? 512 << 20 : 64 << 20)

/**
 * Stores objects in a bucket of a service with the S3 API. The first use loads the SDK, which takes 20 MB of memory.
 */
export function s3Storage(given: S3Options): Storage {
  const { bucket, prefix, mostListed = MOST_LISTED } = given
  const where = describeBucket(given)
  const root = rootOf(prefix)
  let opened: Promise<{ sdk: Sdk; client: S3Client }> | undefined
  const open = () => {
    opened ??= import('@aws-sdk/client-s3').then((sdk) => {
      const client = new sdk.S3Client(clientOptions(given))
      boundAnswers(client, mostBytesOf)
      return { sdk, client }
    })
    return opened
  }
  const ask = <Result>(work: (sdk: Sdk, client: S3Client) => Promise<Result>): Promise<Result> =>
    open()
      .then(({ sdk, client }) => work(sdk, client))
      .catch((error) => {
        throw failureOf(error, where)
      })
  const place = (name: string) => ({ Bucket: bucket, Key: root + name })

  const put = (name: string, bytes: Uint8Array, signal: AbortSignal | undefined, once: boolean) =>
    ask((sdk, client) =>
      client.send(
        new sdk.PutObjectCommand({ ...place(name), Body: bytes, ...(once && { IfNoneMatch: '*' }) }),
        options(signal),
      ),
    )

  /**
   * Requests a page with the first version of the call, which every service has, and whose pages continue from any
   * name.
   */
  const page = (folder: string, after: string | undefined, most: number, signal: AbortSignal | undefined) =>
    ask((sdk, client) =>
      client.send(
        new sdk.ListObjectsCommand({ Bucket: bucket, Prefix: root + folder, Marker: after, MaxKeys: most }),
        options(signal),
      ),
    )

  /** Returns the place to continue from. A list that returns to an earlier place would never end. */
  const further = (after: string | undefined, last: string, count: number): string => {
    if (after !== undefined && last <= after) throw new StorageFailure(`${where}: its list does not end`)
    if (count > mostListed) throw new StorageFailure(`${where}: it lists more than ${mostListed} objects`)
    return last
  }

  return {
    where,
    async put(name, bytes, signal) {
      await put(name, bytes, signal, false)
    },
    async putOnce(name, bytes, signal) {
      try {
        // It checks first, because not every service supports the condition.
        const isThere = await ask((sdk, client) =>
          client.send(new sdk.HeadObjectCommand(place(name)), options(signal)),
        ).then(() => true, missing)
        if (isThere) return false
        await put(name, bytes, signal, true)
        return true
      } catch (error) {
        const status = statusOf(error)
        if (status === 412 || status === 409) return false
        if (status !== 501) throw error
        await put(name, bytes, signal, false)
        return true
      }
    },
    async get(name, range, signal) {
      return ask(async (sdk, client) => {
        const command = new sdk.GetObjectCommand({ ...place(name), ...(range && { Range: headerOf(range) }) })
        const answer = await client.send(command, options(signal))
        const bytes = Buffer.from((await answer.Body?.transformToByteArray()) ?? [])
        if (range && answer.ContentRange !== undefined && !answer.ContentRange.startsWith(`bytes ${range.start}-`))
          throw new StorageFailure(`${where}: asked for ${headerOf(range)}, it sends ${answer.ContentRange}`)
        // A service may send the whole object.
        return range && answer.ContentRange === undefined ? cutTo(bytes, range) : bytes
      }).catch((error) => {
        // The range begins beyond the end.
        if (statusOf(error) === 416) return Buffer.alloc(0)
        missing(error)
        return undefined
      })
    },
    async list(folder, signal) {
      const found: StoredObject[] = []
      for (let after: string | undefined; ; ) {
        const { Contents = [], IsTruncated } = await page(folder, after, PAGE, signal)
        for (const { Key = '', Size = 0, LastModified } of Contents) {
          if (!Key.startsWith(root + folder)) throw new StorageFailure(`${where}: it lists what is not in ${folder}`)
          found.push({ name: Key.slice(root.length), sizeBytes: Size, modifiedAt: LastModified?.getTime() ?? 0 })
        }
        const last = Contents.at(-1)?.Key
        if (!IsTruncated || last === undefined) return found
        after = further(after, last, found.length)
      }
    },
    async folders(signal) {
      const found: string[] = []
      for (let after: string | undefined; ; ) {
        const { Contents = [] } = await page('', after, 1, signal)
        const key = Contents[0]?.Key
        if (key === undefined) return found
        further(after, key, found.length)
        const [folder, ...inside] = key.slice(root.length).split('/')
        if (inside.length > 0) found.push(folder as string)
        // `0` follows `/`, so this is after everything in the folder.
        after = inside.length > 0 ? `${root}${folder}0` : key
      }
    },
    async remove(names, signal) {
      await inParallel(AT_ONCE, names, async (name) => {
        await ask((sdk, client) => client.send(new sdk.DeleteObjectCommand(place(name)), options(signal))).catch(
          missing,
        )
      })
    },
  }
}

const options = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {})

/** Returns the Range header (RFC 9110 §14.1.2). */
const headerOf = ({ start, length }: ByteRange): string =>
  `bytes=${start}-${length === undefined ? '' : start + length - 1}`

const cutTo = (bytes: Buffer, { start, length }: ByteRange): Buffer =>
  bytes.subarray(start, length === undefined ? undefined : start + length)

/** Returns the status of the answer of a service that was not a success. */
export const statusOf = (error: unknown): number | undefined =>
  ((error as Error).cause as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode

/** @returns false for an object that does not exist */
function missing(error: Error): false {
  const { name } = (error.cause ?? {}) as { name?: string }
  if (name === 'NoSuchBucket' || statusOf(error) !== 404) throw error
  return false
}

/** Statuses for a wrong bucket, or credentials without permission. A retry does not help. */
const REFUSALS = new Set([301, 307, 400, 401, 403, 404])

function failureOf(error: unknown, where: string): Error {
  if (error instanceof StorageFailure) return error
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } }
  const text = `${where}: ${name === 'Error' ? '' : `${name}: `}${message || String((error as { code?: string }).code ?? 'no answer')}`
  return REFUSALS.has($metadata?.httpStatusCode ?? 0)
    ? new StorageRefusal(text, { cause: error })
    : new StorageFailure(text, { cause: error })
}
