import { finished } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { addressKey } from '../../budgets/address-key.ts'
import type { Budget } from '../../budgets/budget.ts'
import { Problem, problems } from '../problem.ts'
import { UPLOAD_MEMORY } from './uploads.ts'

/** Connections of one process's API at once, each of which may hold a head of 16 kB; more are closed before they say anything. */
const CONNECTIONS = 4096

/**
 * Takes a request's body out of the budget before a byte of it is read, and gives it back when the answer is through: who sends
 * slowly, or much at once, holds no more of the API's memory than his share.
 * @param most bytes of a body that are taken at all: what a body of unknown length counts for
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
      // what was announced is not waited for
      return done(new Problem(problems.too_many_bodies, {}, { headers: { 'retry-after': '5', connection: 'close' } }))
    }
    finished(reply.raw, () => bodies.give(key, bytes))
    done()
  })
}
