import type { S3Client } from '@aws-sdk/client-s3'
import { clientOptions, rootOf, type S3Options } from './s3-storage.ts'

/** A request to a bucket that another process sends. Names are those of the storage, without the prefix of the bucket. */
export type StorageRequest =
  | { readonly kind: 'get'; readonly name: string }
  | { readonly kind: 'list'; readonly folder: string; readonly after?: string; readonly most: number }
  | {
      readonly kind: 'put'
      readonly name: string
      readonly bytes: number
      /** Of the content, in hex. Another content needs another signature. */
      readonly sha256: string
    }

export interface SignedRequest {
  readonly url: string
  /** These and no others of S3. */
  readonly headers: Readonly<Record<string, string>>
}

export interface SigningOptions {
  /** Whether the service must keep an existing object. Default: yes. Not every service can. */
  readonly isOnce?: boolean
}

/** How long a signature for reading is valid, in seconds. Services give those for writing 15 minutes. */
export const READABLE_S = 600

type HttpRequest = Parameters<NonNullable<S3Client['config']['requestHandler']>['handle']>[0]
interface Signer {
  sign(request: HttpRequest): Promise<HttpRequest>
  presign(request: HttpRequest, options: { readonly expiresIn: number }): Promise<HttpRequest>
}

/**
 * Returns a function that signs requests to a bucket (AWS Signature Version 4). It signs method, object, length and
 * digest, so a signature serves no other request.
 */
export function requestSigner(
  options: S3Options,
): (asked: StorageRequest, more?: SigningOptions) => Promise<SignedRequest> {
  const root = rootOf(options.prefix)
  let opened: ReturnType<typeof openSigner> | undefined
  return async (asked, { isOnce = true } = {}) => {
    opened ??= openSigner(options)
    opened.catch(() => {
      opened = undefined
    })
    const { signer, to } = await opened
    if (asked.kind === 'put') {
      const headers = {
        'content-length': String(asked.bytes),
        'x-amz-content-sha256': asked.sha256,
        ...(isOnce && { 'if-none-match': '*' }),
      }
      return describe(await signer.sign(to('PUT', root + asked.name, { headers })))
    }
    const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
    const request =
      asked.kind === 'get'
        ? to('GET', root + asked.name, { headers })
        : to('GET', '', { headers, query: pageOf(root, asked) })
    return describe(await signer.presign(request, { expiresIn: READABLE_S }))
  }
}

const pageOf = (root: string, { folder, after, most }: Extract<StorageRequest, { kind: 'list' }>) => ({
  prefix: root + folder,
  ...(after !== undefined && { marker: after }),
  'max-keys': String(most),
})

interface Parts {
  readonly headers: Record<string, string>
  readonly query?: Record<string, string>
}

async function openSigner(options: S3Options) {
  const sdk = await import('@aws-sdk/client-s3')
  let found: HttpRequest | undefined
  const requestHandler = {
    async handle(request: HttpRequest): Promise<never> {
      found = request
      throw new Error('it is only asked where requests go')
    },
  }
  const client = new sdk.S3Client({ ...clientOptions(options), requestHandler })
  await client.send(new sdk.GetObjectCommand({ Bucket: options.bucket, Key: 'x' })).catch((error) => {
    if (!found) throw error
  })
  const pattern = found as unknown as HttpRequest
  const base = pattern.path.replace(/x$/, '')
  const host = pattern.headers.host as string
  const to = (method: string, key: string, { headers, query = {} }: Parts): HttpRequest =>
    Object.assign(pattern.clone(), {
      ...{ method, path: base + key.split('/').map(encode).join('/'), query, body: undefined },
      headers: { host, ...headers },
    })
  // The type names the smallest signer. All signers of S3 can sign queries.
  const signer = (await (client.config.signer as () => Promise<unknown>)()) as Signer
  return { signer, to }
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function describe({ protocol, hostname, port, path, query, headers }: HttpRequest): SignedRequest {
  const asked = Object.entries(query ?? {}).map(([name, value]) => `${encode(name)}=${encode(String(value ?? ''))}`)
  const { host, ...others } = headers
  const at = `${protocol}//${hostname}${port ? `:${port}` : ''}`
  return { url: `${at}${path}${asked.length > 0 ? `?${asked.join('&')}` : ''}`, headers: others }
}
