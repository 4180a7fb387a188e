import createClient from 'openapi-fetch'
import type { paths } from '../sdk/api.generated.ts'
import { askForProof, session } from './session.ts'
import { commonTexts } from './texts/common.ts'

/** The public API, as anybody's program calls it; the cookie of the session goes along. */
export const api = createClient<paths>({ baseUrl: '', headers: { 'stead-panel': '1' } })

/** What the API refuses a request with, in its own words. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string

  constructor(status: number, { errors, code }: { errors?: readonly string[]; code?: string }) {
    // the API's own words are for programs: they ask for a token
    super(hasEnded(code) ? commonTexts.sessionEnded : (errors?.join('\n') ?? commonTexts.answered(status)))
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
  /** `Success`, or what there is to say besides. */
  readonly message?: string | undefined
  /** Of the background work that the request has started. */
  readonly operationId?: number | undefined
  /** Of a list that is read by ids: what `after` is for the entries behind these. */
  readonly next?: number | undefined
  /** Of a list of sites that is read in its order: what `place` is for those behind these. */
  readonly nextPlace?: string | undefined
}

/**
 * Makes a request. Who has to show first that it is him is asked, and the request is made again; who is signed out sees that.
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

/** As people read it. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
