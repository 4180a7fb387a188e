import { finished } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { addressKey } from '../../budgets/address-key.ts'
import type { Budget } from '../../budgets/budget.ts'
import { httpProblems, Problem } from '../problem.ts'
import { UPLOAD_MEMORY } from './uploads.ts'

/**
 * The most simultaneous connections to one process's API. Each may hold a head of 16 kB. Further connections are closed
 * before they send anything.
 */
const CONNECTIONS = 4096

/**
 * Takes a request's body from the budget before any byte is read, and returns it when the answer is complete. A client
 * that sends slowly, or much at once, holds no more of the API's memory than its share.
 * @param most the most bytes of a body, which a body of unknown length counts as
 */
export function countBodies(app: FastifyInstance, bodies: Budget, most: number): void {
  app.server.maxConnections = CONNECTIONS
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { 'content-length': announced, 'transfer-encoding': coding } = request.headers
    const mostHere = request.routeOptions.config.isUpload ? UPLOAD_MEMORY : most
    const bytes = coding === undefined ? Math.min(Number(announced ?? 0), mostHere) : mostHere
    if (!(bytes > 0)) return done()
    const key = addressKey(request.client.address)
    if (!bodies.take(key, bytes)) {
      // Stead does not wait for the announced body.
      return done(
        new Problem(httpProblems.too_many_bodies, {}, { headers: { 'retry-after': '5', connection: 'close' } }),
      )
    }
    finished(reply.raw, () => bodies.give(key, bytes))
    done()
  })
}
