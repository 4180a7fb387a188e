import type { Answer } from './answer.ts'
import type { components } from './api.generated.ts'
import { ApiError, ConnectionError } from './errors.ts'

export type Import = components['schemas']['Import']

/** A file to upload: `{ name, content: file }` in a browser, `{ name, content: await openAsBlob(path) }` in Node. */
export interface UploadFile {
  readonly name: string
  readonly content: Blob
}

export interface UploadOptions {
  /** Starts the import automatically if its plan has no blockers. */
  readonly start?: boolean
  /** Continues this import instead of a new one. Its files must have these names and sizes. */
  readonly continue?: Import
  /** Called after each part. */
  readonly onProgress?: (progress: UploadProgress) => void
  readonly signal?: AbortSignal
}

export interface UploadProgress {
  readonly importId: number
  /** The file that is being sent. */
  readonly name: string
  /** The total of all files. */
  readonly sentBytes: number
  readonly totalBytes: number
}

type Call = (method: 'get' | 'post' | 'put', path: string, init: object) => Promise<Answer<unknown>>

/** A slow connection sends this much within the minute that a part may take. */
const FIRST_PART_BYTES = 4 << 20
const MOST_PART_BYTES = 16 << 20
const LEAST_PART_BYTES = 256 << 10
/** The most consecutive failed parts. */
const MOST_FAILURES = 5

/**
 * Creates an import, sends its files in parts, and continues after interruptions.
 * @returns the import, whose inspection runs as `operationId`
 * @throws ApiError, ConnectionError after the last attempt; what was sent stays for `continue`
 */
export async function uploadImport(
  call: Call,
  siteId: number,
  files: readonly UploadFile[],
  { start, continue: earlier, onProgress, signal }: UploadOptions = {},
): Promise<Answer<Import>> {
  const body = { files: files.map(({ name, content }) => ({ name, bytes: content.size })), ...(start && { start }) }
  const site = { site_id: siteId }
  let answer = earlier
    ? ((await call('get', '/v1/sites/{site_id}/imports/{import_id}', {
        params: { path: { ...site, import_id: earlier.id } },
        signal,
      })) as Answer<Import>)
    : ((await call('post', '/v1/sites/{id}/imports', {
        params: { path: { id: siteId } },
        body,
        signal,
      })) as Answer<Import>)
  if (!isOf(answer.data, files)) throw new Error(`Import ${answer.data.id} has other files.`)
  const path = { ...site, import_id: answer.data.id }
  const totalBytes = files.reduce((sum, { content }) => sum + content.size, 0)
  let partBytes = FIRST_PART_BYTES
  let failures = 0
  for (;;) {
    const { id, uploads, state } = answer.data
    const next = state === 'uploading' && uploads.find(({ received, bytes }) => received < bytes)
    const sentBytes = uploads.reduce((sum, { received }) => sum + received, 0)
    onProgress?.({ importId: id, name: (next || uploads.at(-1))?.name ?? '', sentBytes, totalBytes })
    if (!next) return answer
    const { content } = files[next.number - 1] as UploadFile
    const part = content.slice(next.received, next.received + partBytes)
    const begun = Date.now()
    try {
      const sha256 = await sha256Of(part)
      answer = (await call('put', '/v1/sites/{site_id}/imports/{import_id}/uploads/{number}', {
        params: {
          path: { ...path, number: next.number },
          query: { offset: next.received, ...(sha256 && { sha256 }) },
        },
        body: part,
        bodySerializer: (bytes: Blob) => bytes,
        headers: { 'content-type': 'application/octet-stream' },
        signal,
      })) as Answer<Import>
      failures = 0
      if (Date.now() - begun < 5000) partBytes = Math.min(MOST_PART_BYTES, partBytes * 2)
    } catch (error) {
      if (!isPassing(error) || ++failures > MOST_FAILURES) throw error
      // A connection on which a part does not arrive in time gets smaller parts.
      partBytes = Math.max(LEAST_PART_BYTES, partBytes / 2)
      answer = (await call('get', '/v1/sites/{site_id}/imports/{import_id}', {
        params: { path },
        signal,
      })) as Answer<Import>
    }
  }
}

/** Returns whether an import waits for these files. */
export const isOf = ({ uploads }: Pick<Import, 'uploads'>, files: readonly UploadFile[]): boolean =>
  uploads.length === files.length &&
  uploads.every(({ number, name, bytes }) => {
    const file = files[number - 1]
    return file?.name === name && file.content.size === bytes
  })

/** Returns whether reading the import again and sending another part may help. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError &&
    ['import_part_elsewhere', 'import_part_damaged', 'import_host_away', 'unavailable', 'request_timeout'].includes(
      error.code,
    ))

/** Browsers have it only in secure contexts. */
async function sha256Of(part: Blob): Promise<string | undefined> {
  const { subtle } = globalThis.crypto
  if (!subtle) return undefined
  const hash = new Uint8Array(await subtle.digest('SHA-256', await part.arrayBuffer()))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
