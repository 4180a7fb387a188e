import createClient from 'openapi-fetch'
import type { paths } from '../sdk/api.generated.ts'
import { askForProof, session } from './session.ts'
import { commonTexts } from './texts/common.ts'

/** Calls the public API as other programs do. The browser adds the session cookie. */
export const api = createClient<paths>({ baseUrl: '', headers: { 'stead-panel': '1' } })

/** A refusal of the API, with its text. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string

  constructor(status: number, { errors, code }: { errors?: readonly string[]; code?: string }) {
    // The API's own text is for programs: it asks for a token.
    const said = errors?.join('\n').replaceAll('`', '') ?? commonTexts.answered(status)
    super(hasEnded(code) ? commonTexts.sessionEnded : said)
    this.status = status
    this.code = code ?? ''
  }
}

const hasEnded = (code: string | undefined): boolean => code === 'unauthorized' || code === 'invalid_token'

interface Answer<Data> {
  readonly data?: { message: string; data?: Data; page?: Page | undefined } | undefined
  readonly error?: unknown
  readonly response: Response
}

export interface Page {
  readonly currentPage: number
  readonly lastPage: number
  readonly totalItems: number
}

export interface Got<Data> {
  readonly data: Data
  readonly page?: Page | undefined
  /** `Success`, or a longer message. */
  readonly message?: string | undefined
  /** The operation that the request started. */
  readonly operationId?: number | undefined
  /** In a list that is read by IDs: the value of `after` for the next entries. */
  readonly next?: number | undefined
  /** In a list of sites that is read in its order: the value of `place` for the next sites. */
  readonly nextPlace?: string | undefined
}

/**
 * Sends a request. If the API requires a confirmed password, asks the person for it and sends the request again. Shows
 * the sign-in form if the session has ended.
 * @throws Refusal
 */
export async function ask<Data>(request: () => Promise<Answer<Data>>): Promise<Got<Data>> {
  const { data, error, response } = await request().catch(() => {
    throw new Error(commonTexts.unreachable)
  })
  if (response.ok) {
    const numberOf = (name: string) => {
      const text = response.headers.get(name)
      return text === null ? undefined : Number(text)
    }
    return {
      data: data?.data as Data,
      page: data?.page,
      message: data?.message,
      operationId: numberOf('operation-id'),
      next: numberOf('next-after'),
      nextPlace: response.headers.get('next-place') ?? undefined,
    }
  }
  const refusal = new Refusal(response.status, (error ?? {}) as object)
  if (refusal.code === 'proof_needed' && (await askForProof())) return ask(request)
  if (hasEnded(refusal.code)) session.value = null
  throw refusal
}

/** The text that people read. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
