import type { Share } from '../../platform/budgets/budget.ts'
import type { Visit } from '../visit.ts'
import type { BodyPace } from './body-pace.ts'

/** A visitor who has sent this much of a body is really sending it. */
const ENOUGH_BYTES = 16_384

/**
 * Waits until the body of a request has arrived, or is well on its way, and leaves all of it to be read. A visitor who
 * announces a body and does not send it takes no connection to a host. Without memory for waiting bodies, requests do
 * not wait.
 * @param memory counts what has arrived while it waits
 * @param pace watches how fast it arrives
 * @returns false when the visitor has left
 */
export async function bodyMoves(visit: Visit, memory: Share | undefined, pace?: BodyPace): Promise<boolean> {
  const { request, response } = visit
  if (visit.expectsContinue) response.writeContinue()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const look = () => {
    const hasCome = request.complete || request.readableLength >= ENOUGH_BYTES
    if (hasCome || memory?.take(request.readableLength - memory.amount) === false) resolve(true)
  }
  visit.abandon = () => resolve(false)
  request.on('readable', look)
  pace?.waits()
  look()
  const isThere = await promise
  request.off('readable', look)
  visit.abandon = undefined
  // All of it counts when it is read.
  pace?.came(0)
  memory?.free()
  return isThere && !response.destroyed
}
