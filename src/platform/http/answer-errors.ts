import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CommitUnknown } from '../db/commit-unknown.ts'
import { isBusy, isDiskFull, isUnreachable } from '../db/database.ts'
import type { Log } from '../log/log.ts'
import type { Endpoint } from './endpoint.ts'
import { errorBody, httpProblems, notFound, Problem } from './problem.ts'

interface Options {
  readonly endpoints: readonly Endpoint[]
  readonly log: Log
  readonly bodyLimitBytes: number
}

/** Returns the path without the query, which may hold secrets that do not belong in a log. */
export const loggedPath = (request: FastifyRequest): string => request.url.split('?', 1)[0] as string

/**
 * Formats every failure: in the envelope, or in the endpoint's own form. Unexpected errors are logged, and their
 * details stay inside.
 */
export function answerErrors(app: FastifyInstance, options: Options): void {
  const own = new Map(options.endpoints.map(({ id, failure }) => [id, failure]))
  app.setErrorHandler((error: unknown, request, reply) => {
    const problem = asProblem(error, options.bodyLimitBytes)
    if (problem.status >= 500)
      options.log.error(
        { err: problem.cause ?? problem, requestId: request.id, path: loggedPath(request) },
        'request failed',
      )
    return send(reply, problem, own.get(reply.routeOptions?.config.operationId ?? ''))
  })
  const allowedOn = methodsByPath(options.endpoints)
  app.setNotFoundHandler((request, reply) => {
    const path = loggedPath(request)
    const allowed = allowedOn(path).join(', ')
    if (!allowed) return send(reply, noSuchPath(path, allowedOn))
    return send(
      reply,
      new Problem(
        httpProblems.method_not_allowed,
        { method: request.method, allowed },
        { headers: { allow: allowed } },
      ),
    )
  })
}

/** The most characters of a requested path that an answer repeats. */
const MOST_OF_PATH = 200

function noSuchPath(path: string, allowedOn: (path: string) => string[]): Problem {
  const said = path.length > MOST_OF_PATH ? `${path.slice(0, MOST_OF_PATH)}...` : path
  const isVersionMissing = allowedOn(`/v1${path}`).length > 0
  return new Problem(isVersionMissing ? httpProblems.missing_version : httpProblems.unknown_path, { path: said })
}

function send(reply: FastifyReply, problem: Problem, own?: Endpoint['failure']): FastifyReply {
  return reply
    .code(problem.status)
    .headers({ ...retryAfter(problem), ...own?.headers, ...problem.headers })
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send((own?.body ?? errorBody)(problem))
}

/** Returns no `Retry-After` after an unknown outcome, because programs repeat a request that says when to repeat it. */
const retryAfter = ({ status, code }: Problem): Record<string, string> =>
  (status === 503 || status === 507) && code !== 'outcome_unknown' ? { 'retry-after': '5' } : {}

function methodsByPath(endpoints: readonly Endpoint[]): (path: string) => string[] {
  const paths = endpoints.map(({ path, method }) => ({
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
  }))
  return (asked) => {
    const path = asked.replace(/\/{2,}/g, '/')
    const found = new Set(paths.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))
    return ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].filter((method) => found.has(method))
  }
}

function asProblem(error: unknown, bodyLimitBytes: number): Problem {
  if (error instanceof Problem) return error
  const { statusCode } = error as FastifyError
  if (statusCode === 413)
    return new Problem(httpProblems.body_too_large, { limit: `${Math.round(bodyLimitBytes / 1024)} kB` })
  if (statusCode === 415) return new Problem(httpProblems.unsupported_media_type, {})
  if (statusCode && statusCode >= 400 && statusCode < 500)
    return new Problem(httpProblems.invalid_input, { faults: (error as Error).message })
  if (error instanceof CommitUnknown) return new Problem(httpProblems.outcome_unknown, {}, { cause: error })
  if (isDiskFull(error)) return new Problem(httpProblems.disk_full, {}, { cause: error })
  return new Problem(
    isUnreachable(error) || isBusy(error) ? httpProblems.unavailable : httpProblems.internal,
    {},
    { cause: error },
  )
}

/** Turns errors of the multipart parser into a problem. They have no status, so they would count as server errors. */
export function refuseUnreadableForms(routes: FastifyInstance): void {
  routes.setErrorHandler((error, request) => {
    const isForms = !(error instanceof Problem) && request.body === undefined && request.isMultipart()
    throw isForms ? new Problem(httpProblems.invalid_form, {}, { cause: error }) : error
  })
}

/** Answers 404 to a path with invalid percent-encoding, or one that is longer than any id. Runs before all hooks. */
export function refuseUnreadablePath(request: FastifyRequest, reply: FastifyReply): void {
  send(reply.header('x-request-id', request.id), notFound())
}
